// Several threads of the host use the simulator at once, on one device and on several.
#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include "gradus/autograd/functions.h"
#include "gradus/tensor/factories.h"
#include "tests/failing_threads.h"
#include "tests/forked.h"
#include "tests/sim/runtime_test.h"
#include "tests/support.h"

namespace gradus {
namespace {

using cuda::sim::Finding, cuda::sim::Kind, cuda::sim::take_findings;

using SimHostThreadsTest = SimRuntimeTest;

constexpr int kHostThreads = 4, kRounds = 25;

// Runs f(0), ..., f(kHostThreads - 1) on threads that start together.
template <class F>
void run_together(F f) {
  std::vector<std::thread> threads;
  std::atomic<int> waiting = kHostThreads;
  for (int i = 0; i < kHostThreads; ++i)
    threads.emplace_back([&, i] {
      for (--waiting; waiting > 0;) std::this_thread::yield();
      f(i);
    });
  for (std::thread& each : threads) each.join();
}

// Every block reverses its part of x through shared memory and adds its sum to the total.
__global__ void reverse_kernel(const int* x, int* out, int* total) {
  __shared__ int part[64];
  __shared__ int sum;
  const unsigned begin = blockIdx.x * 64, t = threadIdx.x;
  if (t == 0) sum = 0;
  part[t] = x[begin + t];
  __syncthreads();
  out[begin + 63 - t] = part[t];
  atomicAdd(&sum, part[t]);
  __syncthreads();
  if (t == 0) atomicAdd(total, sum);
}

// Work of one thread, with its own numbers. Other threads help to run its many blocks.
void reverse_and_compare(int start, int blocks, cudaStream_t stream) {
  std::vector<int> x(static_cast<size_t>(blocks) * 64), expected(x.size());
  int sum = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = start + static_cast<int>(i);
    sum += x[i];
    expected[i / 64 * 64 + 63 - i % 64] = x[i];
  }
  const DeviceArray<int> from(x), out(x.size()), total(1, 0);
  launch(reverse_kernel, {static_cast<unsigned>(blocks), 64, 0, stream}, from, out, total);
  EXPECT_EQ(out.values(), expected);
  EXPECT_EQ(total.values()[0], sum);
}

TEST_F(SimHostThreadsTest, LaunchOnOneDevice) {
  run_together([](int thread) {
    for (int round = 0; round < kRounds; ++round)
      reverse_and_compare(1000 * thread + round, 1 + (thread + round) % 7 * 30, nullptr);
  });
}

TEST_F(SimHostThreadsTest, LaunchOnSeveralDevicesAndStreams) {
  run_together([](int thread) {
    const cuda::DeviceGuard guard(thread % count_devices());
    cudaStream_t stream = nullptr;
    EXPECT_EQ(cudaStreamCreate(&stream), cudaSuccess);
    for (int round = 0; round < kRounds; ++round)
      reverse_and_compare(1000 * thread + round, 1 + (thread + round) % 7 * 30, stream);
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  });
}

TEST_F(SimHostThreadsTest, ComputeWithTensors) {
  run_together([](int thread) {
    const cuda::DeviceGuard guard(thread % count_devices());
    for (int round = 0; round < kRounds; ++round) {
      const Tensor x = arange(1, 65, kFloat).view({8, 8}), on_device = x.to(kCUDA);
      const Tensor expected = (x.mm(x.t()) * (thread + round)).sum(0);
      expect_values((on_device.mm(on_device.t()) * (thread + round)).sum(0), to_vector(expected));
    }
  });
}

// Those that the system starts run all blocks.
TEST_F(SimHostThreadsTest, LaunchesNeedNoThreadOfTheirOwn) {
  const test::ThreadsAllowed none(0);
  reverse_and_compare(7, 300, nullptr);
}

TEST_F(SimHostThreadsTest, AForkedChildLaunches) {
  reverse_and_compare(7, 300, nullptr);
  EXPECT_TRUE(test::holds_in_child([] {
    reverse_and_compare(8, 300, nullptr);
    return !testing::Test::HasFailure();
  }));
  reverse_and_compare(9, 300, nullptr);
}

// --- What is found
template <int thread>
__global__ void thread_race_kernel(int* out) {
  *out = static_cast<int>(threadIdx.x) + thread;
}

// An error of one thread's kernel refuses the launches of all, until somebody takes it. Whoever
// meets one takes, and goes on: every launch that ran has its finding, and it comes once.
TEST_F(SimHostThreadsTest, EachFindingArrivesOnce) {
  if (!cuda::sim::checks()) GTEST_SKIP() << "GRADUS_SIM_CHECK=0: the simulator does not check";
  std::mutex mutex;
  std::vector<Finding> all;
  const auto take = [&] {
    const std::lock_guard lock(mutex);
    for (Finding& each : take_findings()) all.push_back(std::move(each));
  };
  const auto work = [&]<int thread> {
    cudaSetDevice(thread % count_devices());
    int* out = nullptr;
    while (cudaMalloc(&out, sizeof(int)) != cudaSuccess) take();
    for (int done = 0; done < kRounds;)
      if (launch_raw(thread_race_kernel<thread>, 1, 4, 0, nullptr, out) == cudaSuccess)
        ++done;
      else
        take();
    cudaFree(out);
  };
  run_together([&](int thread) {
    if (thread == 0) work.operator()<0>();
    if (thread == 1) work.operator()<1>();
    if (thread == 2) work.operator()<2>();
    if (thread == 3) work.operator()<3>();
  });
  take();
  std::map<std::string, int> times;
  for (const Finding& each : all) {
    EXPECT_EQ(each.kind, Kind::race) << each;
    EXPECT_EQ(each.sides.size(), 2u) << each;
    ++times[each.kernel.substr(each.kernel.find("thread_race_kernel"))];
  }
  for (int thread = 0; thread < kHostThreads; ++thread)
    EXPECT_EQ(times["thread_race_kernel<" + std::to_string(thread) + ">"], kRounds);
  EXPECT_EQ(times.size(), static_cast<size_t>(kHostThreads));
}

TEST_F(SimHostThreadsTest, LaunchesAreCountedOneByOne) {
  const cuda::sim::Recording recording;
  run_together([](int thread) {
    for (int round = 0; round < kRounds; ++round) reverse_and_compare(round, thread + 1, nullptr);
  });
  std::map<unsigned, int> launches;  // by blocks
  for (const auto& each : recording.launches()) {
    ++launches[each.grid.x];
    EXPECT_EQ(each.counts.global_loads, 64 * each.grid.x);
    EXPECT_EQ(each.counts.global_stores, 64 * each.grid.x);
    EXPECT_EQ(each.counts.atomics, 65 * each.grid.x);
    EXPECT_EQ(each.barriers, 2 * each.grid.x);
  }
  for (unsigned thread = 0; thread < kHostThreads; ++thread)
    EXPECT_EQ(launches[thread + 1], kRounds);
}

}  // namespace
}  // namespace gradus
