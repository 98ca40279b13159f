// What every processor of the architecture runs, and integers.
#ifdef __FP_FAST_FMAF
#define GRADUS_FUSED
#endif
#define GRADUS_SET baseline
#define GRADUS_TARGET __attribute__((flatten))
#include "gradus/cpu/loops.inc"

const gradus::cpu::Loops gradus::cpu::baseline::long_loops = make_loops<int64_t>();
