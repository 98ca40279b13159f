#ifdef __FP_FAST_FMAF
#define GRADUS_FUSED
#endif
#define GRADUS_SET baseline
#define GRADUS_TARGET __attribute__((flatten))
#include "gradus/cpu/softmax_loops.inc"
