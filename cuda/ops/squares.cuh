// The host side of kernels/squares.cuh: finds the dimensions that are turned.
#pragma once

#include <algorithm>

#include "gradus/cuda/kernels/squares.cuh"
#include "gradus/cuda/runtime/grid.h"

namespace gradus::cuda {

// The inputs that are turned: all of them, or some.
struct AllTurned {
  __host__ __device__ constexpr bool operator[](size_t) const { return true; }
};
template <int N>
struct SomeTurned {
  bool of[N] = {};
  __host__ __device__ bool operator[](size_t n) const { return of[n]; }
};

// Whether dimension d of the walk can be the rows of squares with a side of S.
template <int S, int N>
bool has_squares(const Strided<N>& walk, int d) {
  const int last = walk.dims - 1;
  bool out = std::min(walk.size[d], walk.size[last]) >= S * kLanesAcross && walk.size[d] % S == 0 &&
             walk.size[last] % S == 0;
  for (int n = 0; n < N; ++n) {
    const int along = walk.stride[n][last] == 1 ? last : d;
    out &= walk.stride[n][along] == 1;
    for (int other = 0; other < walk.dims; ++other)
      out &= other == along || walk.stride[n][other] % S == 0;
  }
  return out;
}

// Launches elementwise_squares where the walk, of which an input is turned, has squares; else gives
// false. REQUIRES: with AllTurned the walk has one input.
template <class Turned, class F, class Out, class... In>
bool launch_squares(const Context& context, const F& f, Strided<1 + sizeof...(In)> walk, Out* out,
                    const In*... in) {
  constexpr int S = square_side<Out, In...>, N = 1 + sizeof...(In);
  const int last = walk.dims - 1;
  if (last < 1 || walk.stride[0][last] != 1) return false;
  if (!is_aligned<S>(out) || !(is_aligned<S>(in) && ...)) return false;
  [[maybe_unused]] Turned turned;
  bool any = false;
  for (int n = 1; n < N; ++n) {
    const bool is_turned = walk.stride[n][last] != 1;
    if constexpr (!std::is_same_v<Turned, AllTurned>) turned.of[n - 1] = is_turned;
    any |= is_turned;
  }
  if (!any) return false;
  for (int d = 0; d < last; ++d) {
    if (!has_squares<S>(walk, d)) continue;
    std::swap(walk.size[d], walk.size[last - 1]);
    for (auto& stride : walk.stride) std::swap(stride[d], stride[last - 1]);
    const int64_t rows = walk.size[last - 1], columns = walk.size[last];
    const int64_t blocks = walk.numel / (rows * columns) *
                           ceil_div(rows, int64_t{S * kSquaresDown}) *
                           ceil_div(columns, int64_t{S * kSquaresAcross});
    launch_pdl(elementwise_squares<Turned, F, Out, In...>,
               {dim3(static_cast<unsigned>(blocks)), kSquareThreads, 0, context.stream}, f, turned,
               walk, out, in...);
    return true;
  }
  return false;
}

}  // namespace gradus::cuda
