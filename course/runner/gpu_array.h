// GpuArray: memory of a device for the inputs and results of a task.
#pragma once

#include <cstring>
#include <vector>

#include "core/launch.h"

// Holds floats on the device. One that is made with a size alone is unwritten memory: the simulator
// names a kernel that reads it, and take() gives NaN for an element that nobody has written.
class GpuArray {
 public:
  explicit GpuArray(size_t size) : size_(size) {
    const size_t bytes = (size > 0 ? size : 1) * sizeof(float);
    course::check(cudaMalloc(&data_, bytes), "cudaMalloc");
#ifdef COURSE_GPU
    course::check(cudaMemset(data_, 0xff, bytes), "cudaMemset");
#else
    std::memset(data_, 0xff, bytes);  // by the host, unseen: for the simulator the memory stays unwritten
#endif
  }
  explicit GpuArray(const std::vector<float>& values) : GpuArray(values.size()) {
    if (size_ > 0)
      course::check(cudaMemcpy(data_, values.data(), size_ * sizeof(float), cudaMemcpyHostToDevice), "copy to the device");
  }
  ~GpuArray() { cudaFree(data_); }
  GpuArray(const GpuArray&) = delete;
  GpuArray& operator=(const GpuArray&) = delete;

  operator float*() const { return data_; }
  size_t size() const { return size_; }

  std::vector<float> take() const {
    std::vector<float> out(size_);
    if (size_ > 0)
      course::check(cudaMemcpy(out.data(), data_, size_ * sizeof(float), cudaMemcpyDeviceToHost), "copy from the device");
    course::check(cudaDeviceSynchronize(), "kernel");
    return out;
  }

 private:
  float* data_ = nullptr;
  size_t size_ = 0;
};
