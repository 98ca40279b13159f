// How attention_tiles.cuh multiplies tiles of floats, as sums of two TF32 numbers or as one.
//
// Idea. Exact products are those of matmul/tensor_cores.cuh: each float becomes two TF32 numbers,
// three products replace one, and tensor cores add only 8 terms at a time. Where TF32 will do,
// floats are rounded to it and tensor cores add all. The terms of a sum may go in any order. So a
// lane that has two neighbouring columns of weights takes them as terms 4 apart, with the two rows
// of the other factor that fit.
// Cost. Every warp splits what it loads, the factors too: they stay in shared memory.
// Next. Tiles that are split once for all warps.
#pragma once

#include "gradus/cuda/kernels/tensor_core.cuh"

namespace gradus::cuda {

// W: the width of tiles. The rows of tiles are 16 bytes apart in banks.
template <int W, bool kExact, int down, int slopes = 32, int slopes_of_keys = 16, int resident = 2>
struct FloatProducts {
  using Element = float;
  static constexpr int kWidth = W, kPitch = W + 4, kDown = down, kTileRows = 32;
  static constexpr bool kInRegisters = false;
  static constexpr int kScores = 32, kSlopes = slopes, kSlopesOfKeys = slopes_of_keys;
  static constexpr int kResident = resident, kResidentKeys = resident;
  using Factors = const float*;
  template <int kColumns>
  using Sums = float[kDown][kColumns / 8][4];

  __device__ static void load_factors(const float* from, Factors& out) { out = from; }

  // A fragment of so many elements.
  template <int kCount>
  struct Fragment {
    uint32_t big[kCount], small[kCount];
    __device__ void set(int i, float x) {
      if constexpr (kExact) {
        const Halves both = halves(x);
        big[i] = both.big, small[i] = both.small;
      } else {
        // Rounds: lower bits do not count. NaN would become 0.
        big[i] = __float_as_uint(x) + (x == x ? 0x1000 : 0);
      }
    }
  };
  __device__ static void multiply_add(float (&sum)[4], const Fragment<4>& a, const Fragment<2>& b) {
    if constexpr (kExact) {
      float terms[4] = {};
      multiply_add_tf32(terms, a.small, b.big);
      multiply_add_tf32(terms, a.big, b.small);
      multiply_add_tf32(terms, a.big, b.big);
#pragma unroll
      for (int e = 0; e < 4; ++e) sum[e] += terms[e];
    } else {
      multiply_add_tf32(sum, a.big, b.big);
    }
  }

  // out += the products of the warp's rows with kColumns rows of b.
  template <int kColumns>
  __device__ static void products(const Factors& a, const float* b, Sums<kColumns>& out) {
#pragma unroll 2
    for (int k = 0; k < W; k += 8) {
      Fragment<4> x[kDown];
      uint32_t loaded[4];
#pragma unroll
      for (int m = 0; m < kDown; ++m) {
        load_rows(a + 16 * m * kPitch + k, kPitch, loaded);
#pragma unroll
        for (int e = 0; e < 4; ++e) x[m].set(e, __uint_as_float(loaded[e]));
      }
#pragma unroll
      for (int j = 0; j < kColumns / 8; j += 2) {
        load_rows(b + 8 * j * kPitch + k, kPitch, loaded);
#pragma unroll
        for (int right = 0; right < 2; ++right) {
          Fragment<2> y;
          y.set(0, __uint_as_float(loaded[right]));
          y.set(1, __uint_as_float(loaded[right + 2]));
#pragma unroll
          for (int m = 0; m < kDown; ++m) multiply_add(out[m][j + right], x[m], y);
        }
      }
    }
  }
  // out += the weights times b, whose rows are their columns.
  template <int kColumns>
  __device__ static void accumulate(const Sums<kColumns>& weights, const float* b, Sums<W>& out) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const float* const mine = b + lane % 4 * 2 * kPitch + lane / 4;
#pragma unroll
    for (int t = 0; t < kColumns / 8; ++t) {
      Fragment<4> x[kDown];
#pragma unroll
      for (int m = 0; m < kDown; ++m)
#pragma unroll
        for (int e = 0; e < 4; ++e) x[m].set(e, weights[m][t][e % 2 * 2 + e / 2]);
#pragma unroll
      for (int j = 0; j < W / 8; ++j) {
        Fragment<2> y;
        y.set(0, mine[8 * t * kPitch + 8 * j]);
        y.set(1, mine[(8 * t + 1) * kPitch + 8 * j]);
#pragma unroll
        for (int m = 0; m < kDown; ++m) multiply_add(out[m][j], x[m], y);
      }
    }
  }
  __device__ static void store(float* to, float first, float second) {
    to[0] = first, to[1] = second;
  }
};

}  // namespace gradus::cuda
