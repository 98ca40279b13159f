#ifdef __x86_64__
#define GRADUS_SET avx2
#define GRADUS_VECTOR 32
#define GRADUS_TARGET __attribute__((target("avx2,fma"), flatten))
#include "gradus/cpu/simd/order_loops.inc"
#endif
