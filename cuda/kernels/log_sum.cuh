// The fold of logcumsumexp on a GPU: it computes in the type of its elements, as float64 is slow
// there, and takes no logarithm before a result.
#pragma once

#include "gradus/cuda/kernels/lanes.cuh"

namespace gradus::cuda {

// log(sum(e^x)) as greatest + log(sum), so that nothing overflows and the sum of n is n at most.
template <class T>
struct LogSum {
  T greatest, sum;
};
template <class T>
__device__ LogSum<T> shuffle(LogSum<T> s, int lane, int width) {
  return {shuffle(s.greatest, lane, width), shuffle(s.sum, lane, width)};
}
template <class T>
__device__ LogSum<T> shuffle_up(LogSum<T> s, int reach, int width) {
  return {shuffle_up(s.greatest, reach, width), shuffle_up(s.sum, reach, width)};
}

template <class T>
struct LogSums {
  using State = LogSum<T>;
  static constexpr bool indexed = false;

  __device__ static State start() { return {scalar::least<T>(), 0}; }
  __device__ static State enter(T x, int64_t) { return {x, 1}; }
  // NaN in either stays in the sum.
  __device__ static State combine(State a, State b) {
    const T x = a.greatest, y = b.greatest;
    const T share = x == y ? T(1) : scalar::exp(-scalar::magnitude(x - y));  // infinities too
    return x >= y ? State{x, a.sum + b.sum * share} : State{y, a.sum * share + b.sum};
  }
  __device__ static T value(State s) { return s.greatest + scalar::log(s.sum); }
};

}  // namespace gradus::cuda
