// c10::cuda::OptionalCUDAGuard beside CUDAGuard and CUDAStreamGuard.
#pragma once

#include <optional>

#include "gradus/cuda/runtime/stream.h"

namespace gradus::cuda {

// A CUDAGuard that may be made later, or not at all.
class OptionalCUDAGuard {
 public:
  OptionalCUDAGuard() = default;
  explicit OptionalCUDAGuard(std::optional<Device> device) {
    if (device) guard_.emplace(*device);
  }
  explicit OptionalCUDAGuard(std::optional<DeviceIndex> index) {
    if (index) guard_.emplace(*index);
  }
  void set_device(Device device) { guard_ ? guard_->set_device(device) : make(device); }
  void set_index(int index) { guard_ ? guard_->set_index(index) : make(index); }
  void reset() { guard_.reset(); }
  std::optional<Device> original_device() const {
    return guard_ ? std::optional(guard_->original_device()) : std::nullopt;
  }
  std::optional<Device> current_device() const {
    return guard_ ? std::optional(guard_->current_device()) : std::nullopt;
  }

 private:
  template <class T>
  void make(T device) {
    guard_.emplace(device);
  }
  std::optional<DeviceGuard> guard_;
};

}  // namespace gradus::cuda

#include "gradus/compat/torch/torch.h"  // the namespaces at and c10
