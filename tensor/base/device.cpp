// The names of devices, and their parsing.
#include "gradus/tensor/base/device.h"

#include <charconv>
#include <ostream>

#include "gradus/tensor/base/error.h"

namespace gradus {

void Device::refuse(DeviceType type, DeviceIndex index) {
  if (type == kCPU && index > 0)
    fail("Device: cpu:", int{index}, " does not exist; the CPU is one device, use \"cpu\"");
  fail("Device: index ", int{index}, " is negative; expected -1 (current) or more");
}

namespace {
Device parse(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  check(name == "cpu" || name == "cuda", "Device: \"", text,
        "\" is not a device; expected \"cpu\", \"cuda\" or \"cuda:N\"");
  int index = -1;
  if (colon != std::string_view::npos) {
    const std::string_view digits = text.substr(colon + 1);
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    check(status == std::errc{} && end == digits.data() + digits.size() && index >= 0 &&
              index <= INT8_MAX,
          "Device: \"", text, "\" has no valid index; expected a number from 0 to 127 after ':'");
  }
  return {name == "cpu" ? kCPU : kCUDA, static_cast<DeviceIndex>(index)};
}
}  // namespace

Device::Device(std::string_view text) : Device(parse(text)) {}

std::string Device::str() const {
  std::string out = type_ == kCPU ? "cpu" : "cuda";
  if (has_index()) out.append(":").append(std::to_string(index_));
  return out;
}

std::ostream& operator<<(std::ostream& out, DeviceType type) {
  return out << (type == kCPU ? "cpu" : "cuda");
}
std::ostream& operator<<(std::ostream& out, const Device& device) { return out << device.str(); }

void append(std::string& out, const Device& device) { out += device.str(); }

}  // namespace gradus
