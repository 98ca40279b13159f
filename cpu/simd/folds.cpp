#include "gradus/cpu/simd/folds.h"

namespace gradus::cpu {

template <class T>
const FoldTable<T>& fold_table([[maybe_unused]] InstructionSet set) {
#ifdef __x86_64__
  if (set == InstructionSet::avx512) return avx512::fold_table<T>();
  if (set == InstructionSet::avx2) return avx2::fold_table<T>();
#endif
  return baseline::fold_table<T>();
}

template const FoldTable<float>& fold_table(InstructionSet);
template const FoldTable<double>& fold_table(InstructionSet);
template const FoldTable<int64_t>& fold_table(InstructionSet);
template const FoldTable<int32_t>& fold_table(InstructionSet);
template const FoldTable<int16_t>& fold_table(InstructionSet);
template const FoldTable<int8_t>& fold_table(InstructionSet);
template const FoldTable<uint8_t>& fold_table(InstructionSet);

}  // namespace gradus::cpu
