// Counts by the formulas of tensor/math/counts.h.
#pragma once

#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/runtime/capture.h"
#include "gradus/cuda/runtime/fault.h"
#include "gradus/tensor/math/convert.h"
#include "gradus/tensor/math/counts.h"

namespace gradus::cuda {

// A thread draws one. A rate that is none is reported by `wrong_rate`, which allows every number
// but -1.
template <CountOp op, class S, class... X>
__global__ void count_kernel(PhiloxState state, int64_t n, IndexRule wrong_rate, Fault* fault,
                             S* out, const X*... x) {
  wait_for_earlier_kernels();
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  state = drawn_state(state);
  const uint64_t key = philox::words(state.seed, state.offset, 0).joined();
  const philox::Block first = philox::block(state.seed, state.offset + 1 + i);
  counts::UniformPairs uniforms(counts::pair_of(first), key, i);
  const double count = counts::draw<op>(uniforms, convert<double>(x[i])...);
  if (op == CountOp::poisson) in_range(fault, wrong_rate, count == count ? 0 : -1);
  out[i] = convert<S>(count);
}

}  // namespace gradus::cuda
