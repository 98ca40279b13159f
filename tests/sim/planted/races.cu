// Two threads, one address, one of them writes, and nothing orders them.
#include "tests/sim/planted/planted.h"

namespace gradus::planted {
namespace {

__device__ int global_index() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

// A result array of its own, or two barriers around the write in one block.
__global__ void in_place_stencil(float* x, int n) {
  const int i = global_index();
  if (i < 1 || i >= n - 1) return;
  const float sum = x[i - 1] + x[i + 1];  // BUG in_place_stencil
  x[i] = sum / 2;                         // BUG in_place_stencil
}
const Plant in_place_stencil_bug("in_place_stencil", "race", [] {
  const Buffer<float> x(1024, 1.f);
  launch(in_place_stencil, {8, 128}, x, 1024);
  cudaDeviceSynchronize();
});

// Hillis and Steele need two arrays, or a barrier between all reads and all writes of a step.
__global__ void scan_in_place(const float* x, float* out) {
  __shared__ float sums[256];
  const unsigned t = threadIdx.x;
  sums[t] = x[t];
  __syncthreads();
  for (unsigned reach = 1; reach < 256; reach *= 2) {
    if (t >= reach) sums[t] += sums[t - reach];  // BUG scan_in_place
    __syncthreads();
  }
  out[t] = sums[t];
}
const Plant scan_in_place_bug("scan_in_place", "race", [] {
  const Buffer<float> x(256, 1.f), out(256);
  launch(scan_in_place, {1, 256}, x, out);
  cudaDeviceSynchronize();
});

// The barrier belongs into the loop.
__global__ void reduction_without_barrier(const float* x, float* out) {
  __shared__ float sums[256];
  const unsigned t = threadIdx.x;
  sums[t] = x[t];
  __syncthreads();
  for (unsigned reach = 128; reach > 0; reach /= 2)
    if (t < reach) sums[t] += sums[t + reach];  // BUG reduction_without_barrier
  if (t == 0) *out = sums[0];
}
const Plant reduction_without_barrier_bug("reduction_without_barrier", "race", [] {
  const Buffer<float> x(256, 1.f), out(1);
  launch(reduction_without_barrier, {1, 256}, x, out);
  cudaDeviceSynchronize();
});

// The lanes of a warp are in step by __syncwarp alone.
__global__ void reduction_without_syncwarp(const float* x, float* out) {
  __shared__ float sums[32];
  const unsigned lane = threadIdx.x;
  sums[lane] = x[lane];
  __syncwarp();
  for (unsigned reach = 16; reach > 0; reach /= 2)
    if (lane < reach) sums[lane] += sums[lane + reach];  // BUG reduction_without_syncwarp
  if (lane == 0) *out = sums[0];
}
const Plant reduction_without_syncwarp_bug("reduction_without_syncwarp", "race", [] {
  const Buffer<float> x(32, 1.f), out(1);
  launch(reduction_without_syncwarp, {1, 32}, x, out);
  cudaDeviceSynchronize();
});

// A __syncwarp orders one warp, and column x was written by all of them.
__global__ void syncwarp_for_a_block(const float* x, float* out) {
  __shared__ float tile[32][33];
  tile[threadIdx.y][threadIdx.x] = x[threadIdx.y * 32 + threadIdx.x];  // BUG syncwarp_for_a_block
  __syncwarp();
  out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];  // BUG syncwarp_for_a_block
}
const Plant syncwarp_for_a_block_bug("syncwarp_for_a_block", "race", [] {
  const Buffer<float> x(1024, 1.f), out(1024);
  launch(syncwarp_for_a_block, {1, dim3(32, 32)}, x, out);
  cudaDeviceSynchronize();
});

// The first warp loads the bias, and the others do not wait for it.
__global__ void bias_without_barrier(const float* bias, float* x) {
  __shared__ float shared_bias[32];
  if (threadIdx.x < 32) shared_bias[threadIdx.x] = bias[threadIdx.x];  // BUG bias_without_barrier
  x[threadIdx.x] += shared_bias[threadIdx.x % 32];                     // BUG bias_without_barrier
}
const Plant bias_without_barrier_bug("bias_without_barrier", "race", [] {
  const Buffer<float> bias(32, 1.f), x(256, 1.f);
  launch(bias_without_barrier, {1, 256}, bias, x);
  cudaDeviceSynchronize();
});

// One word for two values: a barrier must stand between the reads of the first and the second.
__global__ void word_used_twice(const float* x, float* out) {
  __shared__ float word;
  if (threadIdx.x == 0) word = x[0];
  __syncthreads();
  const float shift = word;           // BUG word_used_twice
  if (threadIdx.x == 0) word = x[1];  // BUG word_used_twice
  __syncthreads();
  out[threadIdx.x] = (x[threadIdx.x] - shift) * word;
}
const Plant word_used_twice_bug("word_used_twice", "race", [] {
  const Buffer<float> x(128, 1.f), out(128);
  launch(word_used_twice, {1, 128}, x, out);
  cudaDeviceSynchronize();
});

// Atomics do not wait for the thread that sets the counter to zero.
__global__ void counter_reset(const float* x, int* out) {
  __shared__ int positive;
  if (threadIdx.x == 0) positive = 0;               // BUG counter_reset
  if (x[threadIdx.x] > 0) atomicAdd(&positive, 1);  // BUG counter_reset
  __syncthreads();
  if (threadIdx.x == 0) *out = positive;
}
const Plant counter_reset_bug("counter_reset", "race", [] {
  const Buffer<float> x(128, 1.f);
  const Buffer<int> out(1);
  launch(counter_reset, {1, 128}, x, out);
  cudaDeviceSynchronize();
});

__global__ void histogram_without_atomics(const int* x, int* bins) {
  const int i = global_index();
  bins[x[i]] += 1;  // BUG histogram_without_atomics
}
const Plant histogram_without_atomics_bug("histogram_without_atomics", "race", [] {
  const Buffer<int> x(1024, 3), bins(16, 1);
  launch(histogram_without_atomics, {8, 128}, x, bins);
  cudaDeviceSynchronize();
});

__global__ void maximum_without_atomics(const float* x, float* best) {
  const int i = global_index();
  if (x[i] > *best) *best = x[i];  // BUG maximum_without_atomics
}
const Plant maximum_without_atomics_bug("maximum_without_atomics", "race", [] {
  std::vector<float> values(256);
  for (size_t i = 0; i < 256; ++i) values[i] = 2 + static_cast<float>(i);
  const Buffer<float> x(values), best(1, 1.f);
  launch(maximum_without_atomics, {2, 128}, x, best);
  cudaDeviceSynchronize();
});

// out[i] was meant.
__global__ void blocks_share_an_output(const float* x, float* out) {
  const int i = global_index();
  out[threadIdx.x] = 2 * x[i];  // BUG blocks_share_an_output
}
const Plant blocks_share_an_output_bug("blocks_share_an_output", "race", [] {
  const Buffer<float> x(1024, 1.f), out(128);
  launch(blocks_share_an_output, {8, 128}, x, out);
  cudaDeviceSynchronize();
});

// No block waits for another: the sum of the partial results takes a second launch.
__global__ void reads_what_blocks_write(const float* x, float* partial, float* out) {
  if (threadIdx.x == 0) partial[blockIdx.x] = x[blockIdx.x];  // BUG reads_what_blocks_write
  __syncthreads();
  if (blockIdx.x > 0 || threadIdx.x > 0) return;
  float sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += partial[b];  // BUG reads_what_blocks_write
  *out = sum;
}
const Plant reads_what_blocks_write_bug("reads_what_blocks_write", "race", [] {
  const Buffer<float> x(16, 1.f), partial(16, 1.f), out(1);
  launch(reads_what_blocks_write, {16, 64}, x, partial, out);
  cudaDeviceSynchronize();
});

// Blocks have 256 threads, so half of them double what the next block doubles too.
__global__ void threads_overlap(float* x, int n) {
  const int i = static_cast<int>(blockIdx.x * 128 + threadIdx.x);
  if (i < n) x[i] *= 2;  // BUG threads_overlap
}
const Plant threads_overlap_bug("threads_overlap", "race", [] {
  const Buffer<float> x(1024, 1.f);
  launch(threads_overlap, {8, 256}, x, 1024);
  cudaDeviceSynchronize();
});

// One thread copies for all, and nobody waits for it.
__global__ void copied_by_one(const float* x, float* out) {
  __shared__ float tile[64];
  tile[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x == 0) memcpy(tile, x, sizeof tile);  // BUG copied_by_one
  out[threadIdx.x] = tile[63 - threadIdx.x];           // BUG copied_by_one
}
const Plant copied_by_one_bug("copied_by_one", "race", [] {
  const Buffer<float> x(64, 1.f), out(64);
  launch(copied_by_one, {1, 64}, x, out);
  cudaDeviceSynchronize();
});

}  // namespace
}  // namespace gradus::planted
