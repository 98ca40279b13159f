// Random elements by the formulas of tensor/math/distributions.h.
#pragma once

#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/vector.cuh"
#include "gradus/cuda/runtime/capture.h"
#include "gradus/tensor/math/convert.h"
#include "gradus/tensor/math/distributions.h"

namespace gradus::cuda {

inline constexpr int kRandomThreads = 256;
// Elements of a thread: several Philox blocks, each of which is a long chain of instructions.
inline constexpr int kDrawn = 8;
inline constexpr int64_t kDrawnTile = int64_t{kDrawn} * kRandomThreads;  // of a block of threads

// Elements that a thread writes at once: those of whole blocks.
template <class S, class Bits>
inline constexpr int drawn_together = std::clamp(vector_width<S>, Bits::kPerBlock, kDrawn);

// out[i] = formula(bits, x[i]...), computed in T.
template <class T, class Formula, class S, class... X>
__global__ void __launch_bounds__(kRandomThreads)
    random_kernel(Formula formula, PhiloxState state, int64_t n, S* out, const X*... x) {
  wait_for_earlier_kernels();
  using Bits = typename Formula::Bits;
  constexpr int V = drawn_together<S, Bits>;
  state = drawn_state(state);
  const bool aligned = is_aligned<V>(out) && (is_aligned<V>(x) && ...);
#pragma unroll
  for (int part = 0; part < kDrawn / V; ++part) {
    const int64_t first =
        blockIdx.x * kDrawnTile + (part * kRandomThreads + static_cast<int>(threadIdx.x)) * V;
    if (first >= n) return;
    if (!aligned || first + V > n) {
#pragma unroll 1
      for (int64_t i = first; i < n && i < first + V; ++i)
        out[i] = convert<S>(
            formula(philox::bits_of<Bits>(state.seed, state.offset, i), convert<T>(x[i])...));
      continue;
    }
    const auto fill = [&](const Vector<X, V>&... in) {
      Vector<S, V> result;
#pragma unroll
      for (int v = 0; v < V; v += Bits::kPerBlock) {
        const philox::Block block =
            philox::block(state.seed, state.offset + (first + v) / Bits::kPerBlock);
#pragma unroll
        for (int lane = 0; lane < Bits::kPerBlock; ++lane)
          result.at[v + lane] =
              convert<S>(formula(Bits::of(block, lane), convert<T>(in.at[v + lane])...));
      }
      store_vector(out + first, result);
    };
    fill(load_vector<V>(x + first)...);
  }
}

}  // namespace gradus::cuda
