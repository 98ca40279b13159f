// What every processor of the architecture runs, and integers.
#ifdef __FP_FAST_FMAF
#define GRADUS_FUSED
#endif
#define GRADUS_SET baseline
#define GRADUS_TARGET __attribute__((flatten))
#include "gradus/cpu/loops.inc"

namespace gradus::cpu {

const Loops baseline::float_loops = baseline::make_loops<float>();
const Loops baseline::double_loops = baseline::make_loops<double>();
const Loops baseline::long_loops = baseline::make_loops<int64_t>();

}  // namespace gradus::cpu
