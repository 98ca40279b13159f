#ifdef __x86_64__
#define GRADUS_SET avx512
#define GRADUS_VECTOR 64
#define GRADUS_TARGET __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,fma"), flatten))
#include "gradus/cpu/simd/searches.inc"
#endif
