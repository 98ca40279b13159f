// CUDA's declaration specifiers, for the host compiler: on the simulator every function is a host
// function.
#pragma once

#define __host__
#define __device__
#define __global__
#define __grid_constant__
#define __launch_bounds__(...)
#define __forceinline__ inline __attribute__((always_inline))
// Empty, for the standard library's own headers spell an attribute so; it is a hint anyway.
#define __noinline__
#define __align__(n) __attribute__((aligned(n)))

// Each worker runs one block at a time, so one copy a worker is one copy a block.
#define __shared__ thread_local

// One copy for all devices, that cudaMemcpyToSymbol writes. The section tells it from other
// variables of the host; of const variables it would have to be another.
#define __constant__ __attribute__((section("gradus_constant")))
