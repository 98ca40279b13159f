// The names of devices, and their parsing.
#include "gradus/tensor/base/device.h"

#include <algorithm>
#include <charconv>
#include <ostream>

#include "gradus/tensor/base/error.h"

namespace gradus {

namespace {
constexpr const char* names[] = {"cpu", "cuda", "meta"};
}  // namespace

void Device::refuse(DeviceType type, DeviceIndex index) {
  const std::string name = names[static_cast<int>(type)];
  if (type != kCUDA && index > 0)
    fail("Device: ", name, ":", int{index}, " does not exist; there is one such device, use \"",
         name, "\"");
  fail("Device: index ", int{index}, " is negative; expected -1 (current) or more");
}

namespace {
Device parse(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const auto type = std::ranges::find(names, name);
  check(type != std::end(names), "Device: \"", text,
        "\" is not a device; expected \"cpu\", \"cuda\", \"cuda:N\" or \"meta\"");
  int index = -1;
  if (colon != std::string_view::npos) {
    const std::string_view digits = text.substr(colon + 1);
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    check(status == std::errc{} && end == digits.data() + digits.size() && index >= 0 &&
              index <= INT8_MAX,
          "Device: \"", text, "\" has no valid index; expected a number from 0 to 127 after ':'");
  }
  return {static_cast<DeviceType>(type - names), static_cast<DeviceIndex>(index)};
}
}  // namespace

Device::Device(std::string_view text) : Device(parse(text)) {}

std::string Device::str() const {
  std::string out = names[static_cast<int>(type_)];
  if (has_index()) out.append(":").append(std::to_string(index_));
  return out;
}

std::ostream& operator<<(std::ostream& out, DeviceType type) {
  return out << names[static_cast<int>(type)];
}
std::ostream& operator<<(std::ostream& out, const Device& device) { return out << device.str(); }

void append(std::string& out, const Device& device) { out += device.str(); }

}  // namespace gradus
