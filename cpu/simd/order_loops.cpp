#include "gradus/cpu/simd/order_loops.h"

namespace gradus::cpu {

template <class T>
const OrderLoops<T>& order_loops([[maybe_unused]] InstructionSet set) {
#ifdef __x86_64__
  if (set == InstructionSet::avx512) return avx512::order_loops<T>();
  if (set == InstructionSet::avx2) return avx2::order_loops<T>();
#endif
  return baseline::order_loops<T>();
}

template const OrderLoops<float>& order_loops(InstructionSet);
template const OrderLoops<double>& order_loops(InstructionSet);
template const OrderLoops<int64_t>& order_loops(InstructionSet);

}  // namespace gradus::cpu
