#ifdef __FP_FAST_FMAF
#define GRADUS_FUSED
#endif
#define GRADUS_SET baseline
#define GRADUS_TARGET __attribute__((flatten))
#include "gradus/cpu/simd/softmax_loops.inc"

namespace gradus::cpu {

const SoftmaxSet baseline::softmax_set = {baseline::softmax_loops<float>(),
                                          baseline::softmax_loops<double>()};

}  // namespace gradus::cpu
