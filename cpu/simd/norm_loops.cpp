// The loops of normalisations for one instruction set.
#include "gradus/cpu/simd/norm_loops.h"

#include <utility>

#include "gradus/cpu/simd/set.h"

namespace gradus::cpu {
namespace GRADUS_SET {
namespace {

// Vectors that are added up at once, and elements between two sums in double.
constexpr int kChains = 4;
constexpr int64_t kBlock = 512;

template <int n>
struct Doubles {
  typedef double Type __attribute__((vector_size(n * sizeof(double))));
};

template <class T>
struct Vec {
  static constexpr int64_t kLanes = GRADUS_VECTOR / sizeof(T);
  typedef T Type __attribute__((vector_size(GRADUS_VECTOR), aligned(sizeof(T)), may_alias));

  static GRADUS_TARGET Type load(const T* x) { return *reinterpret_cast<const Type*>(x); }
  static GRADUS_TARGET void store(T* x, const Type& v) { *reinterpret_cast<Type*>(x) = v; }
  static GRADUS_TARGET double sum(const Type& x) {
    typedef T Aligned __attribute__((vector_size(GRADUS_VECTOR)));
    const Aligned aligned = x;
    return sum_halves(aligned, std::make_integer_sequence<int, kLanes / 2>());
  }

 private:
  // The sum in double, by pairs.
  template <class V, int... lane>
  static GRADUS_TARGET double sum_halves(const V& x, std::integer_sequence<int, lane...>) {
    constexpr int kHalf = sizeof...(lane);
    using Wide = typename Doubles<kHalf>::Type;
    const Wide half =
        __builtin_convertvector(__builtin_shufflevector(x, x, lane...), Wide) +
        __builtin_convertvector(__builtin_shufflevector(x, x, (kHalf + lane)...), Wide);
    if constexpr (kHalf > 2)
      return sum_halves(half, std::make_integer_sequence<int, kHalf / 2>());
    else
      return kHalf > 1 ? half[0] + half[kHalf - 1] : half[0];
  }
};

// Adds up what term(i, a, b) adds to a and b, for vectors at i or for single elements.
template <class T, class Term>
GRADUS_TARGET __attribute__((always_inline)) inline double two_sums(int64_t n, double& second,
                                                                    const Term& term) {
  constexpr int64_t kLanes = Vec<T>::kLanes, kStep = kChains * kLanes;
  double sums[2] = {0, 0};
  int64_t i = 0;
  while (i + kStep <= n) {
    typename Vec<T>::Type a[kChains] = {}, b[kChains] = {};
    for (const int64_t end = i + kBlock; i + kStep <= n && i < end; i += kStep)
      for (int c = 0; c < kChains; ++c) term.vector(i + c * kLanes, a[c], b[c]);
    sums[0] += Vec<T>::sum((a[0] + a[1]) + (a[2] + a[3]));
    sums[1] += Vec<T>::sum((b[0] + b[1]) + (b[2] + b[3]));
  }
  if (i + kLanes <= n) {
    typename Vec<T>::Type a = {}, b = {};
    for (; i + kLanes <= n; i += kLanes) term.vector(i, a, b);
    sums[0] += Vec<T>::sum(a), sums[1] += Vec<T>::sum(b);
  }
  T a = 0, b = 0;
  for (; i < n; ++i) term.element(i, a, b);
  second = sums[1] + static_cast<double>(b);
  return sums[0] + static_cast<double>(a);
}

template <class T>
struct MomentTerm {
  const T* x;
  T about;
  GRADUS_TARGET void vector(int64_t i, typename Vec<T>::Type& a, typename Vec<T>::Type& b) const {
    const auto d = Vec<T>::load(x + i) - about;
    a += d, b += d * d;
  }
  GRADUS_TARGET void element(int64_t i, T& a, T& b) const {
    const T d = x[i] - about;
    a += d, b += d * d;
  }
};

template <class T, bool kWeighted>
struct GradTerm {
  const T *grad, *x, *weight;
  T mean;
  GRADUS_TARGET void vector(int64_t i, typename Vec<T>::Type& a, typename Vec<T>::Type& b) const {
    auto g = Vec<T>::load(grad + i);
    if constexpr (kWeighted) g *= Vec<T>::load(weight + i);
    a += g, b += g * (Vec<T>::load(x + i) - mean);
  }
  GRADUS_TARGET void element(int64_t i, T& a, T& b) const {
    const T g = kWeighted ? grad[i] * weight[i] : grad[i];
    a += g, b += g * (x[i] - mean);
  }
};

template <class T>
GRADUS_TARGET double moments(int64_t n, const T* x, T about, double& squares) {
  return two_sums<T>(n, squares, MomentTerm<T>{x, about});
}

template <class T>
GRADUS_TARGET double grad_sums(int64_t n, const T* grad, const T* x, T mean, const T* weight,
                               double& products) {
  return weight ? two_sums<T>(n, products, GradTerm<T, true>{grad, x, weight, mean})
                : two_sums<T>(n, products, GradTerm<T, false>{grad, x, weight, mean});
}

template <class T>
GRADUS_TARGET void apply(int64_t n, const T* x, T mean, T scale, T shift, const T* weight,
                         const T* bias, T* out) {
  if (weight && bias) {
    for (int64_t i = 0; i < n; ++i) out[i] = (x[i] - mean) * scale * weight[i] + (shift + bias[i]);
  } else if (weight) {
    for (int64_t i = 0; i < n; ++i) out[i] = (x[i] - mean) * scale * weight[i] + shift;
  } else {
    for (int64_t i = 0; i < n; ++i)
      out[i] = (x[i] - mean) * scale + (bias ? shift + bias[i] : shift);
  }
}

template <class T>
GRADUS_TARGET void apply_grad(int64_t n, const T* grad, const T* x, T mean, T scale, T shift,
                              T slope, const T* weight, T* out) {
  if (weight) {
    for (int64_t i = 0; i < n; ++i)
      out[i] = grad[i] * weight[i] * scale - shift - (x[i] - mean) * slope;
  } else {
    for (int64_t i = 0; i < n; ++i) out[i] = grad[i] * scale - shift - (x[i] - mean) * slope;
  }
}

template <class T>
GRADUS_TARGET void add_products(int64_t rows, int64_t n, const T* grad, const T* x, const T* mean,
                                const T* rstd, T* weight_grad, T* bias_grad) {
  int64_t i = 0;
  for (; i + Vec<T>::kLanes <= n; i += Vec<T>::kLanes) {
    auto weight = Vec<T>::load(weight_grad + i), bias = Vec<T>::load(bias_grad + i);
    for (int64_t r = 0; r < rows; ++r) {
      const auto g = Vec<T>::load(grad + r * n + i);
      weight += g * ((Vec<T>::load(x + r * n + i) - mean[r]) * rstd[r]);
      bias += g;
    }
    Vec<T>::store(weight_grad + i, weight), Vec<T>::store(bias_grad + i, bias);
  }
  for (; i < n; ++i)
    for (int64_t r = 0; r < rows; ++r) {
      weight_grad[i] += grad[r * n + i] * ((x[r * n + i] - mean[r]) * rstd[r]);
      bias_grad[i] += grad[r * n + i];
    }
}

}  // namespace
}  // namespace GRADUS_SET

template <class T>
const NormLoops<T>& NormLoops<T>::GRADUS_SET() {
  static constexpr NormLoops loops = {cpu::GRADUS_SET::moments<T>, cpu::GRADUS_SET::apply<T>,
                                      cpu::GRADUS_SET::grad_sums<T>, cpu::GRADUS_SET::apply_grad<T>,
                                      cpu::GRADUS_SET::add_products<T>};
  return loops;
}
template const NormLoops<float>& NormLoops<float>::GRADUS_SET();
template const NormLoops<double>& NormLoops<double>::GRADUS_SET();

}  // namespace gradus::cpu
