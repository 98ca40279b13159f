#include "gradus/cpu/matmul/micro_kernel.h"

#include <type_traits>

namespace gradus::cpu {

namespace {

// Rows and vectors are chosen so that the tile, a row of b and an element of a fill the registers:
// 16 of 16 bytes, 16 of 32 bytes, 32 of 64 bytes.
namespace baseline {
constexpr int kBytes = 16, kRows = 4, kVectors = 2;
}
#define GRADUS_SET baseline
#define GRADUS_TARGET
#include "gradus/cpu/matmul/micro_kernel.inc"
#undef GRADUS_SET
#undef GRADUS_TARGET

#ifdef __x86_64__
namespace avx2 {
constexpr int kBytes = 32, kRows = 6, kVectors = 2;
}
#define GRADUS_SET avx2
#define GRADUS_TARGET __attribute__((target("avx2,fma")))
#include "gradus/cpu/matmul/micro_kernel.inc"
#undef GRADUS_SET
#undef GRADUS_TARGET

namespace avx512 {
constexpr int kBytes = 64, kRows = 12, kVectors = 2;
}
#define GRADUS_SET avx512
#define GRADUS_TARGET __attribute__((target("avx512f")))
#include "gradus/cpu/matmul/micro_kernel.inc"
#undef GRADUS_SET
#undef GRADUS_TARGET
#endif

}  // namespace

template <class T>
const MicroKernel<T>& micro_kernel(InstructionSet set) {
#ifdef __x86_64__
  if constexpr (std::is_floating_point_v<T>) {
    if (set == InstructionSet::avx512) return avx512::kernel<T>;
    if (set == InstructionSet::avx2) return avx2::kernel<T>;
  }
#endif
  return baseline::kernel<T>;
}

template const MicroKernel<float>& micro_kernel(InstructionSet);
template const MicroKernel<double>& micro_kernel(InstructionSet);
template const MicroKernel<int64_t>& micro_kernel(InstructionSet);

}  // namespace gradus::cpu
