// The upper or lower triangle of matrices.
#pragma once

#include "gradus/cuda/kernels/early.cuh"
#include "gradus/cuda/kernels/strided.cuh"

namespace gradus::cuda {

// blockDim.y rows of all matrices to a block, each of which `tiles` blocks cover. `walk` goes over
// x in row-major order. Contract: Backend::triangle.
template <class T>
__global__ void triangle_kernel(Strided<2> walk, int64_t rows, int64_t columns, int64_t tiles,
                                bool upper, int64_t diagonal, const T* x, T* out) {
  wait_for_earlier_kernels();
  const int64_t row_block = blockIdx.x / tiles;
  const int64_t row = row_block * blockDim.y + threadIdx.y;
  const int64_t column = (blockIdx.x - row_block * tiles) * blockDim.x + threadIdx.x;
  if (column >= columns || row * columns >= walk.numel) return;
  const int64_t above = column - row % rows;
  const int64_t i = row * columns + column;
  const bool kept = upper ? above >= diagonal : above <= diagonal;
  out[i] = kept ? x[offsets_of(walk, i).at[1]] : T{};
}

}  // namespace gradus::cuda
