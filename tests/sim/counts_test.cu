// Counts of the simulator, for kernels whose counts follow by arithmetic.
#include <algorithm>
#include <sstream>

#include "tests/sim/sim_test.h"

namespace gradus {
namespace {

using cuda::sim::Counts, cuda::sim::Kind, cuda::sim::LaunchCounts;

using SimCountsTest = SimTest;

__device__ unsigned place_in_grid() { return blockIdx.x * blockDim.x + threadIdx.x; }

template <class T>
__global__ void strided_copy_kernel(const T* x, T* out, unsigned stride, unsigned offset) {
  const unsigned i = place_in_grid();
  out[i] = x[i * stride + offset];
}

template <class T>
LaunchCounts counts_of_copy(unsigned n, unsigned stride, unsigned offset) {
  const DeviceArray<T> x(n * stride + offset, T{}), out(n);
  return counts_of([&] { launch(strided_copy_kernel<T>, {n / 128, 128}, x, out, stride, offset); });
}

TEST_F(SimCountsTest, AStridedCopyMovesMoreSectorsThanAContiguousOne) {
  constexpr unsigned n = 1024;
  constexpr int64_t warps = n / 32;
  // 32 floats lie in 4 sectors; `stride` times as many, until each has a sector of its own.
  for (const unsigned stride : {1u, 2u, 4u, 8u, 32u}) {
    const LaunchCounts counts = counts_of_copy<float>(n, stride, 0);
    const Counts& c = counts.counts;
    EXPECT_EQ(c.global_loads, n);
    EXPECT_EQ(c.global_stores, n);
    EXPECT_EQ(c.global_load_bytes, 4 * n);
    EXPECT_EQ(c.global_store_bytes, 4 * n);
    EXPECT_EQ(c.global_requests, 2 * warps);
    EXPECT_EQ(c.sectors, warps * (std::min(4 * stride, 32u) + 4)) << "stride " << stride;
    EXPECT_EQ(c.least_sectors, warps * 8);
    EXPECT_EQ(c.shared_requests, 0);
    const auto advice = counts.advice();
    ASSERT_EQ(advice.size(), stride == 1 ? 0u : 1u) << "of the load, not of the store";
    if (stride > 1) {
      EXPECT_EQ(advice[0].kind, Kind::uncoalesced);
      EXPECT_CONTAINS(advice[0].message, std::to_string(warps * 4) + " would do");
    }
  }
}

TEST_F(SimCountsTest, AReadThatBeginsInASectorTakesOneMore) {
  constexpr unsigned n = 1024;
  const LaunchCounts counts = counts_of_copy<float>(n, 1, 1);
  EXPECT_EQ(counts.counts.sectors, n / 32 * (5 + 4));
  EXPECT_EQ(counts.counts.least_sectors, n / 32 * (4 + 4));
  EXPECT_TRUE(counts.advice().empty()) << "5 for 4 are not worth a word";
}

TEST_F(SimCountsTest, AccessesOfEverySize) {
  constexpr unsigned n = 512;
  const auto expect = [&](const LaunchCounts& counts, int64_t size) {
    EXPECT_EQ(counts.counts.global_loads, n) << size << " bytes";
    EXPECT_EQ(counts.counts.global_load_bytes, size * n);
    EXPECT_EQ(counts.counts.global_requests, 2 * n / 32);
    EXPECT_EQ(counts.counts.sectors, 2 * size * n / 32);
    EXPECT_EQ(counts.counts.least_sectors, 2 * size * n / 32);
  };
  expect(counts_of_copy<unsigned char>(n, 1, 0), 1);
  expect(counts_of_copy<short>(n, 1, 0), 2);
  expect(counts_of_copy<float>(n, 1, 0), 4);
  expect(counts_of_copy<double>(n, 1, 0), 8);
  expect(counts_of_copy<float2>(n, 1, 0), 8);
  expect(counts_of_copy<float4>(n, 1, 0), 16);
  expect(counts_of_copy<int4>(n, 1, 0), 16);
}

// A column of the tile, whose words lie `pitch` words apart.
template <int pitch>
__global__ void transpose_kernel(const float* x, float* out) {
  __shared__ float tile[32][pitch];
  tile[threadIdx.y][threadIdx.x] = x[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

template <int pitch>
LaunchCounts counts_of_transpose() {
  const DeviceArray<float> x(1024, 1.f), out(1024);
  return counts_of([&] { launch(transpose_kernel<pitch>, {1, dim3(32, 32)}, x, out); });
}

TEST_F(SimCountsTest, ATransposedTileMeetsItsBanks) {
  const LaunchCounts one_bank = counts_of_transpose<32>();
  EXPECT_EQ(one_bank.counts.shared_loads, 1024);
  EXPECT_EQ(one_bank.counts.shared_stores, 1024);
  EXPECT_EQ(one_bank.counts.shared_requests, 2 * 32);
  EXPECT_EQ(one_bank.counts.shared_wavefronts, 32 * (1 + 32))
      << "a wavefront for each lane that reads";
  EXPECT_EQ(one_bank.counts.least_wavefronts, 32 * (1 + 1));
  ASSERT_EQ(one_bank.advice().size(), 1u);
  EXPECT_EQ(one_bank.advice()[0].kind, Kind::bank_conflict);

  const LaunchCounts padded = counts_of_transpose<33>();
  EXPECT_EQ(padded.counts.shared_wavefronts, 2 * 32);
  EXPECT_TRUE(padded.advice().empty());

  EXPECT_EQ(counts_of_transpose<34>().counts.shared_wavefronts, 32 * (1 + 2)) << "16 banks";
  EXPECT_EQ(counts_of_transpose<36>().counts.shared_wavefronts, 32 * (1 + 4)) << "8 banks";
}

// Lane i reads the element at[i].
template <class T>
__global__ void gather_kernel(const int* at, T* out) {
  __shared__ T table[1024];
  for (unsigned i = threadIdx.x; i < 1024; i += 32) table[i] = T{};
  __syncthreads();
  out[threadIdx.x] = table[at[threadIdx.x]];
}

// Turns of that read only.
template <class T, class F>
int64_t wavefronts_of_gather(F element) {
  std::vector<int> at;
  for (int lane = 0; lane < 32; ++lane) at.push_back(element(lane));
  const DeviceArray<int> from(at);
  const DeviceArray<T> out(32);
  const LaunchCounts counts = counts_of([&] { launch(gather_kernel<T>, {1, 32}, from, out); });
  const int64_t wavefronts_of_a_write = std::max(1, static_cast<int>(sizeof(T)) / 4);
  return counts.counts.shared_wavefronts - 1024 / 32 * wavefronts_of_a_write;
}

TEST_F(SimCountsTest, LanesThatReadOneWordShareATurn) {
  EXPECT_EQ(wavefronts_of_gather<float>([](int) { return 77; }), 1);
  EXPECT_EQ(wavefronts_of_gather<float>([](int lane) { return lane / 4; }), 1);
  EXPECT_EQ(wavefronts_of_gather<float>([](int lane) { return 31 - lane; }), 1) << "in any order";
  EXPECT_EQ(wavefronts_of_gather<float>([](int lane) { return lane % 2 * 32; }), 2);
  EXPECT_EQ(wavefronts_of_gather<float>([](int lane) { return lane % 8 * 32 + lane / 8; }), 8);
  EXPECT_EQ(wavefronts_of_gather<float>([](int lane) { return lane * 32; }), 32);
}

TEST_F(SimCountsTest, NarrowAndWideElementsOfSharedMemory) {
  const auto lane_itself = [](int lane) { return lane; };
  EXPECT_EQ(wavefronts_of_gather<unsigned char>(lane_itself), 1) << "4 lanes a word";
  EXPECT_EQ(wavefronts_of_gather<short>(lane_itself), 1);
  EXPECT_EQ(wavefronts_of_gather<double>(lane_itself), 2) << "half a warp each";
  EXPECT_EQ(wavefronts_of_gather<float4>(lane_itself), 4) << "a quarter of a warp each";
  // Half a warp of doubles two apart, and a quarter of a warp of float4 two apart: twice each.
  EXPECT_EQ(wavefronts_of_gather<double>([](int lane) { return 2 * lane; }), 4);
  EXPECT_EQ(wavefronts_of_gather<float4>([](int lane) { return 2 * lane; }), 8);
}

__global__ void guarded_kernel(float* x, unsigned n, int rounds) {
  const unsigned i = place_in_grid();
  for (int round = 0; round < rounds; ++round) __syncthreads();
  if (i < n) x[i] = 1;
}

TEST_F(SimCountsTest, BarriersAndThreadsWithoutWork) {
  const DeviceArray<float> x(1000);
  const LaunchCounts counts = counts_of([&] { launch(guarded_kernel, {5, 256, 64}, x, 1000u, 3); });
  EXPECT_CONTAINS(counts.kernel, "guarded_kernel");
  EXPECT_EQ(counts.grid.x, 5u);
  EXPECT_EQ(counts.grid.y, 1u);
  EXPECT_EQ(counts.block.x, 256u);
  EXPECT_EQ(counts.shared_bytes, 64);
  EXPECT_EQ(counts.barriers, 5 * 3) << "of each block";
  EXPECT_EQ(counts.threads, 5 * 256);
  EXPECT_EQ(counts.idle_threads, 5 * 256 - 1000);
}

// Lane t reads t + 1 rows of 32.
__global__ void triangle_kernel(const float* x, float* out) {
  float sum = 0;
  for (unsigned row = 0; row <= threadIdx.x; ++row) sum += x[row * 32 + threadIdx.x];
  out[threadIdx.x] = sum;
}

TEST_F(SimCountsTest, LanesLeaveALoopOneByOne) {
  const DeviceArray<float> x(1024, 1.f), out(32);
  const LaunchCounts counts = counts_of([&] { launch(triangle_kernel, {1, 32}, x, out); });
  EXPECT_EQ(counts.counts.global_loads, 32 * 33 / 2);
  EXPECT_EQ(counts.counts.global_requests, 32 + 1);
  // Lanes `row` to 31 read the row: 4 sectors for 8 rows, then 3, 2, 1.
  EXPECT_EQ(counts.counts.sectors, 8 * (4 + 3 + 2 + 1) + 4);
}

__global__ void tally_kernel(const int* x, int* bins, int* total) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&bins[x[place_in_grid()]], 1);
  atomicAdd(&sum, 1);
  __syncthreads();
  if (threadIdx.x == 0) atomicMax(total, sum);
}

TEST_F(SimCountsTest, AtomicsStandForThemselves) {
  const DeviceArray<int> x(256, 3), bins(8, 0), total(1, 0);
  const LaunchCounts counts = counts_of([&] { launch(tally_kernel, {2, 128}, x, bins, total); });
  EXPECT_EQ(counts.counts.atomics, 256 + 256 + 2);
  EXPECT_EQ(counts.counts.global_loads, 256);
  EXPECT_EQ(counts.counts.global_stores, 0);
  EXPECT_EQ(counts.counts.shared_stores, 2);
  EXPECT_EQ(counts.counts.shared_loads, 2);
}

constexpr int kLoadLine = __LINE__ + 3, kStoreLine = kLoadLine + 1;
__global__ void two_lines_kernel(const float* x, float* out) {
  // One load here, one store below.
  const float value = x[place_in_grid() * 8];
  out[place_in_grid()] = value;
}

TEST_F(SimCountsTest, TellsLinesApart) {
  const DeviceArray<float> x(128 * 8, 1.f), out(128);
  const LaunchCounts counts = counts_of([&] { launch(two_lines_kernel, {1, 128}, x, out); });
  ASSERT_EQ(counts.lines.size(), 2u);
  for (const auto& line : counts.lines) {
    ASSERT_FALSE(line.frames.empty());
    EXPECT_CONTAINS(line.frames[0].file, "tests/sim/counts_test.cu");
    EXPECT_CONTAINS(line.frames[0].function, "two_lines_kernel");
    const bool loads = line.counts.global_loads > 0;
    EXPECT_EQ(line.frames[0].line, loads ? kLoadLine : kStoreLine);
    EXPECT_EQ(line.counts.sectors, loads ? 4 * 32 : 4 * 4);
  }
  std::ostringstream text;
  text << counts;
  EXPECT_CONTAINS(text.str(), "counts_test.cu:" + std::to_string(kLoadLine) + " ");
  EXPECT_CONTAINS(text.str(), "counts_test.cu:" + std::to_string(kStoreLine) + " ");
  EXPECT_CONTAINS(text.str(), "uncoalesced access");
}

__global__ void first_request_kernel(const float* x, float* out) {
  __shared__ float tile[128];
  const unsigned at = threadIdx.x;
  tile[2 * at] = x[at * 8 + blockIdx.x];
  __syncthreads();
  if (at % 2 == 1) out[at + blockIdx.x * 64] = tile[2 * at];
}

TEST_F(SimCountsTest, KeepsTheFirstRequestOfTheFirstWarp) {
  const DeviceArray<float> x(64 * 8 + 4, 1.f), out(256);
  const LaunchCounts counts = counts_of([&] { launch(first_request_kernel, {4, 64}, x, out); });
  int loads = 0, stores = 0, shared_stores = 0;
  for (const auto& line : counts.lines) {
    const auto& request = line.first_request;
    if (line.counts.global_loads > 0) {
      ++loads;
      EXPECT_EQ(line.allocated, (64 * 8 + 4) * sizeof(float));
      ASSERT_EQ(request.size(), 32u);
      for (unsigned lane = 0; lane < 32; ++lane) {
        EXPECT_EQ(request[lane].lane, lane);
        EXPECT_EQ(request[lane].offset, lane * 32);
        EXPECT_EQ(request[lane].size, 4u);
      }
    } else if (line.counts.global_stores > 0) {
      ++stores;
      EXPECT_EQ(line.allocated, 256 * sizeof(float));
      ASSERT_EQ(request.size(), 16u);
      for (unsigned i = 0; i < 16; ++i) {
        EXPECT_EQ(request[i].lane, 2 * i + 1);
        EXPECT_EQ(request[i].offset, (2 * i + 1) * 4);
      }
    } else if (line.counts.shared_stores > 0) {
      ++shared_stores;
      EXPECT_EQ(line.allocated, 0u);
      ASSERT_EQ(request.size(), 32u);
      EXPECT_EQ(request[5].offset - request[0].offset, 40u);
      EXPECT_LT(request[0].offset, 128u);
    }
  }
  EXPECT_EQ(loads, 1);
  EXPECT_EQ(stores, 1);
  EXPECT_EQ(shared_stores, 1);
}

TEST_F(SimCountsTest, ARecordingHasTheLaunchesOfItsTime) {
  const DeviceArray<float> x(64, 1.f), out(64);
  launch(triangle_kernel, {0, 32}, x, out);
  launch(strided_copy_kernel<float>, {1, 64}, x, out, 1, 0);
  const cuda::sim::Recording recording;
  launch(strided_copy_kernel<float>, {1, 64}, x, out, 1, 0);
  {
    const cuda::sim::Recording inner;
    launch(strided_copy_kernel<float>, {2, 32}, x, out, 1, 0);
  }
  launch(strided_copy_kernel<float>, {1, 32}, x, out, 1, 0);
  const auto launches = recording.launches();
  ASSERT_EQ(launches.size(), 3u);
  EXPECT_EQ(launches[0].threads, 64);
  EXPECT_EQ(launches[1].grid.x, 2u);
  EXPECT_EQ(launches[2].threads, 32);
}

}  // namespace
}  // namespace gradus
