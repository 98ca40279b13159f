#include "gradus/cpu/matmul/vector_kernel.h"

#include <type_traits>

#include "gradus/cpu/instruction_set.h"

namespace gradus::cpu {

namespace {

#define GRADUS_SET baseline
#define GRADUS_TARGET
#include "gradus/cpu/matmul/vector_kernel.inc"
#undef GRADUS_SET
#undef GRADUS_TARGET

#ifdef __x86_64__
#define GRADUS_SET avx2
#define GRADUS_TARGET __attribute__((target("avx2,fma")))
#include "gradus/cpu/matmul/vector_kernel.inc"
#undef GRADUS_SET
#undef GRADUS_TARGET

#define GRADUS_SET avx512
#define GRADUS_TARGET __attribute__((target("avx512f,avx512dq")))
#include "gradus/cpu/matmul/vector_kernel.inc"
#undef GRADUS_SET
#undef GRADUS_TARGET
#endif

template <class T>
VectorKernel<T> choose() {
#ifdef __x86_64__
  if (std::is_floating_point_v<T> && instruction_set() == InstructionSet::avx512)
    return {avx512::rows<T>, avx512::columns<T>};
  if (std::is_floating_point_v<T> && instruction_set() == InstructionSet::avx2)
    return {avx2::rows<T>, avx2::columns<T>};
#endif
  return {baseline::rows<T>, baseline::columns<T>};
}

}  // namespace

template <class T>
const VectorKernel<T>& vector_kernel() {
  static const VectorKernel<T> chosen = choose<T>();
  return chosen;
}

template const VectorKernel<float>& vector_kernel();
template const VectorKernel<double>& vector_kernel();
template const VectorKernel<int64_t>& vector_kernel();

}  // namespace gradus::cpu
