// GELU and its derivative of numbers of half types. All bits of float32 would take so many
// instructions that these, and not memory, limit the kernels.
#pragma once

#include "gradus/cuda/kernels/formulas/power_of_2.cuh"

namespace gradus::cuda {

// The share of a normal distribution below x, with 17 bits. The share beyond t is 2^-g(t). The
// polynomial has the least largest error up to 5.75, where 2^-28 is left, and grows further on.
__device__ inline float half_normal_share(float x) {
  constexpr float kG[] = {0x1.ffff64p-1f,  0x1.26b852p+0f,  0x1.d578aep-2f,   0x1.b9ff98p-5f,
                          -0x1.16ade6p-7f, 0x1.e7525ep-11f, -0x1.01b338p-14f, 0x1.ea084ap-20f};
  const float t = fabsf(x);
  float g = kG[7];
#pragma unroll
  for (int i = 6; i >= 0; --i) g = fmaf(g, t, kG[i]);
  const float beyond = power_of_2(-g);
  return x < 0 ? beyond : 1 - beyond;
}

struct GeluOfHalf {
  __device__ float operator()(float x) const { return x * half_normal_share(x); }
};

// grad times the derivative at x.
struct GeluGradOfHalf {
  __device__ float operator()(float grad, float x) const {
    constexpr float kScale = 0.3989422804014327f;          // 1 / sqrt(2 pi)
    constexpr float kExponent = -0.72134752044448170368f;  // of 2 in the density, times x^2
    return grad * (half_normal_share(x) + kScale * x * power_of_2(kExponent * x * x));
  }
};

}  // namespace gradus::cuda
