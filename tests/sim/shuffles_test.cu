// Shuffles against their definition: of every kind, width, type, and in warps that are not whole.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <numeric>

#include "tests/sim/sim_test.h"

namespace gradus {
namespace {

using SimShuffleTest = SimTest;
constexpr unsigned kAllLanes = 0xffffffffu;

enum class Shuffle { from, up, down, exclusive_or };
constexpr Shuffle kShuffles[] = {Shuffle::from, Shuffle::up, Shuffle::down, Shuffle::exclusive_or};

template <class T>
__global__ void shuffle_kernel(Shuffle shuffle, unsigned mask, const T* x, T* out, int argument,
                               int width) {
  const T value = x[threadIdx.x];
  T result = value;
  switch (shuffle) {
    case Shuffle::from:
      result = __shfl_sync(mask, value, argument, width);
      break;
    case Shuffle::up:
      result = __shfl_up_sync(mask, value, static_cast<unsigned>(argument), width);
      break;
    case Shuffle::down:
      result = __shfl_down_sync(mask, value, static_cast<unsigned>(argument), width);
      break;
    case Shuffle::exclusive_or:
      result = __shfl_xor_sync(mask, value, argument, width);
      break;
  }
  out[threadIdx.x] = result;
}

// The lane whose value `lane` gets, in words of the programming guide: parts of `width` lanes; an
// index counts modulo the width; who would leave the part keeps its own value, but for an exclusive
// or that leads to an earlier part.
int source(Shuffle shuffle, int lane, int argument, int width) {
  const int first = lane - lane % width, end = first + width;
  int other = lane;
  switch (shuffle) {
    case Shuffle::from:
      return first + ((argument % width) + width) % width;
    case Shuffle::up:
      other = lane - argument;
      return other >= first ? other : lane;
    case Shuffle::down:
      other = lane + argument;
      return other < end ? other : lane;
    case Shuffle::exclusive_or:
      other = lane ^ argument;
      return other < end ? other : lane;
  }
  return lane;
}

template <class T>
std::vector<T> shuffled(Shuffle shuffle, unsigned mask, const std::vector<T>& x, int argument,
                        int width) {
  const DeviceArray<T> from(x), out(x.size());
  launch(shuffle_kernel<T>, {1, static_cast<unsigned>(x.size())}, shuffle, mask, from, out,
         argument, width);
  return out.values();
}

std::vector<int> lanes(int count) {
  std::vector<int> out(static_cast<size_t>(count));
  std::iota(out.begin(), out.end(), 1000);
  return out;
}

TEST_F(SimShuffleTest, EachKindWidthAndArgument) {
  const std::vector<int> x = lanes(32);
  for (const Shuffle shuffle : kShuffles)
    for (const int width : {1, 2, 4, 8, 16, 32})
      for (const int argument : {0, 1, 2, 3, 5, 7, 8, 15, 16, 19, 31}) {
        const std::vector<int> got = shuffled(shuffle, kAllLanes, x, argument, width);
        for (int lane = 0; lane < 32; ++lane)
          ASSERT_EQ(got[static_cast<size_t>(lane)], 1000 + source(shuffle, lane, argument, width))
              << "kind " << static_cast<int>(shuffle) << ", width " << width << ", argument "
              << argument << ", lane " << lane;
      }
}

TEST_F(SimShuffleTest, AnIndexCountsModuloTheWidth) {
  for (const int index : {-1, 8, 13, 40})
    for (const int lane : {0, 9, 31})
      EXPECT_EQ(shuffled(Shuffle::from, kAllLanes, lanes(32), index, 8)[static_cast<size_t>(lane)],
                1000 + lane / 8 * 8 + ((index + 8) % 8));
}

TEST_F(SimShuffleTest, EachWarpOfABlockByItself) {
  const std::vector<int> got = shuffled(Shuffle::exclusive_or, kAllLanes, lanes(96), 1, 32);
  for (int t = 0; t < 96; ++t) ASSERT_EQ(got[static_cast<size_t>(t)], 1000 + (t ^ 1));
}

// Values that use every byte of the type; the upper half is not that of the neighbour.
template <class T>
void expect_type(T first, T step) {
  std::vector<T> x(1, first);
  while (x.size() < 32) x.push_back(static_cast<T>(x.back() + step));
  const std::vector<T> got = shuffled(Shuffle::down, kAllLanes, x, 5, 32);
  for (size_t lane = 0; lane < 32; ++lane) {
    // As numbers: classes of 16 bits have no printer.
    ASSERT_EQ(static_cast<double>(got[lane]), static_cast<double>(x[lane < 27 ? lane + 5 : lane]))
        << "lane " << lane;
  }
}

TEST_F(SimShuffleTest, EachType) {
  expect_type<int>(-2000000011, 123456789);
  expect_type<unsigned>(4000000000u, 7654321u);
  expect_type<long>(-9007199254740000, 281474976710656);
  expect_type<unsigned long>(1ul << 63, 1ul << 33);
  expect_type<long long>(-9007199254740000, 281474976710656);
  expect_type<unsigned long long>(1ull << 63, 1ull << 33);
  expect_type<float>(-1.25e-3f, 0.1f);
  expect_type<double>(-1.25e-300, 0.1);
  expect_type<half>(-3, 0.25f);
  expect_type<__nv_bfloat16>(-3, 0.25f);
}

__global__ void shuffle_pairs_kernel(const half2* x, half2* out) {
  out[threadIdx.x] = __shfl_xor_sync(kAllLanes, x[threadIdx.x], 31);
}

TEST_F(SimShuffleTest, PairsOfHalves) {
  std::vector<half2> x;
  for (float lane = 0; lane < 32; ++lane) x.push_back(__floats2half2_rn(lane, lane * -0.5f));
  const DeviceArray<half2> from(x), out(32);
  launch(shuffle_pairs_kernel, {1, 32}, from, out);
  const std::vector<half2> got = out.values();
  for (size_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(__low2float(got[lane]), static_cast<float>(31 - lane));
    EXPECT_EQ(__high2float(got[lane]), static_cast<float>(31 - lane) * -0.5f);
  }
}

TEST_F(SimShuffleTest, ABlockOf20) {
  // The mask names the lanes that there are. Lanes whose source is missing may not ask: by parts
  // of 4 none is.
  constexpr unsigned mask = (1u << 20) - 1;
  for (const Shuffle shuffle : kShuffles) {
    const std::vector<int> got = shuffled(shuffle, mask, lanes(20), 3, 4);
    for (int lane = 0; lane < 20; ++lane)
      EXPECT_EQ(got[static_cast<size_t>(lane)], 1000 + source(shuffle, lane, 3, 4));
  }
}

// A sum over a block of 40: the second warp has 8 lanes, which read among themselves.
__global__ void sum_of_40_kernel(const int* x, int* out) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned mask = threadIdx.x < 32 ? kAllLanes : 0xffu;
  int sum = x[threadIdx.x];
  for (int reach = threadIdx.x < 32 ? 16 : 4; reach > 0; reach /= 2)
    sum += __shfl_xor_sync(mask, sum, reach);
  if (lane == 0) out[threadIdx.x / 32] = sum;
}

TEST_F(SimShuffleTest, ABlockOf40) {
  std::vector<int> x(40);
  std::iota(x.begin(), x.end(), 0);
  const DeviceArray<int> from(x), out(2);
  launch(sum_of_40_kernel, {1, 40}, from, out);
  EXPECT_EQ(out.values(), (std::vector<int>{31 * 32 / 2, 32 + 33 + 34 + 35 + 36 + 37 + 38 + 39}));
}

// Two groups of one warp, at the same time, with masks of their own.
__global__ void two_groups_kernel(const int* x, int* out) {
  const unsigned lane = threadIdx.x;
  if (lane % 2 == 0)
    out[lane] = __shfl_sync(0x55555555u, x[lane], 6);
  else
    out[lane] = __shfl_xor_sync(0xaaaaaaaau, x[lane], 2);
}

TEST_F(SimShuffleTest, TwoGroupsInOneWarp) {
  const DeviceArray<int> from(lanes(32)), out(32);
  launch(two_groups_kernel, {1, 32}, from, out);
  const std::vector<int> got = out.values();
  for (int lane = 0; lane < 32; ++lane)
    EXPECT_EQ(got[static_cast<size_t>(lane)], 1000 + (lane % 2 == 0 ? 6 : lane ^ 2));
}

// Lanes from `n` on have returned, and nobody reads them.
__global__ void after_returns_kernel(const int* x, int* out, int n) {
  if (static_cast<int>(threadIdx.x) >= n) return;
  out[threadIdx.x] = __shfl_sync(kAllLanes, x[threadIdx.x], n - 1);
}

TEST_F(SimShuffleTest, LanesThatHaveReturnedAreNotWaitedFor) {
  const DeviceArray<int> from(lanes(32)), out(32, -1);
  launch(after_returns_kernel, {1, 32}, from, out, 11);
  const std::vector<int> got = out.values();
  for (int lane = 0; lane < 32; ++lane)
    EXPECT_EQ(got[static_cast<size_t>(lane)], lane < 11 ? 1010 : -1);
}

}  // namespace
}  // namespace gradus
