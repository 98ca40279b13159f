// Small convolutions of few filters or channels: a thread makes one column of the product
// (spots.cuh) and all of its rows.
//
// Idea. A tile of a product is nearly empty where there are 6 rows, and to bring the tile to shared
// memory takes longer than to add it up. Here the sums of all rows stay in registers; an element of
// b is read once for all of them, and the elements of a come from shared memory, the same for all
// threads. Several threads share the terms of a column where there are few columns.
#pragma once

#include "gradus/cuda/kernels/windows/spots.cuh"

namespace gradus::cuda {

inline constexpr int kDirectThreads = 256, kMostDirectRows = 16;

// The columns of a block, a power of two: so few that there are enough blocks for all of the GPU.
GRADUS_HD constexpr int direct_columns(int columns) {
  constexpr int kBlocks = 1024, kLeast = 32;
  int out = kLeast;
  while (out < kDirectThreads && int64_t{out} * kBlocks < columns) out *= 2;
  return out;
}

// REQUIRES: args.rows <= kRows. The grid is that of ConvolutionBlock.
template <int kRows, ConvolutionPart part>
__global__ void __launch_bounds__(kDirectThreads)
    convolution_direct(const ConvolutionArgs<float> args) {
  constexpr bool kOfWeight = part == ConvolutionPart::weight;
  alignas(16) __shared__ float a[kDirectThreads][kRows + 4];
  __shared__ Spot terms[kDirectThreads];
  __shared__ float sums[kRows][kDirectThreads];
  const int t = static_cast<int>(threadIdx.x), across = direct_columns(args.columns);
  const int lane = t / across, lanes = kDirectThreads / across;

  const ConvolutionBlock block(args, kRows, across);
  const int column = block.first_column + t % across;
  const bool valid = column < args.columns;
  const auto spot = [&](bool of_tap, int i) {
    return of_tap ? tap_spot<part>(args, i, block.group) : place_spot<part>(args, i, block.group);
  };
  constexpr int kOutside = -(1 << 30);
  const Spot mine = valid ? spot(kOfWeight, column) : Spot{0, 0, {kOutside, kOutside, kOutside}};
  float sum[kRows] = {};
  const int end = block.end(args);
  for (int first = block.begin(args); first < end; first += kDirectThreads) {
    const int count = ::min(kDirectThreads, end - first);
    __syncthreads();  // those before were read
    terms[t] = spot(!kOfWeight, first + ::min(t, count - 1));
    __syncthreads();
    for (int i = t; i < count * kRows; i += kDirectThreads) {
      const int term = i / kRows, row = i % kRows;
      a[term][row] = row < args.rows ? args.a[row * args.a_row + terms[term].in_other] : 0;
    }
    __syncthreads();
#pragma unroll 4
    for (int i = lane; i < count; i += lanes) {
      const Spot term = terms[i];
      const float b = is_inside(args, mine, term) ? args.b[mine.in_b + term.in_b] : 0;
#pragma unroll
      for (int row = 0; row < kRows; ++row) sum[row] += a[i][row] * b;
    }
  }

#pragma unroll
  for (int row = 0; row < kRows; ++row) sums[row][t] = sum[row];
  __syncthreads();
  // The lanes share the rows: each adds up what all have of some, in order.
  float* const out = block.out(args);
  for (int row = lane; row < args.rows && valid; row += lanes) {
    float total = block.bias(args, row);
    for (int l = 0; l < lanes; ++l) total += sums[row][l * across + t % across];
    out[row * args.out_row + mine.in_other] = total;
  }
}

}  // namespace gradus::cuda
