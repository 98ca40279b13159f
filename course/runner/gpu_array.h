// GpuArray: memory of a device for the inputs and results of a task.
#pragma once

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/launch.h"
#include "runner/message.h"

// Holds floats on the device. One that is made with a size alone is unwritten memory: the simulator
// names a kernel that reads it, and take() gives NaN for an element that nobody has written.
class GpuArray {
 public:
  // shift: how many floats behind the beginning of its memory it begins. One without floats begins at the end,
  // where nobody may touch anything.
  explicit GpuArray(size_t size, size_t shift = 0) : size_(size) {
    const size_t all = size > 0 ? shift + size : 1, bytes = all * sizeof(float);
    course::check(cudaMalloc(&memory_, bytes), "cudaMalloc");
#ifdef COURSE_GPU
    course::check(cudaMemset(memory_, 0xff, bytes), "cudaMemset");
#else
    std::memset(memory_, 0xff, bytes);  // by the host, unseen: for the simulator the memory stays unwritten
#endif
    data_ = memory_ + all - size;
  }
  explicit GpuArray(const std::vector<float>& values, size_t shift = 0) : GpuArray(values.size(), shift) {
    if (size_ > 0)
      course::check(cudaMemcpy(data_, values.data(), size_ * sizeof(float), cudaMemcpyHostToDevice), "copy to the device");
  }
  ~GpuArray() { cudaFree(memory_); }
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

  // What a function may only read. Errors: std::runtime_error where it does not hold these values any more.
  void unchanged(const char* name, const std::vector<float>& values) const {
    const std::vector<float> now = take();
    for (size_t i = 0; i < values.size(); ++i)
      if (std::memcmp(&now[i], &values[i], sizeof(float)) != 0)
        throw std::runtime_error(std::string(name) + "[" + std::to_string(i) + "] was " + std::to_string(values[i]) +
                                 " before the call and is " + std::to_string(now[i]) + " after it: " + name +
                                 " is const, so kernels may only read it");
  }

 private:
  float *memory_ = nullptr, *data_ = nullptr;
  size_t size_ = 0;
};

// Where the arrays of a request begin in their memory: at its beginning, or "shift" floats behind it.
inline size_t shift_of(const Message& in) { return in.has("shift") ? static_cast<size_t>(in.number("shift")) : 0; }
