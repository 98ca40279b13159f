// The sources of reductions beside plain elements (reduce.cuh), and a fold of two extremes at once.
#pragma once

#include <limits>

#include "gradus/cuda/kernels/reduce.cuh"

namespace gradus::cuda {

// Elements of type S as f gives them, of type T.
template <class T, class S, class F>
struct Through {
  using Value = T;
  static constexpr bool partial = false;
  const S* data;
  F f;

  // Elements of one access, of V that are wanted.
  template <int V>
  static constexpr int width = std::min(V, vector_width<S>);

  __device__ Through from(int64_t i) const { return {data + i, f}; }
  template <int V>
  __device__ Vector<T, V> load(int64_t i) const {
    constexpr int N = width<V>;
    Vector<T, V> out;
#pragma unroll
    for (int v = 0; v < V; v += N) {
      const auto some = load_vector<N>(data + i + v);
#pragma unroll
      for (int k = 0; k < N; ++k) out.at[v + k] = f(some.at[k]);
    }
    return out;
  }
  template <int V>
  __device__ int before_vectors() const {
    constexpr int N = width<V>;
    return static_cast<int>((N - reinterpret_cast<uintptr_t>(data) / sizeof(S) % N) % N);
  }
};

inline constexpr int kNoVectors = std::numeric_limits<int>::max();

// (x - y)^2.
template <class T>
struct SquaredDifference {
  using Value = T;
  static constexpr bool partial = false;
  const T *x, *y;

  __device__ SquaredDifference from(int64_t i) const { return {x + i, y + i}; }
  template <int V>
  __device__ Vector<T, V> load(int64_t i) const {
    const auto a = load_vector<V>(x + i), b = load_vector<V>(y + i);
    Vector<T, V> out;
#pragma unroll
    for (int v = 0; v < V; ++v) out.at[v] = (a.at[v] - b.at[v]) * (a.at[v] - b.at[v]);
    return out;
  }
  // All elements, where vectors of both never begin together.
  template <int V>
  __device__ int before_vectors() const {
    const int head = Plain<T>{x}.template before_vectors<V>();
    return head == Plain<T>{y}.template before_vectors<V>() ? head : kNoVectors;
  }
};

// The gradient of that, where the squares are averaged.
template <class T>
struct SquaredDifferenceGrad {
  T scale;  // 2 / how many there are
  const T* grad;
  __device__ T operator()(T x, T y) const { return scale * *grad * (x - y); }
};

// Whether an element is not 0: whether any bit of `mask` is set in it.
template <class Bits>
struct IsNotZero {
  Bits mask;
  __device__ uint8_t operator()(Bits x) const { return (x & mask) != 0; }
};

template <class T>
struct ConvertTo {
  template <class S>
  __device__ T operator()(S x) const {
    return convert<T>(x);
  }
};

template <class T>
struct PowerOf {
  T p;
  __device__ T operator()(T x) const {
    return scalar::Binary<BinaryOp::pow>::f(scalar::Unary<UnaryOp::abs>::f(x), p);
  }
};

// The sum of such powers, to the power 1 / p.
struct PowerNorm : scalar::Reduction<ReduceOp::sum> {
  double p;
  explicit PowerNorm(double power) : p(power) {}
  template <class T>
  __device__ T finish(T s, int64_t) const {
    return scalar::Binary<BinaryOp::pow>::f(s, static_cast<T>(1 / p));
  }
};

template <class T>
struct Extremes {
  T least, most;
};
template <class T>
struct ExtremesOf {
  using Type = Extremes<T>;
};
template <class T>
struct ExtremesOf<Extremes<T>> {
  using Type = Extremes<T>;
};
template <class T>
__device__ Extremes<T> shuffle_xor(const Extremes<T>& s, int reach) {
  return {shuffle_xor(s.least, reach), shuffle_xor(s.most, reach)};
}

// A fold like the rows of reductions.def. T is that of the elements, or the result's Extremes.
struct BothExtremes {
  using Least = scalar::Reduction<ReduceOp::amin>;
  using Most = scalar::Reduction<ReduceOp::amax>;

  template <class T>
  __device__ static typename ExtremesOf<T>::Type start() {
    using Value = decltype(typename ExtremesOf<T>::Type{}.least);
    return {Least::start<Value>(), Most::start<Value>()};
  }
  template <class T>
  __device__ static Extremes<T> enter(T x) {
    return {x, x};
  }
  template <class T>
  __device__ static Extremes<T> combine(const Extremes<T>& a, const Extremes<T>& b) {
    return {Least::combine(a.least, b.least), Most::combine(a.most, b.most)};
  }
  template <class T>
  __device__ static Extremes<T> finish(const Extremes<T>& s, int64_t) {
    return s;
  }
};

}  // namespace gradus::cuda
