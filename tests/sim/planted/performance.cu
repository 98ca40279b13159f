// Right results, slowly: accesses that a warp cannot make together.
#include "tests/sim/planted/planted.h"

namespace gradus::planted {
namespace {

// A thread a row: at each step the 32 lanes read from 32 rows.
__global__ void sum_of_rows(const float* x, float* out, int cols) {
  const int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  float sum = 0;
  for (int col = 0; col < cols; ++col) sum += x[row * cols + col];  // BUG sum_of_rows
  out[row] = sum;
}
const Plant sum_of_rows_bug("sum_of_rows", "uncoalesced", [] {
  const Buffer<float> x(256 * 64, 1.f), out(256);
  launch(sum_of_rows, {2, 128}, x, out, 64);
  cudaDeviceSynchronize();
});

// One field of an array of structures.
struct Particle {
  float x, y, z, mass, velocity[4];
};
__global__ void array_of_structures(const Particle* particles, float* mass) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  mass[i] = particles[i].mass;  // BUG array_of_structures
}
const Plant array_of_structures_bug("array_of_structures", "uncoalesced", [] {
  const Buffer<Particle> particles(1024, Particle{1, 1, 1, 1, {1, 1, 1, 1}});
  const Buffer<float> mass(1024);
  launch(array_of_structures, {8, 128}, particles, mass);
  cudaDeviceSynchronize();
});

// Reads along a row, writes along a column.
__global__ void transpose_without_a_tile(const float* x, float* out, int n) {
  const int col = static_cast<int>(blockIdx.x * 32 + threadIdx.x);
  const int row = static_cast<int>(blockIdx.y * 8 + threadIdx.y);
  out[col * n + row] = x[row * n + col];  // BUG transpose_without_a_tile
}
const Plant transpose_without_a_tile_bug("transpose_without_a_tile", "uncoalesced", [] {
  const Buffer<float> x(128 * 128, 1.f), out(128 * 128);
  launch(transpose_without_a_tile, {dim3(4, 16), dim3(32, 8)}, x, out, 128);
  cudaDeviceSynchronize();
});

// The words of a column of 32 x 32 lie in one bank; in 32 x 33 they do not.
__global__ void tile_without_padding(const float* x, float* out) {
  __shared__ float tile[32][32];
  tile[threadIdx.y][threadIdx.x] = x[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];  // BUG tile_without_padding
}
const Plant tile_without_padding_bug("tile_without_padding", "bank_conflict", [] {
  const Buffer<float> x(1024, 1.f), out(1024);
  launch(tile_without_padding, {1, dim3(32, 32)}, x, out);
  cudaDeviceSynchronize();
});

// The lanes that add lie 2, 4, 8 ... words apart; neighbouring lanes with a falling reach would
// not.
__global__ void interleaved_reduction(const float* x, float* out) {
  __shared__ float sums[512];
  const unsigned t = threadIdx.x;
  sums[t] = x[t];
  for (unsigned reach = 1; reach < 512; reach *= 2) {
    __syncthreads();
    const unsigned at = 2 * reach * t;
    if (at < 512) sums[at] += sums[at + reach];  // BUG interleaved_reduction
  }
  if (t == 0) *out = sums[0];
}
const Plant interleaved_reduction_bug("interleaved_reduction", "bank_conflict", [] {
  const Buffer<float> x(512, 1.f), out(1);
  launch(interleaved_reduction, {1, 512}, x, out);
  cudaDeviceSynchronize();
});

}  // namespace
}  // namespace gradus::planted
