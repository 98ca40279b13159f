// Blocks of a cluster send each other numbers, whose bytes a barrier of the receiver counts
// (st.async). The barrier of the cluster has two halves (barrier.cluster). Compute capability 9.0
// has both (PTX ISA, "Data Movement and Conversion Instructions", "Parallel Synchronization and
// Communication").
#pragma once

#include "gradus/cuda/kernels/hopper/wgmma.cuh"

namespace gradus::cuda::hopper {

#ifdef GRADUS_SIMULATED
using sim::arrive_at_cluster, sim::wait_for_cluster;

__device__ __forceinline__ void send(void* to, const uint4& value, uint64_t* barrier,
                                     unsigned block) {
  auto* const there = static_cast<uint32_t*>(sim::shared_of_block(to, block));
  auto* const counts = static_cast<uint64_t*>(sim::shared_of_block(barrier, block));
  const uint32_t parts[] = {value.x, value.y, value.z, value.w};
  for (int i = 0; i < 4; ++i) sim::store_later(there + i, parts[i], counts);
}
#else
// All threads of all blocks arrive, go on, and wait for one another later. Arriving publishes no
// writes.
__device__ inline void arrive_at_cluster() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
__device__ inline void wait_for_cluster() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
// Writes 16 bytes to the same place in another block. The barrier at the same place there counts
// them when they have come.
__device__ inline void send(void* to, const uint4& value, const uint64_t* barrier, unsigned block) {
  asm volatile(
      "{\n.reg .b32 there, counts;\nmapa.shared::cluster.u32 there, %0, %2;\n"
      "mapa.shared::cluster.u32 counts, %1, %2;\n"
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [there], "
      "{%3, %4, %5, %6}, [counts];\n}" ::"r"(shared_address(to)),
      "r"(shared_address(barrier)), "r"(block), "r"(value.x), "r"(value.y), "r"(value.z),
      "r"(value.w)
      : "memory");
}
#endif

}  // namespace gradus::cuda::hopper
