// The products that the lanes of a warp make together: the twin of the PTX instruction mma.
#pragma once

#include <sim/warp.h>

namespace gradus::cuda::sim {

// A lane's part of mma.m16n8k8 (cuda/kernels/tensor_core.cuh says which).
struct Fragments {
  float c[4];
  uint32_t a[4], b[2];
};

__forceinline__ void multiply_add_tf32(float (&c)[4], const uint32_t (&a)[4],
                                       const uint32_t (&b)[2]) {
  Fragments mine = {{c[0], c[1], c[2], c[3]}, {a[0], a[1], a[2], a[3]}, {b[0], b[1]}};
  warp_call(WarpOp::multiply_add, ~0u, bits_of(&mine));
  for (int i = 0; i < 4; ++i) c[i] = mine.c[i];
}

}  // namespace gradus::cuda::sim
