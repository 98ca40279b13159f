// The start of an operation of the backend: the device made current, its stream, its size.
#pragma once

#include <cuda_runtime_api.h>

#include <string_view>

#include "gradus/cuda/runtime/device.h"
#include "gradus/tensor/tensor.h"

namespace gradus::cuda {

struct Block;

struct Context {
  explicit Context(const Tensor& out);

  DeviceGuard guard;  // the device of `out` is current while the context lives
  cudaStream_t stream;
  int multiprocessors;
};

// Uninitialised memory on the current device for the work of the current stream: later work on that
// stream may reuse it from the end of the scope on, without a wait. Null for no bytes.
class Scratch {
 public:
  // Errors: OutOfMemoryError.
  explicit Scratch(size_t nbytes);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  void* data() const;
  template <class T>
  T* as() const {
    return static_cast<T*>(data());
  }

 private:
  Block* block_;
};

inline constexpr int kMaxDevices = 128;  // what a DeviceIndex can say

// The index of the device, with -1 the current one.
// Errors: ValueError where there is no such device, Error where there is none at all.
int checked_device(const char* operation, int64_t device);

// The end of every wait of the host: counts it, checks its status, and throws what kernels of the
// device have reported.
void after_wait(cudaError_t status, int device, std::string_view operation);

}  // namespace gradus::cuda
