// Threads that wait for others by fences, volatile flags and locks get what they wait for.
// tests/sim/planted/ordering.cu has what is found where a fence is missing.
#include "tests/sim/sim_test.h"

namespace gradus {
namespace {

using SimOrderTest = SimTest;

// Each block adds its number to the sum of those before it.
__global__ void chain(int* sums, volatile int* ready) {
  if (threadIdx.x > 0) return;
  int before = 0;
  if (blockIdx.x > 0) {
    while (ready[blockIdx.x - 1] == 0) {
    }
    __threadfence();
    before = sums[blockIdx.x - 1];
  }
  sums[blockIdx.x] = before + static_cast<int>(blockIdx.x);
  __threadfence();
  ready[blockIdx.x] = 1;
}

TEST_F(SimOrderTest, BlocksWaitForThoseBeforeThem) {
  constexpr int kBlocks = 500;
  const DeviceArray<int> sums(kBlocks), ready(kBlocks, 0);
  launch(chain, {kBlocks, 32}, sums, ready);
  const std::vector<int> values = sums.values();
  for (int i = 0; i < kBlocks; ++i) EXPECT_EQ(values[static_cast<size_t>(i)], i * (i + 1) / 2);
}

// What a block has met goes along with what it publishes: the last reads what the first wrote, of
// which it has heard from its neighbour alone.
__global__ void pass_on(int* first, volatile int* ready, int* out) {
  const unsigned block = blockIdx.x;
  if (block == 0)
    *first = 42;
  else
    while (ready[block - 1] == 0) {
    }
  if (block == gridDim.x - 1) *out = *first;
  __threadfence();
  ready[block] = 1;
}

TEST_F(SimOrderTest, GoesOnFromBlockToBlock) {
  const DeviceArray<int> first(1), ready(20, 0), out(1);
  launch(pass_on, {20, 1}, first, ready, out);
  EXPECT_EQ(out.values()[0], 42);
}

// Thread 0 waits for the last thread of its own block, which starts after it.
__global__ void wait_for_the_last(volatile int* flag, int* value, int* out) {
  if (threadIdx.x == blockDim.x - 1) {
    *value = 7;
    __threadfence();
    *flag = 1;
  } else if (threadIdx.x == 0) {
    while (*flag == 0) {
    }
    *out = *value;
  }
}

TEST_F(SimOrderTest, AThreadWaitsForALaterOneOfItsBlock) {
  const DeviceArray<int> flag(1, 0), value(1), out(1);
  launch(wait_for_the_last, {1, 1024}, flag, value, out);
  EXPECT_EQ(out.values()[0], 7);
}

// A lock in shared memory, held while another thread runs.
__global__ void count_under_lock(int* out, volatile int* busy) {
  __shared__ int lock, count;
  if (threadIdx.x == 0) lock = count = 0;
  __syncthreads();
  while (atomicCAS(&lock, 0, 1) != 0) {
  }
  __threadfence_block();
  const int before = count;
  for (int i = 0; i < 600; ++i) (void)*busy;
  count = before + 1;
  __threadfence_block();
  atomicExch(&lock, 0);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = count;
}

TEST_F(SimOrderTest, ALockLetsOneThreadInAtATime) {
  const DeviceArray<int> out(3), busy(1, 0);
  launch(count_under_lock, {3, 96}, out, busy);
  EXPECT_EQ(out.values(), std::vector<int>(3, 96));
}

// A ticket for each block, in the order of arrival.
__global__ void last_of_all(const int* x, int* partial, unsigned* tickets, int* out) {
  __shared__ bool is_last;
  partial[blockIdx.x * blockDim.x + threadIdx.x] = 2 * x[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    is_last = atomicInc(tickets, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last || threadIdx.x > 0) return;
  int sum = 0;
  for (unsigned i = 0; i < gridDim.x * blockDim.x; ++i) sum += partial[i];
  *out = sum;
}

TEST_F(SimOrderTest, TheLastBlockSeesWhatAllThreadsOfTheOthersWrote) {
  const DeviceArray<int> x(40 * 64, 1), partial(40 * 64), out(1);
  const DeviceArray<unsigned> tickets(1, 0u);
  for (int round = 0; round < 3; ++round) {
    launch(last_of_all, {40, 64}, x, partial, tickets, out);
    EXPECT_EQ(out.values()[0], 2 * 40 * 64);
  }
}

}  // namespace
}  // namespace gradus
