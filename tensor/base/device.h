// The device tag that every tensor carries: "cpu", "cuda:0", "cuda:1", ..., "meta".
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

namespace gradus {

// Tensors on Meta have a shape and a dtype, and no data: operations on them say what shape results
// have.
enum class DeviceType : int8_t { CPU, CUDA, Meta };
inline constexpr DeviceType kCPU = DeviceType::CPU;
inline constexpr DeviceType kCUDA = DeviceType::CUDA;
inline constexpr DeviceType kMeta = DeviceType::Meta;
inline constexpr int kDeviceTypes = 3;

using DeviceIndex = int8_t;

class Device {
 public:
  // index -1 means "the current device of that type".
  // Errors: ValueError where index < -1, or index > 0 on the CPU or meta, which are one device each.
  Device(DeviceType type, DeviceIndex index = -1)  // NOLINT: implicit, as in libtorch
      : type_(type), index_(type == kCUDA ? index : DeviceIndex{-1}) {
    if (index < -1 || (type != kCUDA && index > 0)) [[unlikely]]
      refuse(type, index);
  }
  // "cpu", "cuda", "cuda:N" or "meta". Errors: ValueError for anything else.
  Device(std::string_view text);  // NOLINT: implicit, as in libtorch
  Device(const std::string& text) : Device(std::string_view(text)) {}  // NOLINT
  Device(const char* text) : Device(std::string_view(text)) {}         // NOLINT

  DeviceType type() const { return type_; }
  DeviceIndex index() const { return index_; }
  bool has_index() const { return index_ >= 0; }
  // Errors: as the constructor.
  void set_index(DeviceIndex index) { *this = Device(type_, index); }
  bool is_cpu() const { return type_ == kCPU; }
  bool is_cuda() const { return type_ == kCUDA; }
  bool is_meta() const { return type_ == kMeta; }
  std::string str() const;

  friend bool operator==(const Device&, const Device&) = default;

 private:
  [[noreturn]] static void refuse(DeviceType type, DeviceIndex index);

  DeviceType type_;
  DeviceIndex index_;
};

std::ostream& operator<<(std::ostream& out, DeviceType type);
std::ostream& operator<<(std::ostream& out, const Device& device);

void append(std::string& out, const Device& device);

}  // namespace gradus

template <>
struct std::hash<gradus::Device> {
  size_t operator()(const gradus::Device& device) const noexcept {
    return static_cast<size_t>(device.type()) << 8 | static_cast<uint8_t>(device.index());
  }
};
