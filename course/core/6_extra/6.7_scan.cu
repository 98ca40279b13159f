// Task 6.7: the sums up to each number, of each chunk by itself and then of the chunks.
#include "core/extra.h"
#include "core/launch.h"

namespace course::gpu {

constexpr int kEach = 4, kThreads = kScanned / kEach;  // numbers of a thread; threads of a block

// BEGIN SOLUTION 6.7 kernel
// Where number i stands in shared memory: behind a gap for each 32, so that strides share no bank.
__device__ int padded(int i) { return i + i / 32; }

// Brings each of the block's numbers to the sum up to it, in place, by a tree. Each thread has one.
__device__ void scan_parts(float* parts) {
  for (int step = 1; step < kThreads; step *= 2) {
    __syncthreads();
    const int right = (static_cast<int>(threadIdx.x) + 1) * 2 * step - 1;
    if (right < kThreads) parts[padded(right)] += parts[padded(right - step)];
  }
  for (int step = kThreads / 4; step > 0; step /= 2) {
    __syncthreads();
    const int right = (static_cast<int>(threadIdx.x) + 1) * 2 * step + step - 1;
    if (right < kThreads) parts[padded(right)] += parts[padded(right - step)];
  }
  __syncthreads();
}
// END SOLUTION 6.7

// Each block scans a chunk, and writes the chunk's sum where sums is given. A block that is alone
// goes on to all further chunks.
__global__ void scan_kernel(float* out, float* sums, const float* x, long n) {
  // BEGIN SOLUTION 6.7 kernel
  __shared__ float tile[kScanned + kScanned / 32], parts[kThreads + kThreads / 32];
  const int thread = threadIdx.x;
  float before = 0;
  for (long start = blockIdx.x * long{kScanned}; start < n; start += gridDim.x * long{kScanned}) {
    for (int i = thread; i < kScanned; i += kThreads)
      tile[padded(i)] = start + i < n ? x[start + i] : 0;
    __syncthreads();
    float mine[kEach], sum = 0;
    for (int i = 0; i < kEach; ++i) mine[i] = sum += tile[padded(kEach * thread + i)];
    parts[padded(thread)] = sum;
    scan_parts(parts);
    const float left = thread > 0 ? before + parts[padded(thread - 1)] : before;
    for (int i = 0; i < kEach; ++i) tile[padded(kEach * thread + i)] = left + mine[i];
    before += parts[padded(kThreads - 1)];
    __syncthreads();
    for (int i = thread; i < kScanned && start + i < n; i += kThreads)
      out[start + i] = tile[padded(i)];
  }
  if (sums != nullptr && thread == 0) sums[blockIdx.x] = before;
  // END SOLUTION 6.7
}

// Adds to each chunk but the first the sum of all chunks before it.
__global__ void add_kernel(float* out, const float* sums, long n) {
  // BEGIN SOLUTION 6.7 kernel
  const long chunk = blockIdx.x + 1, start = chunk * kScanned;
  const float before = sums[chunk - 1];
  for (int i = threadIdx.x; i < kScanned && start + i < n; i += kThreads) out[start + i] += before;
  // END SOLUTION 6.7
}

void scan(float* out, float* sums, const float* x, long n) {
  // BEGIN SOLUTION 6.7
  const unsigned chunks = ceil_div(n, kScanned);
  launch(scan_kernel, {chunks, kThreads}, out, sums, x, n);
  if (chunks < 2) return;
  launch(scan_kernel, {1, kThreads}, sums, nullptr, sums, chunks);
  launch(add_kernel, {chunks - 1, kThreads}, out, sums, n);
  // END SOLUTION 6.7
}

}  // namespace course::gpu
