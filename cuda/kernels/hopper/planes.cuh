// float32 as three planes of bfloat16, and the six products of planes that count
// (matmul_wgmma_split.cuh).
#pragma once

#include "gradus/cuda/kernels/hopper/wgmma.cuh"

namespace gradus::cuda {

// x = planes[0] + planes[1] / 2^8 + planes[2] / 2^16, exactly. So planes of small numbers are no
// smaller than these. An infinity has planes that are not finite; so has a float that rounds to
// one.
__device__ inline void split_in_three(float x, uint16_t (&planes)[3]) {
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    const BFloat16 plane(x);
    planes[i] = plane.bits;
    x = (x - static_cast<float>(plane)) * 256;
  }
}

// One plane of eight floats.
__device__ inline uint4 unit_of(const uint16_t (&planes)[8][3], int plane) {
  const auto pair = [&](int i) { return planes[i][plane] | uint32_t{planes[i + 1][plane]} << 16; };
  return {pair(0), pair(2), pair(4), pair(6)};
}

// sums = 64 terms of three planes of a and b, least products first, whose planes have so many
// boxes.
template <int N, bool kAlongA, bool kAlongB>
__device__ void multiply_planes(float (&sums)[N / 2], uint64_t a, int boxes_a, uint64_t b,
                                int boxes_b) {
  using namespace hopper;
  constexpr int kOfA[6] = {2, 0, 1, 1, 0, 0}, kOfB[6] = {0, 2, 1, 0, 1, 0};
  constexpr int kUnits = kBoxBytes / 16;
  begin_products();
#pragma unroll
  for (int p = 0; p < 6; ++p) {
    if (p == 3 || p == 5) {  // what follows is 2^8 times as large
      end_products();
      wait_for_products<0>();
#pragma unroll
      for (float& sum : sums) sum *= 1.f / 256;
      begin_products();
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
      multiply<BFloat16, N, kAlongA, kAlongB>(
          sums, a + kOfA[p] * boxes_a * kUnits + i * (kAlongA ? 128 : 2),
          b + kOfB[p] * boxes_b * kUnits + i * (kAlongB ? 128 : 2), p + i > 0);
  }
  end_products();
  wait_for_products<0>();
}

}  // namespace gradus::cuda
