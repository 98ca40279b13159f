// What every processor of the architecture runs, and integers.
#define GRADUS_SET baseline
#define GRADUS_TARGET __attribute__((flatten))
#include "gradus/cpu/loops.inc"

const gradus::cpu::Loops gradus::cpu::baseline::long_loops = make_loops<int64_t>();
