// Blocks that hand results to one another by fences with atomic operations or volatile flags, and
// what goes wrong where one is missing.
#include "tests/planted/planted.h"

namespace gradus::planted {
namespace {

// The sum of each block's numbers, for its first thread.
__device__ float block_sum(const float* x) {
  float sum = x[blockIdx.x * 32 + threadIdx.x];
  for (int reach = 16; reach > 0; reach /= 2) sum += __shfl_down_sync(~0u, sum, reach);
  return sum;
}

// Each block leaves its sum, and the last to do so adds them all up.
__global__ void last_block_adds(const float* x, float* sums, unsigned* done, float* out) {
  __shared__ bool is_last;
  const float sum = block_sum(x);
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
    __threadfence();
    is_last = atomicAdd(done, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  float all = sums[threadIdx.x];
  for (int reach = 16; reach > 0; reach /= 2) all += __shfl_down_sync(~0u, all, reach);
  if (threadIdx.x == 0) *out = all;
}
const Plant last_block_adds_plant("last_block_adds", "", [] {
  const Buffer<float> x(32 * 32, 1.f), sums(32), out(1);
  const Buffer<unsigned> done(1, 0u);
  launch(last_block_adds, {32, 32}, x, sums, done, out);
  cudaDeviceSynchronize();
});

// Without the fence the counter may be seen before the sum.
__global__ void last_block_without_fence(const float* x, float* sums, unsigned* done, float* out) {
  const float sum = block_sum(x);
  if (threadIdx.x > 0) return;
  sums[blockIdx.x] = sum;  // BUG last_block_without_fence
  if (atomicAdd(done, 1u) != gridDim.x - 1) return;
  float all = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) all += sums[b];  // BUG last_block_without_fence
  *out = all;
}
const Plant last_block_without_fence_bug("last_block_without_fence", "race", [] {
  const Buffer<float> x(32 * 32, 1.f), sums(32), out(1);
  const Buffer<unsigned> done(1, 0u);
  launch(last_block_without_fence, {32, 32}, x, sums, done, out);
  cudaDeviceSynchronize();
});

// Only the thread that made the atomic operation knows that its block is the last.
__global__ void last_block_without_barrier(const float* x, float* sums, unsigned* done,
                                           float* out) {
  __shared__ bool is_last;
  const float sum = block_sum(x);
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
    __threadfence();
    is_last = atomicAdd(done, 1u) == gridDim.x - 1;  // BUG last_block_without_barrier
  }
  if (!is_last) return;  // BUG last_block_without_barrier
  atomicAdd(out, 1.f);
}
const Plant last_block_without_barrier_bug("last_block_without_barrier", "race", [] {
  const Buffer<float> x(32 * 32, 1.f), sums(32), out(1, 0.f);
  const Buffer<unsigned> done(1, 0u);
  launch(last_block_without_barrier, {32, 32}, x, sums, done, out);
  cudaDeviceSynchronize();
});

// Each block waits for the sum of those before it.
__global__ void chained_scan(const float* x, float* sums, volatile int* ready) {
  const float sum = block_sum(x);
  if (threadIdx.x > 0) return;
  float before = 0;
  if (blockIdx.x > 0) {
    while (ready[blockIdx.x - 1] == 0) {
    }
    __threadfence();
    before = sums[blockIdx.x - 1];
  }
  sums[blockIdx.x] = before + sum;
  __threadfence();
  ready[blockIdx.x] = 1;
}
const Plant chained_scan_plant("chained_scan", "", [] {
  const Buffer<float> x(32 * 32, 1.f), sums(32);
  const Buffer<int> ready(32, 0);
  launch(chained_scan, {32, 32}, x, sums, ready);
  cudaDeviceSynchronize();
});

__global__ void chained_scan_without_fence(const float* x, float* sums, volatile int* ready) {
  const float sum = block_sum(x);
  if (threadIdx.x > 0) return;
  float before = 0;
  if (blockIdx.x > 0) {
    while (ready[blockIdx.x - 1] == 0) {
    }
    before = sums[blockIdx.x - 1];  // BUG chained_scan_without_fence
  }
  sums[blockIdx.x] = before + sum;  // BUG chained_scan_without_fence
  ready[blockIdx.x] = 1;
}
const Plant chained_scan_without_fence_bug("chained_scan_without_fence", "race", [] {
  const Buffer<float> x(32 * 32, 1.f), sums(32);
  const Buffer<int> ready(32, 0);
  launch(chained_scan_without_fence, {32, 32}, x, sums, ready);
  cudaDeviceSynchronize();
});

// One thread at a time, by a lock.
__global__ void locked_counter(int* lock, int* counter) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  ++*counter;
  __threadfence();
  atomicExch(lock, 0);
}
const Plant locked_counter_plant("locked_counter", "", [] {
  const Buffer<int> lock(1, 0), counter(1, 0);
  launch(locked_counter, {4, 64}, lock, counter);
  cudaDeviceSynchronize();
});

__global__ void lock_opened_too_soon(int* lock, int* counter) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  const int before = *counter;  // BUG lock_opened_too_soon
  __threadfence();
  atomicExch(lock, 0);
  *counter = before + 1;  // BUG lock_opened_too_soon
}
const Plant lock_opened_too_soon_bug("lock_opened_too_soon", "race", [] {
  const Buffer<int> lock(1, 0), counter(1, 0);
  launch(lock_opened_too_soon, {4, 64}, lock, counter);
  cudaDeviceSynchronize();
});

}  // namespace
}  // namespace gradus::planted
