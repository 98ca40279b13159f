// TensorOptions: the arguments of a factory besides the shape. Each of them is optional.
//
//   zeros({2, 3}, dtype(kDouble).device(kCUDA).requires_grad(true))
#pragma once

#include <concepts>
#include <optional>

#include "gradus/tensor/base/device.h"
#include "gradus/tensor/base/memory_format.h"
#include "gradus/tensor/base/type_meta.h"

namespace gradus {

class TensorOptions {
 public:
  TensorOptions() = default;
  TensorOptions(ScalarType dtype) : dtype_(dtype) {}  // NOLINT: implicit, as in libtorch
  TensorOptions(TypeMeta dtype) : dtype_(dtype) {}    // NOLINT
  TensorOptions(Layout layout) { *this = this->layout(layout); }         // NOLINT
  TensorOptions(MemoryFormat format) { *this = memory_format(format); }  // NOLINT
  // Takes a Device, a DeviceType with or without an index, or a text such as "cuda:1".
  template <class... Args>
  requires(sizeof...(Args) > 0 && std::constructible_from<Device, Args...>)
      TensorOptions(Args&&... args)
      : device_(Device(std::forward<Args>(args)...)) {}  // NOLINT

  TensorOptions dtype(std::optional<ScalarType> dtype) const {
    return with([&](TensorOptions& out) { out.dtype_ = dtype; });
  }
  template <class T>
  TensorOptions& dtype() {
    dtype_ = dtype_of<T>;
    return *this;
  }
  TensorOptions device(std::optional<Device> device) const {
    return with([&](TensorOptions& out) { out.device_ = device; });
  }
  TensorOptions device(DeviceType type, DeviceIndex index = -1) const {
    return device(Device(type, index));
  }
  // The CUDA device of this index.
  TensorOptions device_index(DeviceIndex index) const { return device(kCUDA, index); }
  TensorOptions requires_grad(std::optional<bool> requires_grad) const {
    return with([&](TensorOptions& out) { out.requires_grad_ = requires_grad; });
  }
  // Errors: NotImplementedError for any but kStrided.
  TensorOptions layout(std::optional<Layout> layout) const;
  // Errors: NotImplementedError for the channels-last ones.
  TensorOptions memory_format(std::optional<MemoryFormat> format) const;
  // Page-locked memory (cuda/runtime/pinned.h). Errors: of factories, Error for a tensor that is
  // not on the CPU, and where there is no CUDA.
  TensorOptions pinned_memory(std::optional<bool> pinned) const {
    return with([&](TensorOptions& out) { out.pinned_memory_ = pinned; });
  }
  // The options of `other`; those that it leaves out are taken from this.
  TensorOptions merge_in(const TensorOptions& other) const;

  // The defaults are the default dtype, the CPU and false.
  TypeMeta dtype() const { return dtype_.value_or(get_default_dtype()); }
  Device device() const { return device_.value_or(Device(kCPU)); }
  DeviceIndex device_index() const { return device().index(); }
  Layout layout() const { return kStrided; }
  bool requires_grad() const { return requires_grad_.value_or(false); }
  bool pinned_memory() const { return pinned_memory_.value_or(false); }
  bool has_dtype() const { return dtype_.has_value(); }
  bool has_device() const { return device_.has_value(); }
  bool has_layout() const { return layout_.has_value(); }
  bool has_requires_grad() const { return requires_grad_.has_value(); }
  bool has_pinned_memory() const { return pinned_memory_.has_value(); }
  bool has_memory_format() const { return memory_format_.has_value(); }
  std::optional<ScalarType> dtype_opt() const { return dtype_; }
  std::optional<Device> device_opt() const { return device_; }
  std::optional<Layout> layout_opt() const { return layout_; }
  std::optional<bool> requires_grad_opt() const { return requires_grad_; }
  std::optional<bool> pinned_memory_opt() const { return pinned_memory_; }
  std::optional<MemoryFormat> memory_format_opt() const { return memory_format_; }

 private:
  template <class F>
  TensorOptions with(F change) const {
    TensorOptions out = *this;
    change(out);
    return out;
  }

  std::optional<ScalarType> dtype_;
  std::optional<Device> device_;
  std::optional<bool> requires_grad_, pinned_memory_;
  std::optional<Layout> layout_;
  std::optional<MemoryFormat> memory_format_;
};

std::ostream& operator<<(std::ostream& out, const TensorOptions& options);

inline TensorOptions dtype(ScalarType dtype) { return TensorOptions(dtype); }
template <class T>
TensorOptions dtype() {
  return dtype_of<T>;
}
inline TensorOptions device(Device device) { return TensorOptions(device); }
inline TensorOptions device(DeviceType type, DeviceIndex index = -1) {
  return TensorOptions(Device(type, index));
}
inline TensorOptions device_index(DeviceIndex index) { return TensorOptions().device_index(index); }
inline TensorOptions layout(Layout layout) { return TensorOptions(layout); }
inline TensorOptions memory_format(MemoryFormat format) { return TensorOptions(format); }
inline TensorOptions requires_grad(bool requires_grad = true) {
  return TensorOptions().requires_grad(requires_grad);
}

}  // namespace gradus
