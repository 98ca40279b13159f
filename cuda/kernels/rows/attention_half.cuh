// How attention_tiles.cuh multiplies tiles of half types.
//
// Idea. A warp keeps its own rows in registers, as factors. Weights are rounded to the half type.
// With 32 rows to a warp, an instruction that loads shared memory feeds four of tensor cores; with
// 16 only two, but more warps fit. So short sequences take 16 and long ones 32.
#pragma once

#include "gradus/cuda/kernels/tensor_core.cuh"

namespace gradus::cuda {

// W: the width of tiles. The rows of tiles are 16 bytes apart in banks, so that a warp's reads of 8
// rows meet no bank twice. down: tiles of 16 rows to a warp.
template <class T, int W, int down, int scores = 64, int slopes = 32, int slopes_of_keys = 16,
          int resident = 2, int resident_keys = 2>
struct HalfProducts {
  using Element = T;
  static constexpr int kWidth = W, kPitch = W + 8, kDown = down, kTileRows = 64;
  static constexpr bool kInRegisters = true;
  // Columns of a step: of the forward pass, of the gradients of queries, and of keys. And blocks
  // that share a multiprocessor.
  static constexpr int kScores = scores, kSlopes = slopes, kSlopesOfKeys = slopes_of_keys;
  static constexpr int kResident = resident, kResidentKeys = resident_keys;
  using Factors = uint32_t[kDown][W / 16][4];
  template <int kColumns>
  using Sums = float[kDown][kColumns / 8][4];

  __device__ static void load_factors(const T* from, Factors& out) {
#pragma unroll
    for (int m = 0; m < kDown; ++m)
#pragma unroll
      for (int k = 0; k < W / 16; ++k)
        load_rows(from + 16 * m * kPitch + 16 * k, kPitch, out[m][k]);
  }
  // out += the products of the warp's rows with kColumns rows of b.
  template <int kColumns>
  __device__ static void products(const Factors& a, const T* b, Sums<kColumns>& out) {
#pragma unroll
    for (int k = 0; k < W / 16; ++k)
#pragma unroll
      for (int j = 0; j < kColumns / 8; j += 2) {
        uint32_t x[4];
        load_rows(b + 8 * j * kPitch + 16 * k, kPitch, x);
        const uint32_t y[2][2] = {{x[0], x[2]}, {x[1], x[3]}};
#pragma unroll
        for (int m = 0; m < kDown; ++m) {
          multiply_add_halves<T>(out[m][j], a[m][k], y[0]);
          multiply_add_halves<T>(out[m][j + 1], a[m][k], y[1]);
        }
      }
  }
  // out += the weights times b, whose rows are their columns.
  template <int kColumns>
  __device__ static void accumulate(const Sums<kColumns>& weights, const T* b, Sums<W>& out) {
#pragma unroll
    for (int t = 0; t < kColumns / 16; ++t) {
      uint32_t x[kDown][4];
#pragma unroll
      for (int m = 0; m < kDown; ++m)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const float* const from = weights[m][2 * t + e / 2] + e % 2 * 2;
          x[m][e] = both_halves<T>(from[0], from[1]);
        }
#pragma unroll
      for (int j = 0; j < W / 8; j += 2) {
        uint32_t y[2][2];
        load_columns(b + 16 * t * kPitch + 8 * j, kPitch, y);
#pragma unroll
        for (int m = 0; m < kDown; ++m) {
          multiply_add_halves<T>(out[m][j], x[m], y[0]);
          multiply_add_halves<T>(out[m][j + 1], x[m], y[1]);
        }
      }
    }
  }
  __device__ static void store(T* to, float first, float second) {
    *reinterpret_cast<uint32_t*>(to) = both_halves<T>(first, second);
  }
};

}  // namespace gradus::cuda
