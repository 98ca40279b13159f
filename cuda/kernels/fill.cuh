// Elements that depend on nothing but their place.
#pragma once

#include <cstdint>

#include "gradus/tensor/math/rounding.h"

namespace gradus::cuda {

template <class T>
struct FillValue {
  T value;
  __device__ T operator()() const { return value; }
};

// Computed in `Wide`, as on the CPU: a float cannot count past 2^24.
template <class T, class Wide>
__global__ void arange_kernel(Wide start, Wide step, int64_t n, T* out) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = static_cast<T>(multiply_then_add(static_cast<Wide>(i), step, start));
}

}  // namespace gradus::cuda
