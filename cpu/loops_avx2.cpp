#ifdef __x86_64__
#define GRADUS_FUSED
#define GRADUS_SET avx2
#define GRADUS_TARGET __attribute__((target("avx2,fma"), flatten))
#include "gradus/cpu/loops.inc"
#include "gradus/cpu/loops_in_steps.inc"

namespace gradus::cpu {

const Loops avx2::float_loops = avx2::make_loops_in_steps();
const Loops avx2::double_loops = avx2::make_loops<double>();

}  // namespace gradus::cpu
#endif
