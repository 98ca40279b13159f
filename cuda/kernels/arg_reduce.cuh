// The largest or smallest element along one dimension, and its first index.
#pragma once

#include "gradus/cuda/kernels/division.cuh"
#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/strided.cuh"

namespace gradus::cuda {

template <class T>
struct Candidate {
  T value;
  int64_t index;
};

// NaN is more extreme than any number; of equal elements the first wins.
template <class T>
__device__ bool wins(bool largest, const Candidate<T>& a, const Candidate<T>& b) {
  const bool a_is_nan = a.value != a.value, b_is_nan = b.value != b.value;
  if (a_is_nan != b_is_nan) return a_is_nan;
  if (a_is_nan || a.value == b.value) return a.index < b.index;
  return largest ? a.value > b.value : a.value < b.value;
}

// `kept` walks over values, indices and x without the dimension, along which x has n elements,
// `stride` apart. blockIdx.y may split the n elements into segments. A block then writes what it
// has found to row blockIdx.y of `table`, and a second launch reads its n rows as `found`.
// REQUIRES: n > 0.
template <class T>
__global__ void __launch_bounds__(kReduceThreads)
    arg_reduce_kernel(bool largest, Strided<3> kept, int64_t n, int64_t segment, int64_t stride,
                      Division division, const T* x, const Candidate<T>* found, Candidate<T>* table,
                      T* values, int64_t* indices) {
  wait_for_earlier_kernels();
  const int k = division.kept_index(), r = division.reduced_index();
  const int64_t element = int64_t{blockIdx.x} * division.kept + k;
  const bool valid = element < kept.numel;
  const auto at = offsets_of(kept, valid ? element : 0);
  const T* from = x + at.at[2];
  const auto candidate = [&](int64_t i) {
    return found ? found[i * kept.numel + (valid ? element : 0)]
                 : Candidate<T>{from[i * stride], i};
  };
  const int64_t begin = blockIdx.y * segment, end = ::min(begin + segment, n);
  // A thread without elements of its own starts with the last one, which does no harm.
  const int64_t first = ::min(begin + r, end - 1);
  Candidate<T> best = candidate(first);
#pragma unroll 4
  for (int64_t i = first + division.reduced; i < end; i += division.reduced) {
    const Candidate<T> next = candidate(i);
    if (wins(largest, next, best)) best = next;
  }

  __shared__ Candidate<T> of_thread[kReduceThreads];
  Candidate<T>* mine = of_thread + r * division.kept + k;
  *mine = best;
  for (int reach = division.reduced / 2; reach > 0; reach /= 2) {
    __syncthreads();
    if (r >= reach) continue;
    const Candidate<T> other = mine[reach * division.kept];
    if (wins(largest, other, best)) *mine = best = other;
  }
  if (!valid || r != 0) return;
  if (table) {
    table[blockIdx.y * kept.numel + element] = best;
  } else {
    values[at.at[0]] = best.value;
    indices[at.at[1]] = best.index;
  }
}

}  // namespace gradus::cuda
