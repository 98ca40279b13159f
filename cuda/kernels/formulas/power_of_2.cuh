// 2^x in one instruction, with 22 bits.
#pragma once

#include <cuda_runtime.h>

namespace gradus::cuda {

__device__ inline float power_of_2(float x) {
#if defined(GRADUS_SIMULATED)
  return exp2f(x);
#else
  float out;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(x));
  return out;
#endif
}

}  // namespace gradus::cuda
