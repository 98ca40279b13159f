// Matrices of tensor cores (nvcuda::wmma) that a warp loads or stores wrongly.
#include <mma.h>

#include "tests/sim/planted/planted.h"

namespace gradus::planted {
namespace {

namespace wmma = nvcuda::wmma;

using Sums = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

// Each half of the warp takes a matrix of its own.
__global__ void lanes_name_two_matrices(float* out) {
  Sums sums;
  wmma::fill_fragment(sums, 1.f);
  float* const mine = out + threadIdx.x / 16 * 256;
  wmma::store_matrix_sync(mine, sums, 16, wmma::mem_row_major);  // BUG lanes_name_two_matrices
}
const Plant lanes_name_two_matrices_bug("lanes_name_two_matrices", "warp", [] {
  const Buffer<float> out(512, 0.f);
  launch(lanes_name_two_matrices, {1, 32}, out);
  cudaDeviceSynchronize();
});

// 24 rows are a fragment and a half.
__global__ void fragment_beyond_the_end(const float* x, float* out, int rows) {
  for (int row = 0; row < rows; row += 16) {
    Sums part;
    const float* const from = x + row * 16;
    wmma::load_matrix_sync(part, from, 16, wmma::mem_row_major);  // BUG fragment_beyond_the_end
    wmma::store_matrix_sync(out + row * 16, part, 16, wmma::mem_row_major);
  }
}
const Plant fragment_beyond_the_end_bug("fragment_beyond_the_end", "out_of_bounds", [] {
  const Buffer<float> x(24 * 16, 1.f), out(32 * 16, 0.f);
  launch(fragment_beyond_the_end, {1, 32}, x, out, 24);
  cudaDeviceSynchronize();
});

// A lane reads what other lanes have stored, and nobody has waited for them.
__global__ void fragment_without_syncwarp(float* out) {
  __shared__ __align__(32) float tile[256];
  for (unsigned i = threadIdx.x; i < 256; i += 32) tile[i] = 0;
  __syncwarp();
  Sums sums;
  wmma::fill_fragment(sums, 1.f);
  wmma::store_matrix_sync(tile, sums, 16, wmma::mem_row_major);  // BUG fragment_without_syncwarp
  for (unsigned i = threadIdx.x; i < 256; i += 32)
    out[i] = tile[i];  // BUG fragment_without_syncwarp
}
const Plant fragment_without_syncwarp_bug("fragment_without_syncwarp", "race", [] {
  const Buffer<float> out(256, 0.f);
  launch(fragment_without_syncwarp, {1, 32}, out);
  cudaDeviceSynchronize();
});

}  // namespace
}  // namespace gradus::planted
