// What every processor of the architecture runs.
#ifdef __FP_FAST_FMAF
#define GRADUS_FUSED
#endif
#define GRADUS_SET baseline
#define GRADUS_WIDTH 16
#define GRADUS_TARGET __attribute__((flatten))
#include "gradus/cpu/simd/draws.inc"
