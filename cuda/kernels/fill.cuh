// Elements that depend on nothing but their place.
#pragma once

#include <cstdint>

#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/tensor/math/convert.h"
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
  wait_for_earlier_kernels();
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = static_cast<T>(multiply_then_add(static_cast<Wide>(i), step, start));
}

// Numbers from first to last, `step` apart, or powers of base. The second half is counted from the
// end, so that this comes out exactly.
template <bool powers, class T>
__global__ void linspace_kernel(double first, double last, double step, double base, int64_t n,
                                T* out) {
  wait_for_earlier_kernels();
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int64_t half = (n + 1) / 2;
  double value = i < half ? multiply_then_add(static_cast<double>(i), step, first)
                          : multiply_then_add(static_cast<double>(n - 1 - i), -step, last);
  if (powers) value = scalar::Binary<BinaryOp::pow>::f(base, value);
  out[i] = convert<T>(value);
}

}  // namespace gradus::cuda
