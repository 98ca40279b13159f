// The loops of attention for one instruction set. Sums are kept in as many lanes as 64 bytes hold,
// so that all sets add in one order.
#include "gradus/cpu/simd/attention_loops.h"

#include <limits>

#include "gradus/cpu/simd/set.h"
#include "gradus/tensor/math/math.h"

namespace gradus::cpu {
namespace GRADUS_SET {
namespace {

template <class T>
inline constexpr int kAttentionLanes = 64 / sizeof(T);

template <class T>
T folded_sum(const T* lane) {
  T half[kAttentionLanes<T>];
  for (int l = 0; l < kAttentionLanes<T>; ++l) half[l] = lane[l];
  for (int reach = kAttentionLanes<T> / 2; reach > 0; reach /= 2)
    for (int l = 0; l < reach; ++l) half[l] += half[l + reach];
  return half[0];
}

// The sum of term(i) for i < n.
template <class T, class F>
T lane_sum(int64_t n, const F& term) {
  constexpr int kLanes = kAttentionLanes<T>;
  T lane[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
#pragma omp simd
    for (int l = 0; l < kLanes; ++l) lane[l] += term(i + l);
  for (int l = 0; i + l < n; ++l) lane[l] += term(i + l);
  return folded_sum(lane);
}

template <class T>
void scaled(int64_t n, T scale, const T* mask, int64_t mask_step, T* scores) {
  if (mask == nullptr) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) scores[i] *= scale;
  } else if (mask_step == 1) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) scores[i] = scores[i] * scale + mask[i];
  } else {
    for (int64_t i = 0; i < n; ++i) scores[i] = scores[i] * scale + mask[i * mask_step];
  }
}

// The number about which exponents are taken: no infinity, whose difference from itself is no
// number.
template <class T>
T center_of(T top) {
  return top == -std::numeric_limits<T>::infinity() ? T(0) : top;
}

template <class T>
GRADUS_TARGET T weigh(int64_t n, T scale, const T* mask, int64_t mask_step, T* scores, T* top,
                      T* sum) {
  scaled(n, scale, mask, mask_step, scores);
  T most = *top;
#pragma omp simd reduction(max : most)
  for (int64_t i = 0; i < n; ++i) most = scores[i] > most ? scores[i] : most;
  const T about = center_of(most), factor = math::exp(*top - about);
  const T more = lane_sum<T>(n, [=](int64_t i) {
    const T weight = math::exp(scores[i] - about);
    scores[i] = weight;
    return weight;
  });
  *top = most;
  *sum = *sum * factor + more;
  return factor;
}

template <class T>
GRADUS_TARGET void weigh_again(int64_t n, T scale, const T* mask, int64_t mask_step, T log_sum,
                               T* scores) {
  scaled(n, scale, mask, mask_step, scores);
  const T about = center_of(log_sum);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) scores[i] = math::exp(scores[i] - about);
}

template <class T>
GRADUS_TARGET void grad(int64_t n, T scale, T mean, const T* weights, T* grads) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) grads[i] = weights[i] * (grads[i] - mean) * scale;
}

template <class T>
GRADUS_TARGET void add(int64_t n, T factor, const T* x, T* out) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) out[i] = out[i] * factor + x[i];
}

template <class T>
GRADUS_TARGET T dot(int64_t n, const T* x, const T* y) {
  return lane_sum<T>(n, [=](int64_t i) { return x[i] * y[i]; });
}

template <class T>
constexpr AttentionLoops<T> attention_loops() {
  return {weigh<T>, weigh_again<T>, grad<T>, add<T>, dot<T>};
}

}  // namespace
}  // namespace GRADUS_SET
}  // namespace gradus::cpu

#if GRADUS_VECTOR == 64
#include "gradus/cpu/simd/attention_avx512.inc"
#endif

namespace gradus::cpu {

template <class T>
const AttentionLoops<T>& AttentionLoops<T>::GRADUS_SET() {
  static constexpr AttentionLoops loops = cpu::GRADUS_SET::attention_loops<T>();
  return loops;
}
template const AttentionLoops<float>& AttentionLoops<float>::GRADUS_SET();
template const AttentionLoops<double>& AttentionLoops<double>::GRADUS_SET();

}  // namespace gradus::cpu
