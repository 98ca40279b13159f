// Blocks that hand results to one another by fences with atomic operations or volatile flags, and
// what goes wrong where one is missing.
#include "tests/sim/planted/planted.h"

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

// Every thread orders its own number, and one speaks for all after a barrier.
__global__ void all_threads_fence(const int* x, int* doubled, unsigned* done, int* out) {
  __shared__ bool is_last;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  doubled[i] = 2 * x[i];
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(done, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!is_last || threadIdx.x > 0) return;
  int sum = 0;
  for (unsigned each = 0; each < gridDim.x * blockDim.x; ++each) sum += doubled[each];
  *out = sum;
}
const Plant all_threads_fence_plant("all_threads_fence", "", [] {
  const Buffer<int> x(8 * 64, 1), doubled(8 * 64), out(1);
  const Buffer<unsigned> done(1, 0u);
  launch(all_threads_fence, {8, 64}, x, doubled, done, out);
  cudaDeviceSynchronize();
});

// One warp fills an array that another takes, in turns.
__global__ void warps_in_turns(const float* x, float* out, int rounds) {
  __shared__ volatile int is_full;
  __shared__ float passed[32];
  const unsigned lane = threadIdx.x % 32;
  if (threadIdx.x == 0) is_full = 0;
  __syncthreads();
  for (int i = 0; i < rounds; ++i) {
    const bool gives = threadIdx.x < 32;
    while (is_full == (gives ? 1 : 0)) {
    }
    if (gives)
      passed[lane] = x[i * 32 + lane];
    else
      out[i * 32 + lane] = passed[lane];
    __threadfence_block();
    __syncwarp();
    if (lane == 0) is_full = gives ? 1 : 0;
    __syncwarp();
  }
}
const Plant warps_in_turns_plant("warps_in_turns", "", [] {
  const Buffer<float> x(4 * 32, 1.f), out(4 * 32);
  launch(warps_in_turns, {1, 64}, x, out, 4);
  cudaDeviceSynchronize();
});

// As in the CUDA C++ Programming Guide: the first read is a guess, which atomicCAS confirms.
__global__ void product_by_cas(const double* x, double* product) {
  auto* const bits = reinterpret_cast<unsigned long long*>(product);
  const double factor = x[threadIdx.x];
  unsigned long long old = *bits, assumed;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed, __double_as_longlong(factor * __longlong_as_double(assumed)));
  } while (assumed != old);
}
const Plant product_by_cas_plant("product_by_cas", "", [] {
  const Buffer<double> x(256, 1.0), product(1, 1.0);
  launch(product_by_cas, {2, 128}, x, product);
  cudaDeviceSynchronize();
});

// A plain read of what others still count.
__global__ void reads_a_running_count(int* count, int* out) {
  atomicAdd(count, 1);        // BUG reads_a_running_count
  out[threadIdx.x] = *count;  // BUG reads_a_running_count
}
const Plant reads_a_running_count_bug("reads_a_running_count", "race", [] {
  const Buffer<int> count(1, 0), out(128);
  launch(reads_a_running_count, {1, 128}, count, out);
  cudaDeviceSynchronize();
});

}  // namespace
}  // namespace gradus::planted
