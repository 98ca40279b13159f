// Two kernels for sums, means, extremes and variances, over any dimensions of any strides. The fold
// is a row of reductions.def, whose states are elements, or one like it (moments.cuh).
//
// Both fold in a fixed tree and without atomics: on one kind of device a result depends on shapes,
// strides and alignment alone. Each thread keeps several accumulators: more loads are under way,
// and float sums lose less than in one long chain. Where blockIdx.y splits the reduced elements, a
// block writes what it has to row blockIdx.y of a table of partial results, which a second launch
// folds.
#pragma once

#include "gradus/cuda/kernels/converting.cuh"
#include "gradus/cuda/kernels/division.cuh"
#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/rows/moments.cuh"
#include "gradus/tensor/math/elementwise.h"

namespace gradus::cuda {

inline constexpr int kReduceBatch = 4;  // loads that a thread has under way

template <class Op, class T>
using StateOf = decltype(Op::template start<T>());

template <class Op, class T, int V>
__device__ Vector<T, V> combine(const Vector<T, V>& a, const Vector<T, V>& b) {
  Vector<T, V> out;
#pragma unroll
  for (int v = 0; v < V; ++v) out.at[v] = Op::combine(a.at[v], b.at[v]);
  return out;
}

// --- What is reduced: elements of the type that is computed with, or of any other, or partial
// results.
template <class T>
struct Plain {
  using Value = T;
  static constexpr bool partial = false;
  const T* data;

  __device__ Plain from(int64_t i) const { return {data + i}; }
  template <int V>
  __device__ Vector<T, V> load(int64_t i) const {
    return load_vector<V>(data + i);
  }
  // How many elements there are before the first one at which a vector may begin.
  template <int V>
  __device__ int before_vectors() const {
    return static_cast<int>((V - reinterpret_cast<uintptr_t>(data) / sizeof(T) % V) % V);
  }
};

// Elements of any other type; of integers for int64.
template <class T>
struct Converted {
  using Value = T;
  static constexpr bool partial = false;
  Elements data;

  __device__ Converted from(int64_t i) const { return {data.from(i)}; }
  template <int V>
  __device__ Vector<T, V> load(int64_t i) const {
    static_assert(V <= 2 * kPairs);
    const Run run{1, 2, V};
    const auto pairs = entered<T>(data, load_stored(data.from(i), run), run);
    Vector<T, V> out;
#pragma unroll
    for (int v = 0; v < V; ++v) out.at[v] = pairs.at[v / 2].at[v % 2];
    return out;
  }
  template <int V>
  __device__ int before_vectors() const {
    return 0;
  }
};

template <class State>
struct Parts : Plain<State> {
  static constexpr bool partial = true;
  __device__ Parts from(int64_t i) const { return {{this->data + i}}; }
};

// Where results go. Floats may be rounded to a half type there.
template <class T>
struct Results {
  void* data;
  ScalarType dtype;

  template <int V>
  bool is_aligned() const {
    const size_t size = std::is_same_v<T, float> ? element_size(dtype) : sizeof(T);
    return reinterpret_cast<uintptr_t>(data) % (size * V) == 0;
  }
  // REQUIRES: element i is aligned to V of them.
  template <int V>
  __device__ void store(int64_t i, const Vector<T, V>& value) const {
    if constexpr (std::is_same_v<T, float>) {
      if (dtype == ScalarType::Half) return store_as<Half>(i, value);
      if (dtype == ScalarType::BFloat16) return store_as<BFloat16>(i, value);
    }
    store_vector(static_cast<T*>(data) + i, value);
  }

 private:
  template <class S, int V>
  __device__ void store_as(int64_t i, const Vector<T, V>& value) const {
    Vector<S, V> rounded;
#pragma unroll
    for (int v = 0; v < V; ++v) rounded.at[v] = convert<S>(value.at[v]);
    store_vector(static_cast<S*>(data) + i, rounded);
  }
};

// V neighbouring elements as they enter the fold.
template <class Op, int V, class Source>
__device__ auto enter(const Source& x, int64_t i) {
  const auto elements = x.template load<V>(i);
  Vector<decltype(Op::enter(elements.at[0])), V> out;
#pragma unroll
  for (int v = 0; v < V; ++v) out.at[v] = Op::enter(elements.at[v]);
  return out;
}
template <class Op, int V, class State>
__device__ auto enter(const Parts<State>& x, int64_t i) {
  return x.template load<V>(i);
}

// --- Neighbouring elements are reduced ---

// Folds every lanes-th vector of a run, from `lane` on. The few elements before the first 16-byte
// boundary and after the last are taken one by one, so that no view is slow.
template <class Op, class Source, class T = typename Source::Value>
__device__ auto fold_run(Source x, int n, int lane, int lanes) {
  using State = StateOf<Op, T>;
  constexpr int V = vector_width<T>;
  Vector<State, V> sum;
  for (int v = 0; v < V; ++v) sum.at[v] = Op::template start<T>();
  const auto take = [&](int i) { sum.at[0] = Op::combine(sum.at[0], enter<Op, 1>(x, i).at[0]); };

  const int head = ::min(n, x.template before_vectors<V>());
  for (int i = lane; i < head; i += lanes) take(i);
  x = x.from(head);
  n -= head;

  const int vectors = n / V;
  int i = lane;
  for (; i + (kReduceBatch - 1) * lanes < vectors; i += kReduceBatch * lanes) {
    Vector<State, V> part[kReduceBatch];
#pragma unroll
    for (int k = 0; k < kReduceBatch; ++k) part[k] = enter<Op, V>(x, (i + k * lanes) * V);
    sum =
        combine<Op>(sum, combine<Op>(combine<Op>(part[0], part[1]), combine<Op>(part[2], part[3])));
  }
  for (; i < vectors; i += lanes) sum = combine<Op>(sum, enter<Op, V>(x, i * V));
  for (int j = vectors * V + lane; j < n; j += lanes) take(j);

#pragma unroll
  for (int width = V / 2; width > 0; width /= 2)
#pragma unroll
    for (int v = 0; v < width; ++v) sum.at[v] = Op::combine(sum.at[v], sum.at[v + width]);
  return sum.at[0];
}

template <class T>
__device__ T shuffle_xor(const T& value, int reach) {
  return static_cast<T>(__shfl_xor_sync(0xffffffffu, value, reach));
}
__device__ inline Moments shuffle_xor(const Moments& s, int reach) {
  return {shuffle_xor(s.count, reach), shuffle_xor(s.mean, reach), shuffle_xor(s.squares, reach)};
}

// The row of this thread where `lanes` neighbouring threads, a power of two, have one.
__device__ inline int64_t row_of_lanes(int lanes) {
  // A division of 64 bits takes longer than a short row.
  return (int64_t{blockIdx.x} * blockDim.x + threadIdx.x) >> (__ffs(lanes) - 1);
}

// The fold over `lanes` neighbouring threads, a power of two; those of more than a warp are a
// block. kUnrolls: the steps of a warp are written out, which suits states of one number; those of
// softmax take longer so.
template <class Op, bool kUnrolls = false, class T>
__device__ T fold_lanes(T value, int lanes) {
  if (kUnrolls && lanes >= 32) {
#pragma unroll
    for (int reach = 16; reach > 0; reach /= 2)
      value = Op::combine(value, shuffle_xor(value, reach));
  } else {
    for (int reach = ::min(lanes, 32) / 2; reach > 0; reach /= 2)
      value = Op::combine(value, shuffle_xor(value, reach));
  }
  if (lanes <= 32) return value;
  const int warps = lanes / 32;
  __shared__ T of_warp[32];
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  value = of_warp[threadIdx.x & (warps - 1)];
  for (int reach = warps / 2; reach > 0; reach /= 2)
    value = Op::combine(value, shuffle_xor(value, reach));
  return value;
}

// Rows of n neighbouring elements of x, 2^lane_bits threads a row; `rows` walks over out and x. A
// block folds `segment` elements of its rows, from blockIdx.y * segment on.
template <class Op, class Source, class T>
__global__ void __launch_bounds__(kReduceThreads)
    reduce_rows(const Op op, Strided<2> rows, int64_t n, int64_t segment, int lane_bits, Source x,
                StateOf<Op, T>* table, Results<T> out) {
  wait_for_earlier_kernels();
  const int lanes = 1 << lane_bits, lane = static_cast<int>(threadIdx.x) & (lanes - 1);
  const int64_t row = (int64_t{blockIdx.x} * kReduceThreads + threadIdx.x) >> lane_bits;
  const bool valid = row < rows.numel;
  const auto at = offsets_of(rows, valid ? row : 0);
  const int64_t begin = blockIdx.y * segment;
  const int count = valid ? static_cast<int>(::min(segment, n - begin)) : 0;
  const auto result =
      fold_lanes<Op>(fold_run<Op>(x.from(at.at[1] + begin), count, lane, lanes), lanes);
  if (!valid || lane != 0) return;
  if (gridDim.y > 1)
    table[blockIdx.y * rows.numel + row] = result;
  else
    out.store(at.at[0], Vector<T, 1>{static_cast<T>(op.finish(result, n))});
}

// --- Any strides ---

// `count` elements were reduced into each of `kept`; it differs from reduced.numel in the launch
// that folds partial results. A thread has V neighbouring outputs.
// REQUIRES: V = 1; or the last dimension of `kept` has stride 1 in x and out, and its size, every
// other stride and both pointers are multiples of V elements.
template <class Op, class Source, int V, class T>
__global__ void __launch_bounds__(kReduceThreads)
    reduce_strided(const Op op, Strided<2> kept, Strided<1> reduced, int64_t segment, int64_t count,
                   Division division, Source x, StateOf<Op, T>* table, Results<T> out) {
  wait_for_earlier_kernels();
  using State = StateOf<Op, T>;
  const int k = division.kept_index(), r = division.reduced_index(), step = division.reduced;
  const int64_t element = (int64_t{blockIdx.x} * division.kept + k) * V;
  const bool valid = element < kept.numel;
  const auto at = offsets_of(kept, valid ? element : 0);
  const Source from = x.from(at.at[1]);
  const auto load = [&](int64_t i) { return enter<Op, V>(from, offsets_of(reduced, i).at[0]); };

  Vector<State, V> sum;
  for (int v = 0; v < V; ++v) sum.at[v] = Op::template start<T>();
  int64_t i = blockIdx.y * segment + r;
  const int64_t end = valid ? ::min((blockIdx.y + 1) * segment, reduced.numel) : 0;
  for (; i + (kReduceBatch - 1) * step < end; i += kReduceBatch * step) {
    Vector<State, V> part[kReduceBatch];
#pragma unroll
    for (int b = 0; b < kReduceBatch; ++b) part[b] = load(i + b * step);
    sum =
        combine<Op>(sum, combine<Op>(combine<Op>(part[0], part[1]), combine<Op>(part[2], part[3])));
  }
  for (; i < end; i += step) sum = combine<Op>(sum, load(i));

  // Threads with one k fold pairwise: thread r takes from thread r + reach.
  __shared__ Vector<State, V> of_thread[kReduceThreads];
  Vector<State, V>* mine = of_thread + r * division.kept + k;
  *mine = sum;
  for (int reach = step / 2; reach > 0; reach /= 2) {
    __syncthreads();
    if (r < reach) *mine = sum = combine<Op>(sum, mine[reach * division.kept]);
  }
  if (!valid || r != 0) return;
  if (gridDim.y > 1) {
    store_vector(table + blockIdx.y * kept.numel + element, sum);
  } else {
    Vector<T, V> result;
    for (int v = 0; v < V; ++v) result.at[v] = static_cast<T>(op.finish(sum.at[v], count));
    out.store(at.at[0], result);
  }
}

}  // namespace gradus::cuda
