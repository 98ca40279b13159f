// The instructions of tensor cores, and copies to shared memory that nobody waits for, with what
// the simulator, and for copies GPUs before compute capability 8.0, do in their place.
#pragma once

#include <cstdint>

namespace gradus::cuda {

// What a lane holds of a 16 x 8 matrix a, an 8 x 8 matrix b and a 16 x 8 matrix c, where
// group = lane / 4 and member = lane % 4 (PTX ISA, "Matrix Fragments for mma.m16n8k8"):
//   a: (group, member), (group + 8, member), (group, member + 4), (group + 8, member + 4);
//   b: (member, group), (member + 4, group);
//   c: (group, 2 member), (group, 2 member + 1), (group + 8, 2 member), (group + 8, 2 member + 1).

// c += a b. The elements of a and b are bits of floats, of whose fractions the first 10 bits count
// (TF32). Compute capability 8.0 and up; elsewhere it does nothing.
__device__ inline void multiply_add_tf32(float (&c)[4], const uint32_t (&a)[4],
                                         const uint32_t (&b)[2]) {
#if defined(GRADUS_SIMULATED)
  sim::multiply_add_tf32(c, a, b);
#elif __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

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
