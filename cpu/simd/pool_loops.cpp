// The loop of a max pool for one instruction set.
#include "gradus/cpu/simd/pool_loops.h"

#include "gradus/cpu/simd/set.h"

namespace gradus::cpu {
namespace GRADUS_SET {
namespace {

// Bytes of elements that are taken at once: lines are short, and their last ones are taken by going
// back. The shortest ones are taken by kPoolBytesOfFew.
constexpr int kPoolBytes = GRADUS_VECTOR < 32 ? GRADUS_VECTOR : 32, kPoolBytesOfFew = 16;

template <class T, int bytes>
struct PoolVector {
  static constexpr int kLanes = bytes / static_cast<int>(sizeof(T));
  typedef T Type __attribute__((vector_size(bytes), aligned(sizeof(T)), may_alias));

  static GRADUS_TARGET Type load(const T* x) { return *reinterpret_cast<const Type*>(x); }
  // x[0], x[stride], ... for a stride of 1 or 2.
  static GRADUS_TARGET Type load(const T* x, int64_t stride) {
    if (stride == 1) return load(x);
    const Type a = load(x), b = load(x + kLanes - 1);
    if constexpr (kLanes == 8) return __builtin_shufflevector(a, b, 0, 2, 4, 6, 9, 11, 13, 15);
    if constexpr (kLanes == 4) return __builtin_shufflevector(a, b, 0, 2, 5, 7);
    if constexpr (kLanes == 2) return __builtin_shufflevector(a, b, 0, 3);
  }
};

template <int64_t stride, int bytes, class T, class Place>
GRADUS_TARGET __attribute__((always_inline)) inline void take_vectors(int64_t count,
                                                                      int64_t elements,
                                                                      const T* const* x,
                                                                      const Place* places, T* most,
                                                                      Place* where) {
  using Elements = PoolVector<T, bytes>;
  using Places = PoolVector<Place, bytes>;
  constexpr int kLanes = Elements::kLanes;
  typename Places::Type steps;
  for (int l = 0; l < kLanes; ++l) steps[l] = static_cast<Place>(l * stride);
  for (int64_t next = 0; next < count; next += kLanes) {
    const int64_t i = next < count - kLanes ? next : count - kLanes;
    auto so_far = Elements::load(most + i);
    auto there = Places::load(where + i);
    for (int64_t e = 0; e < elements; ++e) {
      const auto each = Elements::load(x[e] + i * stride, stride);
      const auto better = (each > so_far) | (each != each);
      const auto here = steps + static_cast<Place>(places[e] + static_cast<Place>(i * stride));
      so_far = better ? each : so_far;
      there = better ? here : there;
    }
    *reinterpret_cast<typename Elements::Type*>(most + i) = so_far;
    *reinterpret_cast<typename Places::Type*>(where + i) = there;
  }
}

// Whether the line is long enough.
template <int bytes, class T, class Place>
GRADUS_TARGET __attribute__((always_inline)) inline bool take_by_vectors(
    int64_t count, int64_t stride, int64_t elements, const T* const* x, const Place* places,
    T* most, Place* where) {
  if (count < PoolVector<T, bytes>::kLanes || stride > 2) return false;
  if (stride == 1)
    take_vectors<1, bytes>(count, elements, x, places, most, where);
  else
    take_vectors<2, bytes>(count, elements, x, places, most, where);
  return true;
}

template <class T>
GRADUS_TARGET void take_line(int64_t count, int64_t stride, int64_t elements, const T* const* x,
                             const typename PoolLoops<T>::Place* places, T* most,
                             typename PoolLoops<T>::Place* where) {
  using Place = typename PoolLoops<T>::Place;
  if (take_by_vectors<kPoolBytes>(count, stride, elements, x, places, most, where)) return;
  if (take_by_vectors<kPoolBytesOfFew>(count, stride, elements, x, places, most, where)) return;
  for (int64_t i = 0; i < count; ++i)
    for (int64_t e = 0; e < elements; ++e)
      if (const T each = x[e][i * stride]; each > most[i] || each != each)
        most[i] = each, where[i] = static_cast<Place>(places[e] + static_cast<Place>(i * stride));
}

}  // namespace
}  // namespace GRADUS_SET

template <class T>
const PoolLoops<T>& PoolLoops<T>::GRADUS_SET() {
  static constexpr PoolLoops loops = {cpu::GRADUS_SET::take_line<T>};
  return loops;
}
template const PoolLoops<float>& PoolLoops<float>::GRADUS_SET();
template const PoolLoops<double>& PoolLoops<double>::GRADUS_SET();
template const PoolLoops<int64_t>& PoolLoops<int64_t>::GRADUS_SET();

}  // namespace gradus::cpu
