// Counts by the formulas of tensor/math/counts.h.
#pragma once

#include "gradus/cuda/runtime/capture.h"
#include "gradus/tensor/math/convert.h"
#include "gradus/tensor/math/counts.h"

namespace gradus::cuda {

// A thread draws one.
template <CountOp op, class S, class... X>
__global__ void count_kernel(PhiloxState state, int64_t n, S* out, const X*... x) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  state = drawn_state(state);
  const uint64_t key = philox::words(state.seed, state.offset, 0).joined();
  const philox::Block first = philox::block(state.seed, state.offset + 1 + i);
  counts::UniformPairs uniforms(counts::pair_of(first), key, i);
  out[i] = convert<S>(counts::draw<op>(uniforms, convert<double>(x[i])...));
}

}  // namespace gradus::cuda
