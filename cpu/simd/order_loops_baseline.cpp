// What every processor of the architecture runs.
#define GRADUS_SET baseline
#define GRADUS_VECTOR 16
#define GRADUS_TARGET __attribute__((flatten))
#include "gradus/cpu/simd/order_loops.inc"
