// Online softmax: softmax, log_softmax and their gradients along one dimension. A team of threads
// reads each line of n elements once, where it fits into their registers (long_softmax.cuh has
// others).
//
// A team goes over a line tile by tile, from the front: each thread keeps the largest of its
// elements so far and the sum of e^x about it, and multiplies the sum whenever the largest element
// grows. The team folds these once, where the line ends. Then it writes the tiles from the back.
// The last tile is still in registers; the others are read a second time. Sums are folded in a
// fixed tree.
#pragma once

#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/reduce.cuh"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

// Neighbouring threads, a power of two, and all of the block where they are more than a warp: for
// elements that lie closer together than lines do. `Blocks` is the number of blocks whose registers
// a multiprocessor has room for. `Edges`: a line may begin and end inside of a vector.
template <int Threads, int Blocks, bool Edges>
struct RowTeam {
  static constexpr int kThreads = Threads, kBlocks = Blocks;
  static constexpr bool kEdges = Edges;
  int lanes;

  __device__ int size() const { return lanes; }
  __device__ int lane() const { return static_cast<int>(threadIdx.x) & (lanes - 1); }
  __device__ int64_t line() const {
    return (int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / static_cast<unsigned>(lanes);
  }
  template <class Op, class T>
  __device__ T fold(T value) const {
    return fold_lanes<Op>(value, lanes);
  }
};

// Threads of a block that are `division.kept` apart, so that neighbours have neighbouring lines.
struct ColumnTeam {
  static constexpr int kThreads = kReduceThreads, kBlocks = 2;
  static constexpr bool kEdges = false;
  Division division;

  __device__ int size() const { return division.reduced; }
  __device__ int lane() const { return division.reduced_index(); }
  __device__ int64_t line() const {
    return int64_t{blockIdx.x} * division.kept + division.kept_index();
  }
  template <class Op, class T>
  __device__ T fold(T value) const {
    __shared__ T table[kReduceThreads];
    T* const first = table + division.kept_index();
    T* const mine = first + division.reduced_index() * division.kept;
    *mine = value;
    for (int reach = division.reduced / 2; reach > 0; reach /= 2) {
      __syncthreads();
      if (division.reduced_index() < reach)
        *mine = value = Op::combine(value, mine[reach * division.kept]);
    }
    __syncthreads();
    return *first;
  }
};

// `lines` walks over N tensors, of which the first is written. The walk leaves out the dimension,
// along which elements are `step` apart.
template <int N>
struct SoftmaxArgs {
  Strided<N> lines;
  int64_t step[N];
  int64_t n;
  bool log;
  // How many elements of memory lie before a tensor's first element, and how many from it on.
  int64_t before[N], from[N];
  // The elements of a line are neighbours, and it begins at the same place of a vector in all
  // tensors. Unless Team::kEdges that place is the first, and the line is a whole number of
  // vectors.
  bool vectors;
};

// The number about which powers of e are taken: the largest element, or 0 where there is none.
template <class T>
__device__ T center(T largest) {
  return largest == scalar::least<T>() ? T(0) : largest;
}

// The part of a tile that a thread has: 8 vectors. A kernel of N = 3 tensors reads two, so it has 4
// of each. So has one of 16 bits, which are computed with in 32.
template <class T, int N>
struct Tile {
  static constexpr int V = vector_width<T>, kSize = V * (N == 2 && sizeof(T) > 2 ? 8 : 4);
  T at[kSize];
};

// The elements of a tile that a thread has: vectors, or single ones between those of its
// neighbours.
template <class T, int N, bool kEdges>
struct Share {
  static constexpr int V = Tile<T, N>::V, kSize = Tile<T, N>::kSize;
  int lane, lanes;
  bool vectors;
  int skip = 0;   // places of the first tile that lie before the line
  int begin = 0;  // of this tile

  // Finds where in a vector the line at x, of these offsets, begins. The outer vectors of a line
  // are read whole. A line whose outer vectors are not all in memory is read by single elements.
  __device__ void align(const SoftmaxArgs<N>& args, const Offsets<N, int64_t>& at, const T* x) {
    if (!kEdges || !vectors) return;
    skip = static_cast<int>(reinterpret_cast<uintptr_t>(x) / sizeof(T) % V);
    const int64_t whole = (args.n + skip + V - 1) / V * V;
#pragma unroll
    for (int t = 1; t < N; ++t) {
      const int64_t first = at.at[t] - skip;
      vectors &= first >= -args.before[t] && first + whole <= args.from[t];
    }
    if (!vectors) skip = 0;
  }

  __device__ int tile_length() const { return lanes * kSize; }

  // The place of element i of a tile, or -1 where another thread has it.
  __device__ int place_of(int64_t i) const {
    if (i < 0 || i >= tile_length()) return -1;
    const int own = static_cast<int>(i), width = vectors ? V : 1, unit = own / width;
    return unit % lanes == lane ? unit / lanes * width + own % width : -1;
  }

  // Calls f(k) for the places that hold one of `count` elements of a tile for some thread.
  template <class F>
  __device__ void for_each(int count, const F& f) const {
#pragma unroll
    for (int k = 0; k < kSize; k += V) {
      if (k * lanes >= count) continue;
#pragma unroll
      for (int v = 0; v < V; ++v) f(k + v);
    }
  }
  // Calls f(k, at, some): the places from k on hold `some` elements, which lie from `at` on.
  template <class F>
  __device__ void for_own(int count, int64_t step, const F& f) const {
    if (vectors) {
#pragma unroll
      for (int k = 0; k < kSize; k += V) {
        const int i = k * lanes + lane * V;
        if (i < count && i + V > begin) f(k, int64_t{i}, Constant<V>{});
      }
    } else {
#pragma unroll
      for (int k = 0; k < kSize; ++k) {
        const int i = k * lanes + lane;
        if (i < count) f(k, i * step, Constant<1>{});
      }
    }
  }

  // Places without an element get `padding`.
  __device__ void load(Tile<T, N>& tile, const T* from, int64_t step, int count, T padding) const {
#pragma unroll
    for (int k = 0; k < kSize; ++k) tile.at[k] = padding;
    for_own(count, step, [&](int k, int64_t at, auto some) {
      const auto elements = load_vector<some.value>(from + at);
#pragma unroll
      for (int v = 0; v < some.value; ++v) tile.at[k + v] = elements.at[v];
    });
    if constexpr (kEdges) {
      if (!vectors || (begin == 0 && count % V == 0)) return;
#pragma unroll
      for (int k = 0; k < kSize; ++k) {
        const int i = k / V * V * lanes + lane * V + k % V;
        if (i < begin || i >= count) tile.at[k] = padding;
      }
    }
  }
  __device__ void store(const Tile<T, N>& tile, T* to, int64_t step, int count) const {
    for_own(count, step, [&](int k, int64_t at, auto some) {
      Vector<T, some.value> elements;
#pragma unroll
      for (int v = 0; v < some.value; ++v) elements.at[v] = tile.at[k + v];
      if constexpr (kEdges && some.value > 1) {
        if (at < begin || at + some.value > count) {
#pragma unroll
          for (int v = 0; v < some.value; ++v)
            if (at + v >= begin && at + v < count) to[at + v] = elements.at[v];
          return;
        }
      }
      store_vector(to + at, elements);
    });
  }
};

// out = e^x / sum(e^x), or its logarithm.
template <class T, class Team>
__global__ void __launch_bounds__(Team::kThreads, Team::kBlocks)
    softmax_kernel(SoftmaxArgs<2> args, Team team, T* out, const T* x) {
  wait_for_earlier_kernels();
  using Max = scalar::Reduction<ReduceOp::amax>;
  const bool valid = team.line() < args.lines.numel;
  const auto at = offsets_of(args.lines, valid ? team.line() : 0);
  x += at.at[1];
  out += at.at[0];
  const Share<T, 2, false> share{team.lane(), team.size(), args.vectors};
  const int length = share.tile_length();
  const int64_t last = (args.n - 1) / length * length;
  const auto count_from = [&](int64_t first) {  // none for a team without a line
    return valid ? static_cast<int>(::min(args.n - first, int64_t{length})) : 0;
  };
  constexpr T least = scalar::least<T>();

  Tile<T, 2> tile = {};
  T top = least,
    sum = 0;  // of this thread: the largest element so far, and the sum of e^x about it
  // The sum of e^x about `about`, where padding gives 0.
  const auto raise = [&](T about, int count) {
    T powers = 0;
    share.for_each(count, [&](int k) {
      const T power = scalar::exp(tile.at[k] - about);
      powers += power;
      if (!args.log) tile.at[k] = power;
    });
    return powers;
  };
  for (int64_t first = 0; first <= last; first += length) {
    const int count = count_from(first);
    share.load(tile, x + first * args.step[1], args.step[1], count, least);
    T next = top;
    share.for_each(count, [&](int k) { next = Max::combine(next, tile.at[k]); });
    sum = sum * scalar::exp(top - center(next)) + raise(center(next), count);
    top = next;
  }
  const T about = center(team.template fold<Max>(top));
  const T factor = top == least ? T(0) : scalar::exp(top - about);
  if (team.size() > 32) __syncthreads();  // all have read the maximum: its memory is used again
  sum = team.template fold<scalar::Reduction<ReduceOp::sum>>(sum * factor);
  const T log_sum = args.log ? scalar::log(sum) : T(0);
  T scale = factor / sum;
  for (int64_t first = last; first >= 0; first -= length) {
    const int count = count_from(first);
    if (first < last) {
      share.load(tile, x + first * args.step[1], args.step[1], count, least);
      raise(about, count);
      scale = 1 / sum;
    }
    share.for_each(count, [&](int k) {
      tile.at[k] = args.log ? (tile.at[k] - about) - log_sum : tile.at[k] * scale;
    });
    share.store(tile, out + first * args.step[0], args.step[0], count);
  }
}

// out = y (grad - sum(grad y)), or for the logarithm grad - e^y sum(grad).
template <class T, class Team>
__global__ void __launch_bounds__(Team::kThreads, 2)
    softmax_grad_kernel(SoftmaxArgs<3> args, Team team, T* out, const T* grad, const T* y) {
  wait_for_earlier_kernels();
  const bool valid = team.line() < args.lines.numel;
  const auto at = offsets_of(args.lines, valid ? team.line() : 0);
  out += at.at[0];
  grad += at.at[1];
  y += at.at[2];
  const Share<T, 3, false> share{team.lane(), team.size(), args.vectors};
  const int length = share.tile_length();
  const int64_t last = (args.n - 1) / length * length;
  const auto count_from = [&](int64_t first) {  // none for a team without a line
    return valid ? static_cast<int>(::min(args.n - first, int64_t{length})) : 0;
  };

  Tile<T, 3> grads, results;
  const auto load = [&](int64_t first, int count) {
    share.load(grads, grad + first * args.step[1], args.step[1], count, T(0));
    share.load(results, y + first * args.step[2], args.step[2], count, T(0));
  };
  T sum = 0;
  for (int64_t first = 0; first <= last; first += length) {
    const int count = count_from(first);
    load(first, count);
    share.for_each(count,
                   [&](int k) { sum += args.log ? grads.at[k] : grads.at[k] * results.at[k]; });
  }
  sum = team.template fold<scalar::Reduction<ReduceOp::sum>>(sum);
  for (int64_t first = last; first >= 0; first -= length) {
    const int count = count_from(first);
    if (first < last) load(first, count);
    share.for_each(count, [&](int k) {
      grads.at[k] = args.log ? grads.at[k] - scalar::exp(results.at[k]) * sum
                             : results.at[k] * (grads.at[k] - sum);
    });
    share.store(grads, out + first * args.step[0], args.step[0], count);
  }
}

}  // namespace gradus::cuda
