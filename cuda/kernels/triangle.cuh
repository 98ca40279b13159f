// The upper or lower triangle of matrices.
#pragma once

#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/strided.cuh"
#include "gradus/cuda/kernels/vector.cuh"

namespace gradus::cuda {

// A thread has V neighbouring columns, which lie `step` elements from each other in x. `begins`
// goes over the first columns of x's rows in row-major order; `rows` of them are a matrix, and
// `tiles` blocks cover a row. Elements that are left out are not read. REQUIRES: where V > 1, step
// is 1, and all rows are aligned to V elements and whole vectors. Contract: Backend::triangle.
template <class T, int V>
__global__ void triangle_kernel(Strided<2> begins, int64_t rows, int64_t columns, int64_t step,
                                int64_t tiles, bool upper, int64_t diagonal, const T* x, T* out) {
  wait_for_earlier_kernels();
  const int64_t row_block = blockIdx.x / tiles;
  const int64_t row = row_block * blockDim.y + threadIdx.y;
  const int64_t column = ((blockIdx.x - row_block * tiles) * blockDim.x + threadIdx.x) * V;
  if (column >= columns || row >= begins.numel) return;
  // Column i of this thread's is kept where first <= i < end.
  const int64_t here = row % rows + diagonal - column;
  const int64_t first = upper ? here : 0, end = upper ? V : here + 1;
  Vector<T, V> value{};
  if (first < V && end > 0) {
    const T* const from = x + offsets_of(begins, row).at[1] + column * step;
    value = load_vector<V>(from);
#pragma unroll
    for (int i = 0; i < V; ++i)
      if (i < first || i >= end) value.at[i] = T{};
  }
  store_vector(out + row * columns + column, value);
}

}  // namespace gradus::cuda
