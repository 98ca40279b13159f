// A set of small kernels of the sort that students write, each with one mistake, to see what finds
// it: the simulator (planted_test.cpp), and compute-sanitizer on a GPU (verdicts.py).
//
// The kernel at fault has the name of the bug, and the line at fault ends with "// BUG name"; for a
// race both lines do. The accesses go wrong each time, not by luck, and on a GPU every kernel ends.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <span>
#include <vector>

#include "gradus/cuda/runtime/check.h"
#include "gradus/cuda/runtime/launch.h"

namespace gradus::planted {

using cuda::launch;

struct Planted {
  const char* name;
  const char* kind;  // of enum cuda::sim::Kind; empty for correct kernels (correct.cu)
  void (*run)();     // Errors: Error where a launch fails
};

// All of them, in the order of the files.
std::span<const Planted> planted_bugs();

// Registers a bug, next to its kernel.
struct Plant {
  Plant(const char* name, const char* kind, void (*run)());
};

// Memory of the device, with one value in all elements, or with none.
template <class T>
class Buffer {
 public:
  explicit Buffer(size_t count) { cuda::check_cuda(cudaMalloc(&data_, count * sizeof(T)), "test"); }
  Buffer(size_t count, T value) : Buffer(std::vector<T>(count, value)) {}
  explicit Buffer(const std::vector<T>& values) : Buffer(values.size()) {
    cuda::check_cuda(
        cudaMemcpy(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
        "test");
  }
  ~Buffer() { cudaFree(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  operator T*() const { return data_; }

 private:
  T* data_ = nullptr;
};

}  // namespace gradus::planted
