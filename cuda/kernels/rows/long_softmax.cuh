// softmax, log_softmax and their gradients along long lines of neighbours: a block for a line,
// which it keeps on its multiprocessor, so that memory is read once.
//
// As much as fits goes to shared memory, all of it at once and past the registers. A gradient keeps
// some in registers, too. The rest is read again where it is needed. A thread touches its own
// vectors alone, so nothing but the folds waits for other threads.
#pragma once

#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/rows/softmax.cuh"
#include "gradus/cuda/kernels/tensor_core.cuh"

namespace gradus::cuda {

inline constexpr int kLongThreads = 512;  // more would have too few registers
inline constexpr int kLongGroups = 4;     // of what comes to shared memory
inline constexpr int kHeldVectors = 11;   // of grad and of y, in a thread's registers

// A line as vectors, of which the first and the last may be cut.
template <class T>
struct LongLine {
  static constexpr int V = vector_width<T>;
  using Part = Vector<T, V>;
  int skip, end, vectors;  // the line is elements skip to end of so many vectors
  int whole;               // so many of them have elements alone

  __device__ LongLine(const T* line, int64_t n)
      : skip(static_cast<int>(reinterpret_cast<uintptr_t>(line) / sizeof(T) % V)),
        end(skip + static_cast<int>(n)),
        vectors((end + V - 1) / V),
        whole(end / V - (skip > 0)) {}

  __device__ bool is_whole(int i) const {
    return static_cast<unsigned>(i - (skip > 0)) < static_cast<unsigned>(whole);
  }
  __device__ bool has(int element) const { return element >= skip && element < end; }

  // `from` and `to` are where the first vector begins. Places without an element get `padding`.
  __device__ Part load(const T* from, int i, T padding) const {
    if (is_whole(i)) return load_vector<V>(from + i * V);
    Part out;
#pragma unroll
    for (int v = 0; v < V; ++v) out.at[v] = has(i * V + v) ? from[i * V + v] : padding;
    return out;
  }
  __device__ void copy(Part& to, const T* from, int i, T padding) const {
    if (is_whole(i))
      copy_later<kAccessBytes>(&to, from + i * V, kAccessBytes);
    else
      to = load(from, i, padding);
  }
  __device__ void store(T* to, int i, const Part& part) const {
    if (is_whole(i)) return store_vector(to + i * V, part);
#pragma unroll
    for (int v = 0; v < V; ++v)
      if (has(i * V + v)) to[i * V + v] = part.at[v];
  }
};

// f(i) for this thread's vectors from `begin` to `end`.
template <class F>
__device__ void for_vectors_of_thread(int begin, int end, const F& f) {
#pragma unroll 4
  for (int i = begin + static_cast<int>(threadIdx.x); i < end; i += kLongThreads) f(i);
}

// The same as softmax_kernel, with `kept` vectors of a line in shared memory. The vectors come in
// groups. The powers of one group, each about its own largest element, are summed up while the next
// are under way.
template <class T>
__global__ void __launch_bounds__(kLongThreads, 1)
    long_softmax_kernel(SoftmaxArgs<2> args, int kept, T* out, const T* x) {
  wait_for_earlier_kernels();
  using Max = scalar::Reduction<ReduceOp::amax>;
  using Part = typename LongLine<T>::Part;
  constexpr int V = LongLine<T>::V;
  constexpr T least = scalar::least<T>();
  const auto at = offsets_of(args.lines, int64_t{blockIdx.x});
  const LongLine<T> line(x + at.at[1], args.n);
  x += at.at[1] - line.skip;
  out += at.at[0] - line.skip;
  extern __shared__ uint4 shared[];
  Part* const parts = reinterpret_cast<Part*>(shared);
  const int stored = ::min(kept, line.vectors);
  const int length = (stored / kLongGroups / kLongThreads + 1) * kLongThreads;  // of a group
  const auto for_group = [&](int g, const auto& f) {
    for_vectors_of_thread(g * length, ::min((g + 1) * length, stored), f);
  };

  T top = least, sum = 0;  // of this thread: the largest element, and the sum of e^x about it
  const auto find_top = [](T& largest, const Part& part) {
#pragma unroll
    for (int v = 0; v < V; ++v) largest = Max::combine(largest, part.at[v]);
  };
  const auto raise = [](Part part, T about, T& powers) {
#pragma unroll
    for (int v = 0; v < V; ++v) powers += part.at[v] = scalar::exp(part.at[v] - about);
    return part;
  };
  const auto take_in = [&](T other_top, T powers) {
    const T next = Max::combine(top, other_top), about = center(next);
    sum = sum * scalar::exp(top - about) + powers * scalar::exp(other_top - about);
    top = next;
  };
  for (int g = 0; g < kLongGroups; ++g) {
    for_group(g, [&](int i) { line.copy(parts[i], x, i, least); });
    end_copy_group();
  }
  for_vectors_of_thread(stored, line.vectors, [&](int i) {
    const Part part = line.load(x, i, least);
    T largest = least, powers = 0;
    find_top(largest, part);
    raise(part, center(largest), powers);
    take_in(largest, powers);
  });
  T top_of[kLongGroups];
  const auto sum_group = [&](auto g) {
    wait_for_copies<kLongGroups - 1 - g.value>();
    T largest = least, powers = 0;
    for_group(g.value, [&](int i) { find_top(largest, parts[i]); });
    for_group(g.value, [&](int i) {
      const Part part = raise(parts[i], center(largest), powers);
      if (!args.log) parts[i] = part;
    });
    take_in(largest, powers);
    top_of[g.value] = largest;
  };
  sum_group(Constant<0>{}), sum_group(Constant<1>{});
  sum_group(Constant<2>{}), sum_group(Constant<3>{});
  const T about = center(fold_lanes<Max>(top, kLongThreads));
  __syncthreads();  // all have read the maximum: its memory is used again
  sum = fold_lanes<scalar::Reduction<ReduceOp::sum>>(sum * scalar::exp(top - about), kLongThreads);

  const T log_sum = args.log ? scalar::log(sum) : T(0);
  const auto finish = [&](int i, Part part, T scale) {
#pragma unroll
    for (int v = 0; v < V; ++v)
      part.at[v] = args.log ? (part.at[v] - about) - log_sum : part.at[v] * scale;
    line.store(out, i, part);
  };
  for_vectors_of_thread(stored, line.vectors, [&](int i) {
    const Part part = line.load(x, i, least);
    T powers = 0;
    finish(i, args.log ? part : raise(part, about, powers), 1 / sum);
  });
#pragma unroll
  for (int g = 0; g < kLongGroups; ++g)
    for_group(g, [&, scale = scalar::exp(top_of[g] - about) / sum](int i) {
      finish(i, parts[i], scale);
    });
}

// The same as softmax_grad_kernel, with `kept` vectors of grad and of y in shared memory.
template <class T>
__global__ void __launch_bounds__(kLongThreads, 1)
    long_softmax_grad_kernel(SoftmaxArgs<3> args, int kept, T* out, const T* grad, const T* y) {
  wait_for_earlier_kernels();
  using Part = typename LongLine<T>::Part;
  const auto at = offsets_of(args.lines, int64_t{blockIdx.x});
  const LongLine<T> line(grad + at.at[1], args.n);
  out += at.at[0] - line.skip;
  grad += at.at[1] - line.skip;
  y += at.at[2] - line.skip;
  extern __shared__ uint4 shared[];
  Part* const grads = reinterpret_cast<Part*>(shared);
  Part* const results = grads + kept;
  const auto for_kept = [&](const auto& f) {
    for_vectors_of_thread(0, ::min(kept, line.vectors), f);
  };
  const auto for_others = [&](const auto& f) {
    for_vectors_of_thread(kept + kHeldVectors * kLongThreads, line.vectors, f);
  };
  Part held_grads[kHeldVectors], held_results[kHeldVectors];
  const auto for_held = [&](const auto& f) {
#pragma unroll
    for (int k = 0; k < kHeldVectors; ++k)
      if (const int i = kept + k * kLongThreads + static_cast<int>(threadIdx.x); i < line.vectors)
        f(i, held_grads[k], held_results[k]);
  };

  for_kept([&](int i) {
    line.copy(grads[i], grad, i, T(0));
    line.copy(results[i], y, i, T(0));
  });
  end_copy_group();
  for_held([&](int i, Part& g, Part& result) {
    g = line.load(grad, i, T(0)), result = line.load(y, i, T(0));
  });
  T sum = 0;
  const auto add = [&](const Part& g, const Part& result) {
#pragma unroll
    for (int v = 0; v < LongLine<T>::V; ++v) sum += args.log ? g.at[v] : g.at[v] * result.at[v];
  };
  for_others([&](int i) { add(line.load(grad, i, T(0)), line.load(y, i, T(0))); });
  for_held([&](int, const Part& g, const Part& result) { add(g, result); });
  wait_for_copies<0>();
  for_kept([&](int i) { add(grads[i], results[i]); });
  sum = fold_lanes<scalar::Reduction<ReduceOp::sum>>(sum, kLongThreads);

  const auto finish = [&](int i, Part g, const Part& result) {
#pragma unroll
    for (int v = 0; v < LongLine<T>::V; ++v)
      g.at[v] =
          args.log ? g.at[v] - scalar::exp(result.at[v]) * sum : result.at[v] * (g.at[v] - sum);
    line.store(out, i, g);
  };
  for_held([&](int i, const Part& g, const Part& result) { finish(i, g, result); });
  for_others([&](int i) { finish(i, line.load(grad, i, T(0)), line.load(y, i, T(0))); });
  for_kept([&](int i) { finish(i, grads[i], results[i]); });
}

}  // namespace gradus::cuda
