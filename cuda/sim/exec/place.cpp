// The variables threadIdx, blockIdx, blockDim and gridDim.
#include "gradus/cuda/sim/exec/place.h"

#include <algorithm>

// The variables lie side by side: all start as zero, and this file has no other thread-local
// variable.
constinit thread_local uint3 gradus_sim_thread_index{}, gradus_sim_block_index{};
constinit thread_local dim3 gradus_sim_block_size{0, 0, 0}, gradus_sim_grid_size{0, 0, 0};

gradus::cuda::sim::Range gradus::cuda::sim::place_variables() {
  const auto [least, most] = std::minmax({reinterpret_cast<uintptr_t>(&gradus_sim_thread_index),
                                          reinterpret_cast<uintptr_t>(&gradus_sim_block_index),
                                          reinterpret_cast<uintptr_t>(&gradus_sim_block_size),
                                          reinterpret_cast<uintptr_t>(&gradus_sim_grid_size)});
  return {least, most + sizeof(uint3)};
}
