// The third kernel of elementwise operations: out[i] = f(in[i]...), any strides, where what lies in
// memory is of other types than f computes with. A thread takes neighbouring elements, and what
// they are is asked once for all of them.
#pragma once

#include "gradus/cuda/kernels/early.cuh"
#include "gradus/cuda/kernels/elementwise.cuh"
#include "gradus/tensor/math/convert.h"

namespace gradus::cuda {

// Elements of any type.
struct Elements {
  void* data;
  ScalarType dtype;
};

inline constexpr int kConvertingBatch = 8;  // elements that a thread takes at once
inline constexpr int kConvertingParts = 2;
template <class T>
struct Few {
  T at[kConvertingBatch];
};
template <class S>
inline constexpr int run_width = std::min(vector_width<S>, kConvertingBatch);

// Calls f(TypeTag<T>{}) with the type of what is stored.
template <class F>
__device__ void visit_stored(ScalarType dtype, const F& f) {
  switch (dtype) {
#define DTYPE(name, type, short_name, kind, computed) \
  case ScalarType::name:                              \
    return f(TypeTag<type>{});
#include "gradus/tensor/base/dtypes.def"
#undef DTYPE
  }
}

// Where a thread's elements of one tensor lie, and how many of kConvertingBatch they are.
struct Run {
  int64_t at;
  int64_t step;
  int count;
};

// Calls f(k, element) for the elements of type S at x, several in one access where they lie so.
template <class S, class F>
__device__ void load_run(const S* x, const Run& run, const F& f) {
  constexpr int V = kConvertingBatch, N = run_width<S>;
  if (run.step == 1 && run.count == V && is_aligned<N>(x)) {
#pragma unroll
    for (int k = 0; k < V; k += N) {
      const auto some = load_vector<N>(x + k);
#pragma unroll
      for (int i = 0; i < N; ++i) f(k + i, some.at[i]);
    }
  } else {
#pragma unroll
    for (int k = 0; k < V; ++k)
      if (k < run.count) f(k, x[k * run.step]);
  }
}
// The other way: writes get(k).
template <class S, class F>
__device__ void store_run(S* x, const Run& run, const F& get) {
  constexpr int V = kConvertingBatch, N = run_width<S>;
  if (run.step == 1 && run.count == V && is_aligned<N>(x)) {
#pragma unroll
    for (int k = 0; k < V; k += N) {
      Vector<S, N> some;
#pragma unroll
      for (int i = 0; i < N; ++i) some.at[i] = get(k + i);
      store_vector(x + k, some);
    }
  } else {
#pragma unroll
    for (int k = 0; k < V; ++k)
      if (k < run.count) x[k * run.step] = get(k);
  }
}

// These are functions that are called, and not copied into every kernel: there are hundreds of f,
// and ten types for each of their operands.
template <class T>
__device__ __noinline__ Few<T> load_converted(Elements from, Run run) {
  Few<T> out;
  visit_stored(from.dtype, [&]<class S>(TypeTag<S>) {
    load_run(static_cast<const S*>(from.data) + run.at, run,
             [&](int k, S element) { out.at[k] = convert<T>(element); });
  });
  return out;
}
template <class T>
__device__ __noinline__ void store_converted(Elements to, Run run, Few<T> value) {
  visit_stored(to.dtype, [&]<class S>(TypeTag<S>) {
    store_run(static_cast<S*>(to.data) + run.at, run,
              [&](int k) { return convert<S>(value.at[k]); });
  });
}

template <class Out, class In, class F, class... Vectors>
__device__ Few<Out> apply_all(const F& f, int count, const Vectors&... in) {
  Few<Out> out;
#pragma unroll
  for (int k = 0; k < kConvertingBatch; ++k)
    if (k < count) out.at[k] = f(in.at[k]...);
  return out;
}

// f of numbers of type In gives one of type Out. Columns and rows as in elementwise_strided, but
// that a thread has kConvertingParts times kConvertingBatch neighbouring columns.
template <class F, class Out, class In, class... Inputs>
__global__ void __launch_bounds__(kElementwiseThreads)
    elementwise_converting(F f, Strided<1 + sizeof...(Inputs), int32_t> walk, int32_t rows,
                           int32_t tiles, Elements out, Inputs... in) {
  wait_for_earlier_kernels();
  const int32_t block = static_cast<int32_t>(blockIdx.x), width = static_cast<int32_t>(blockDim.x);
  const int32_t row_block = block / tiles, last = walk.dims - 1;
  const int32_t row = row_block * static_cast<int32_t>(blockDim.y) + threadIdx.y;
  if (row >= rows) return;
  const auto at = offsets_of(walk, last, row);
  const int32_t first = (block - row_block * tiles) * kConvertingParts;
#pragma unroll 1
  for (int part = 0; part < kConvertingParts; ++part) {
    const int32_t column =
        ((first + part) * width + static_cast<int32_t>(threadIdx.x)) * kConvertingBatch;
    const int count = ::min(kConvertingBatch, walk.size[last] - column);
    if (count <= 0) return;
    const auto run = [&](int n) {
      const int64_t step = walk.stride[n][last];
      return Run{at.at[n] + column * step, step, count};
    };
    int n = 0;
    const Few<In> loaded[] = {(++n, load_converted<In>(in, run(n)))...};
    const auto result = [&]<size_t... I>(std::index_sequence<I...>) {
      return apply_all<Out, In>(f, count, loaded[I]...);
    }
    (std::index_sequence_for<Inputs...>{});
    store_converted<Out>(out, run(0), result);
  }
}

}  // namespace gradus::cuda
