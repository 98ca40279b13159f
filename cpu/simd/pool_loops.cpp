// The loop of a max pool for one instruction set.
#include "gradus/cpu/simd/pool_loops.h"

#include "gradus/cpu/simd/set.h"

namespace gradus::cpu {
namespace GRADUS_SET {
namespace {

template <class T, class Place>
GRADUS_TARGET __attribute__((always_inline)) inline void take_each(int64_t count, int64_t stride,
                                                                   const T* x, Place place,
                                                                   T* __restrict most,
                                                                   Place* __restrict where) {
  const auto step = static_cast<Place>(stride);
  for (int64_t i = 0; i < count; ++i) {
    const T each = x[i * stride];
    const bool better = each > most[i] || each != each;
    most[i] = better ? each : most[i];
    where[i] = better ? static_cast<Place>(place + static_cast<Place>(i) * step) : where[i];
  }
}

// The strides of most pools are constants, so that their loads become vector code.
template <class T>
GRADUS_TARGET void take_line(int64_t count, int64_t stride, const T* x,
                             typename PoolLoops<T>::Place place, T* most,
                             typename PoolLoops<T>::Place* where) {
  if (stride == 1) return take_each(count, 1, x, place, most, where);
  if (stride == 2) return take_each(count, 2, x, place, most, where);
  take_each(count, stride, x, place, most, where);
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
