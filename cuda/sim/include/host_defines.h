// CUDA's declaration specifiers, for the host compiler: on the simulator every function is a host
// function.
#pragma once

#define __host__
#define __device__
#define __global__
#define __grid_constant__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __forceinline__ inline __attribute__((always_inline))
// Empty, for the standard library's own headers spell an attribute so; it is a hint anyway.
#define __noinline__
#define __align__(n) __attribute__((aligned(n)))

// Each worker runs one block at a time, so one copy a worker is one copy a block.
#define __shared__ thread_local

// The section tells it from other variables. Each has its own, since constant ones and others may
// not share one.
#define __constant__ GRADUS_SIM_CONSTANT(__COUNTER__)
#define GRADUS_SIM_CONSTANT(number) GRADUS_SIM_SECTION(gradus_constant_, number)
#define GRADUS_SIM_SECTION(name, number) __attribute__((section(#name #number)))

#define __managed__                                                                         \
  static_assert(false,                                                                      \
                "__managed__ variables are not simulated: make it __device__, and copy it " \
                "with cudaMemcpyToSymbol and cudaMemcpyFromSymbol");
