// Copies to shared memory that pass no registers, and that nobody waits for before their group's
// end. Before compute capability 8.0, and in the simulator, they are plain copies.
#pragma once

#include <cstdint>

namespace gradus::cuda {

// Copies `bytes` of a unit of kBytes (4 or 16) to shared memory, and fills the rest of it with
// zeros, at some time before the group that it belongs to has been waited for.
// REQUIRES: both places are aligned to kBytes.
template <int kBytes>
__device__ void copy_later(void* to, const void* from, int bytes) {
#if !defined(GRADUS_SIMULATED) && __CUDA_ARCH__ >= 800
  const auto place = static_cast<uint32_t>(__cvta_generic_to_shared(to));
  if constexpr (kBytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(place), "l"(from), "r"(bytes)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(place), "l"(from), "r"(bytes)
                 : "memory");
#else
  for (int i = 0; i < kBytes / 4; ++i)
    static_cast<float*>(to)[i] = 4 * i < bytes ? static_cast<const float*>(from)[i] : 0.f;
#endif
}

// What this thread has begun to copy since the last call is a group.
__device__ inline void end_copy_group() {
#if !defined(GRADUS_SIMULATED) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits until at most the last kPending groups of this thread are under way.
template <int kPending>
__device__ void wait_for_copies() {
#if !defined(GRADUS_SIMULATED) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
#endif
}

}  // namespace gradus::cuda
