// The instruction set that a source of this folder is compiled for. The build compiles each of them
// once for every instruction set (cmake/instruction_sets.cmake) and defines
//   GRADUS_SET       the name of the set, and of the namespace that its functions stand in
//   GRADUS_VECTOR    the bytes of a vector
//   GRADUS_FEATURES  what the compiler may use beyond the baseline, or nothing
//   GRADUS_COMPLETE  whether every loop is wanted, also those that wider vectors do not speed up
// A source includes this first. Functions that use the set have the attributes GRADUS_TARGET, which
// inline all that they call. A shared function, such as one of std::vector, must not be compiled
// for more than the baseline: the linker may keep that copy for all processors.
#pragma once

#ifndef GRADUS_SET  // a tool reads the source by itself
#define GRADUS_SET baseline
#define GRADUS_VECTOR 16
#define GRADUS_COMPLETE true
#endif

#ifdef GRADUS_FEATURES
#define GRADUS_TARGET __attribute__((target(GRADUS_FEATURES), flatten))
#else
#define GRADUS_TARGET __attribute__((flatten))
#endif

// Products and sums with one rounding (tensor/math/bits.h).
#if defined(GRADUS_FEATURES) || defined(__FP_FAST_FMAF)
#define GRADUS_FMA
#endif
