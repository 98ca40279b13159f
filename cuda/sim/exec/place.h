// The variables that threadIdx, blockIdx, blockDim and gridDim of kernels read (sim/block.h).
#pragma once

#include <vector_types.h>

#include "gradus/cuda/sim/runtime/memory.h"

extern "C" {
#define GRADUS_SIM_PLACE [[gnu::tls_model("initial-exec")]]
extern constinit thread_local uint3 gradus_sim_thread_index GRADUS_SIM_PLACE;
extern constinit thread_local uint3 gradus_sim_block_index GRADUS_SIM_PLACE;
extern constinit thread_local dim3 gradus_sim_block_size GRADUS_SIM_PLACE;
extern constinit thread_local dim3 gradus_sim_grid_size GRADUS_SIM_PLACE;
#undef GRADUS_SIM_PLACE
}

namespace gradus::cuda::sim {
// The addresses of the variables in this thread of the operating system, where they lie side by
// side. Kernels may read them.
Range place_variables();
}  // namespace gradus::cuda::sim
