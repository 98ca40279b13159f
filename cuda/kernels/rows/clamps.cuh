// Clamps of a normalised result: none, a lower bound or two bounds. A second comparison of each
// element takes time where tensors lie in the L2 cache, so relu makes one.
#pragma once

#include <cuda_runtime.h>

#include "gradus/tensor/base/normalized_rows.h"

namespace gradus::cuda {

template <class S>
struct NoClamp {
  __device__ S clamp(S y) const { return y; }
  __device__ bool passes(S) const { return true; }
};
template <class S>
struct LowerBound {
  S low;
  __device__ S clamp(S y) const { return y < low ? low : y; }
  __device__ bool passes(S result) const { return result > low; }
};
template <class S>
struct TwoBounds {
  Bounds<S> bounds;
  // Selections, where that of Bounds becomes branches, which load a bound where it is taken.
  __device__ S clamp(S y) const {
    const S low = bounds.low, high = bounds.high;
    y = y < low ? low : y;
    return y > high ? high : y;
  }
  __device__ bool passes(S result) const { return bounds.passes(result); }
};

}  // namespace gradus::cuda
