// The kernels of map, zip, ternary, copy and fill for operands of one type: out[i] = f(in[i]...),
// for any number of inputs.
//
// A kernel of this kind is as fast as memory where each thread has several loads under way before
// it needs the first, and neighbouring threads touch neighbouring bytes.
#pragma once

#include <utility>

#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/strided.cuh"
#include "gradus/cuda/kernels/vector.cuh"

namespace gradus::cuda {

inline constexpr int kElementwiseThreads = 256;

// The part of one input that one thread loads: `Parts` vectors of V elements.
template <class T, int V, int Parts>
struct Batch {
  Vector<T, V> part[Parts];
};

// Vector k comes from from + at(k); those from `count` on stay unset.
template <int V, int Parts, class T, class At>
__device__ Batch<T, V, Parts> load_batch(const T* from, const At& at, int count) {
  Batch<T, V, Parts> out;
#pragma unroll
  for (int k = 0; k < Parts; ++k)
    if (k < count) out.part[k] = load_vector<V>(from + at(k));
  return out;
}

// All inputs are in registers before the first store, since out may be one of them.
template <int V, int Parts, class F, class Out, class At, class... In>
__device__ void apply_batch(const F& f, Out* out, const At& at, int count,
                            const Batch<In, V, Parts>&... in) {
#pragma unroll
  for (int k = 0; k < Parts; ++k) {
    if (k >= count) break;
    Vector<Out, V> result;
#pragma unroll
    for (int v = 0; v < V; ++v) result.at[v] = f(in.part[k].at[v]...);
    store_vector(out + at(k), result);
  }
}

// --- Everything contiguous ---
inline constexpr int kContiguousParts = 2;
template <class... T>
inline constexpr int64_t contiguous_tile =
    kContiguousParts* kElementwiseThreads* int64_t{vector_width<T...>};

// Each block does one tile. REQUIRES: pointers aligned to vector_width<Out, In...> elements.
template <class F, class Out, class... In>
__global__ void __launch_bounds__(kElementwiseThreads)
    elementwise_contiguous(F f, int64_t n, Out* out, const In*... in) {
  wait_for_earlier_kernels();
  let_next_kernel_start_if_small();
  constexpr int V = vector_width<Out, In...>;
  constexpr int64_t tile = contiguous_tile<Out, In...>;
  constexpr int64_t step = int64_t{kElementwiseThreads} * V;
  const int64_t begin = blockIdx.x * tile, first = begin + threadIdx.x * V;
  const auto at = [first](int k) { return first + k * step; };
  if (begin + tile <= n) {
    apply_batch<V, kContiguousParts>(f, out, at, kContiguousParts,
                                     load_batch<V, kContiguousParts>(in, at, kContiguousParts)...);
  } else {
    const int count = first + V > n ? 0 : static_cast<int>((n - V - first) / step) + 1;
    apply_batch<V, kContiguousParts>(f, out, at, count,
                                     load_batch<V, kContiguousParts>(in, at, count)...);
    // The last elements fill no vector.
    const int64_t i = n / V * V + threadIdx.x;
    if (i < n) out[i] = f(in[i]...);
  }
}

// --- Any strides ---
inline constexpr int kStridedParts = 4;

template <class F, int N, size_t... I, class Out, class... In>
__device__ void apply_strided(const F& f, const Offsets<N, int32_t> (&at)[kStridedParts], int count,
                              std::index_sequence<I...>, Out* out, const In*... in) {
  const auto of = [&](size_t n) { return [&at, n](int k) { return at[k].at[n]; }; };
  apply_batch<1, kStridedParts>(f, out, of(0), count,
                                load_batch<1, kStridedParts>(in, of(I + 1), count)...);
}

// The last dimension of the walk is its columns, all others together its rows. A block covers
// blockDim.y rows of kStridedParts * blockDim.x columns, so that a thread divides once for four
// elements; `tiles` blocks cover a row. Where a block is as wide as a row, a thread has one column
// of kStridedParts rows, blockDim.y apart. REQUIRES: walk.dims > 0.
template <class F, class Out, class... In>
__global__ void __launch_bounds__(kElementwiseThreads)
    elementwise_strided(F f, Strided<1 + sizeof...(In), int32_t> walk, int32_t rows, int32_t tiles,
                        Out* out, const In*... in) {
  wait_for_earlier_kernels();
  constexpr int N = 1 + sizeof...(In);
  const int last = walk.dims - 1;
  const int32_t block = static_cast<int32_t>(blockIdx.x), width = static_cast<int32_t>(blockDim.x);
  const int32_t height = static_cast<int32_t>(blockDim.y), columns = walk.size[last];
  const bool down = columns <= width;
  const int32_t row_block = block / tiles;
  const int32_t row = row_block * height * (down ? kStridedParts : 1) + threadIdx.y;
  const int32_t column = (block - row_block * tiles) * width * kStridedParts + threadIdx.x;
  if (row >= rows || column >= columns) return;
  const int32_t step = down ? height : width, remaining = down ? rows - row : columns - column;

  Offsets<N, int32_t> at[kStridedParts];
  int count = 0;
#pragma unroll
  for (int k = 0; k < kStridedParts; ++k) {
    if (remaining <= k * step) break;
    ++count;
    if (k == 0 || down) at[k] = offsets_of(walk, last, row + k * step);
    for (int n = 0; n < N; ++n)
      at[k].at[n] = k == 0 || down ? at[k].at[n] + column * walk.stride[n][last]
                                   : at[k - 1].at[n] + step * walk.stride[n][last];
  }
  apply_strided(f, at, count, std::index_sequence_for<In...>{}, out, in...);
}

}  // namespace gradus::cuda
