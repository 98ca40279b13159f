#ifdef __x86_64__
#define GRADUS_FUSED
#define GRADUS_SET avx2
#define GRADUS_TARGET __attribute__((target("avx2,fma"), flatten))
#include "gradus/cpu/simd/softmax_loops.inc"

namespace gradus::cpu {

const SoftmaxSet avx2::softmax_set = {avx2::softmax_loops<float>(), avx2::softmax_loops<double>()};

}  // namespace gradus::cpu
#endif
