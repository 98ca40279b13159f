// Draws of the counter-based generator of tensor/philox.h.
#pragma once

#include "gradus/tensor/backend.h"
#include "gradus/tensor/philox.h"

namespace gradus::cuda {

template <class T>
struct Uniform {
  T low, high;
  __device__ T operator()(uint64_t bits) const { return philox::uniform(bits, low, high); }
};

template <class T>
struct Normal {
  T mean, deviation;
  __device__ T operator()(uint64_t bits) const { return philox::normal(bits, mean, deviation); }
};

template <class T>
struct RandomInteger {
  int64_t low, high;
  __device__ T operator()(uint64_t bits) const {
    return static_cast<T>(philox::randint(bits, low, high));
  }
};

// A thread makes the elements that share one Philox block.
template <class Draw, class T>
__global__ void random_kernel(Draw draw, PhiloxState state, int64_t n, T* out) {
  const int64_t pair = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int64_t first = pair * philox::kElementsPerBlock;
  if (first >= n) return;
  const philox::Block block = philox::block(state.seed, state.offset + static_cast<uint64_t>(pair));
  for (int lane = 0; lane < philox::kElementsPerBlock; ++lane)
    if (first + lane < n) out[first + lane] = draw(philox::words(block, lane));
}

}  // namespace gradus::cuda
