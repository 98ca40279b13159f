#ifdef __x86_64__
#define GRADUS_FUSED
#define GRADUS_SET avx2
#define GRADUS_WIDTH 32
#define GRADUS_TARGET __attribute__((target("avx2,fma"), flatten))
#include "gradus/cpu/simd/draws.inc"
#endif
