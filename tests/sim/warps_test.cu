// Votes, matches, reductions and barriers of a warp, and the barriers of a block that count.
#include <algorithm>
#include <climits>
#include <functional>
#include <numeric>

#include "tests/random.h"
#include "tests/sim/sim_test.h"

namespace gradus {
namespace {

using SimWarpTest = SimTest;
using test::pick;
constexpr unsigned kWholeWarp = 0xffffffffu;

// Every operation on the lanes of `mask`; the others do nothing.
struct Votes {
  int all, any, all_equal;
  unsigned ballot, equal_ints, equal_longs, equal_floats, all_equal_lanes;
};
__global__ void votes_kernel(unsigned mask, const int* x, Votes* out) {
  const unsigned lane = threadIdx.x;
  if (!(mask >> lane & 1)) return;
  const int value = x[lane];
  Votes got;
  got.all = __all_sync(mask, value);
  got.any = __any_sync(mask, value);
  got.ballot = __ballot_sync(mask, value);
  got.equal_ints = __match_any_sync(mask, value);
  got.equal_longs = __match_any_sync(mask, (long long)value << 32);
  got.equal_floats = __match_any_sync(mask, static_cast<float>(value) + 0.5f);
  got.all_equal_lanes = __match_all_sync(mask, value, &got.all_equal);
  out[lane] = got;
}

void expect_votes(unsigned mask, const std::vector<int>& x) {
  const DeviceArray<int> from(x);
  const DeviceArray<Votes> out(32, Votes{});
  launch(votes_kernel, {1, 32}, mask, from, out);
  unsigned ballot = 0;
  for (unsigned lane = 0; lane < 32; ++lane) ballot |= unsigned{x[lane] != 0} << lane;
  ballot &= mask;
  const std::vector<Votes> got = out.values();
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!(mask >> lane & 1)) continue;
    unsigned equal = 0;
    for (unsigned other = 0; other < 32; ++other)
      equal |= unsigned{x[other] == x[lane] && (mask >> other & 1)} << other;
    EXPECT_EQ(got[lane].all, ballot == mask);
    EXPECT_EQ(got[lane].any, ballot != 0);
    EXPECT_EQ(got[lane].ballot, ballot);
    EXPECT_EQ(got[lane].equal_ints, equal);
    EXPECT_EQ(got[lane].equal_longs, equal);
    EXPECT_EQ(got[lane].equal_floats, equal);
    EXPECT_EQ(got[lane].all_equal, equal == mask);
    EXPECT_EQ(got[lane].all_equal_lanes, equal == mask ? mask : 0);
  }
}

std::vector<int> random_lanes(int low, int high) {
  std::vector<int> out(32);
  for (int& each : out) each = static_cast<int>(pick(low, high));
  return out;
}
unsigned random_mask() { return static_cast<unsigned>(pick(1, kWholeWarp)); }

TEST_F(SimWarpTest, VotesAndMatches) {
  for (const unsigned mask : {kWholeWarp, 1u, 0x80000000u, 0x0000ffffu, 0x55555555u}) {
    expect_votes(mask, std::vector<int>(32, 0));
    expect_votes(mask, std::vector<int>(32, 256));  // any number but 0 is true
    expect_votes(mask, random_lanes(0, 1));
    expect_votes(mask, random_lanes(-2, 2));
  }
  for (int round = 0; round < 20; ++round) expect_votes(random_mask(), random_lanes(-3, 3));
}

struct Reductions {
  unsigned add, min, max, bit_and, bit_or, bit_xor;
  int signed_add, signed_min, signed_max;
};
__global__ void reductions_kernel(unsigned mask, const int* x, Reductions* out) {
  if (!(mask >> threadIdx.x & 1)) return;
  const int value = x[threadIdx.x];
  const auto bits = static_cast<unsigned>(value);
  out[threadIdx.x] = {__reduce_add_sync(mask, bits),  __reduce_min_sync(mask, bits),
                      __reduce_max_sync(mask, bits),  __reduce_and_sync(mask, bits),
                      __reduce_or_sync(mask, bits),   __reduce_xor_sync(mask, bits),
                      __reduce_add_sync(mask, value), __reduce_min_sync(mask, value),
                      __reduce_max_sync(mask, value)};
}

TEST_F(SimWarpTest, Reductions) {
  for (int round = 0; round < 20; ++round) {
    const unsigned mask = round == 0 ? kWholeWarp : random_mask();
    const std::vector<int> x = random_lanes(INT_MIN, INT_MAX);
    const DeviceArray<int> from(x);
    const DeviceArray<Reductions> out(32, Reductions{});
    launch(reductions_kernel, {1, 32}, mask, from, out);

    std::vector<int> taken;
    for (unsigned lane = 0; lane < 32; ++lane)
      if (mask >> lane & 1) taken.push_back(x[lane]);
    const std::vector<unsigned> bits(taken.begin(), taken.end());
    const auto all = [&](unsigned start, auto op) {
      return std::accumulate(bits.begin(), bits.end(), start, op);
    };
    const std::vector<Reductions> got = out.values();
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (!(mask >> lane & 1)) continue;
      EXPECT_EQ(got[lane].add, all(0, std::plus<>()));
      EXPECT_EQ(got[lane].min, *std::min_element(bits.begin(), bits.end()));
      EXPECT_EQ(got[lane].max, *std::max_element(bits.begin(), bits.end()));
      EXPECT_EQ(got[lane].bit_and, all(kWholeWarp, std::bit_and<>()));
      EXPECT_EQ(got[lane].bit_or, all(0, std::bit_or<>()));
      EXPECT_EQ(got[lane].bit_xor, all(0, std::bit_xor<>()));
      EXPECT_EQ(got[lane].signed_add, static_cast<int>(all(0, std::plus<>())));
      EXPECT_EQ(got[lane].signed_min, *std::min_element(taken.begin(), taken.end()));
      EXPECT_EQ(got[lane].signed_max, *std::max_element(taken.begin(), taken.end()));
    }
  }
}

// Of the warp's lanes that make the same call: those that have returned, or are in the other
// branch, are not active.
__global__ void active_kernel(unsigned* out) {
  const unsigned t = threadIdx.x;
  if (t % 4 == 3) return;
  if (t % 2 == 0)
    out[t] = __activemask();
  else
    out[t] = ~__activemask();
}

TEST_F(SimWarpTest, ActiveLanesAreThoseThatComeTogether) {
  const DeviceArray<unsigned> out(40, 0u);
  launch(active_kernel, {1, 40}, out);
  const std::vector<unsigned> got = out.values();
  for (unsigned t = 0; t < 40; ++t) {
    const unsigned there = t < 32 ? kWholeWarp : 0xffu;  // the second warp has 8 lanes
    const unsigned expected = t % 4 == 3   ? 0
                              : t % 2 == 0 ? 0x55555555u & there
                                           : ~(0x22222222u & there);
    EXPECT_EQ(got[t], expected) << "thread " << t;
  }
}

// One atomic for all lanes that are active, as the programming guide has it.
__global__ void aggregated_kernel(const int* x, int* count, int* places) {
  if (x[threadIdx.x] <= 0) return;
  const unsigned active = __activemask(), lane = threadIdx.x % 32;
  const int leader = __ffs(static_cast<int>(active)) - 1;
  int first = 0;
  if (static_cast<int>(lane) == leader) first = atomicAdd(count, __popc(active));
  first = __shfl_sync(active, first, leader);
  places[first + __popc(active & ((1u << lane) - 1))] = static_cast<int>(threadIdx.x);
}

TEST_F(SimWarpTest, AnAtomicForAllActiveLanes) {
  std::vector<int> x(96), expected;
  for (int t = 0; t < 96; ++t) {
    x[static_cast<size_t>(t)] = static_cast<int>(pick(0, 1));
    if (x[static_cast<size_t>(t)] > 0) expected.push_back(t);
  }
  const DeviceArray<int> from(x), count(1, 0), places(96, -1);
  launch(aggregated_kernel, {1, 96}, from, count, places);
  std::vector<int> got = places.values();
  ASSERT_EQ(count.values()[0], static_cast<int>(expected.size()));
  got.resize(expected.size());
  std::sort(got.begin(), got.end());
  EXPECT_EQ(got, expected);
}

// Each group of 8 lanes turns its part of shared memory, and waits for itself alone; the last group
// does not take part.
__global__ void groups_kernel(const int* x, int* out) {
  __shared__ int part[32];
  const unsigned lane = threadIdx.x, group = lane / 8;
  if (group == 3) return;
  const unsigned mask = 0xffu << 8 * group;
  int value = x[lane];
  for (unsigned round = 0; round <= group; ++round) {
    part[lane] = value;
    __syncwarp(mask);
    value = part[group * 8 + (lane + 1) % 8];
    __syncwarp(mask);
  }
  out[lane] = value;
}

TEST_F(SimWarpTest, SyncwarpOfGroups) {
  std::vector<int> x(32);
  std::iota(x.begin(), x.end(), 0);
  const DeviceArray<int> from(x), out(32, -1);
  launch(groups_kernel, {1, 32}, from, out);
  const std::vector<int> got = out.values();
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane / 8;
    EXPECT_EQ(got[static_cast<size_t>(lane)], group == 3 ? -1 : group * 8 + (lane + group + 1) % 8);
  }
}

struct BlockVotes {
  int count, all, any;
};
__global__ void block_votes_kernel(const int* x, BlockVotes* out, int rounds) {
  const unsigned t = threadIdx.x;
  for (int round = 0; round < rounds; ++round) {
    const int value = x[static_cast<unsigned>(round) * blockDim.x + t];
    BlockVotes got;
    got.count = __syncthreads_count(value);
    got.all = __syncthreads_and(value);
    got.any = __syncthreads_or(value);
    out[static_cast<unsigned>(round) * blockDim.x + t] = got;
  }
}

TEST_F(SimWarpTest, BarriersOfABlockThatCount) {
  constexpr size_t threads = 100, rounds = 6;
  std::vector<int> x(threads * rounds);
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t round = i / threads;
    x[i] = round == 0   ? 0
           : round == 1 ? -256
           : round == 2 ? static_cast<int>(i % threads == 77)
           : round == 3 ? static_cast<int>(i % threads != 99)
                        : static_cast<int>(pick(0, 3));
  }
  const DeviceArray<int> from(x);
  const DeviceArray<BlockVotes> out(x.size());
  launch(block_votes_kernel, {1, threads}, from, out, static_cast<int>(rounds));
  const std::vector<BlockVotes> got = out.values();
  for (size_t i = 0; i < x.size(); ++i) {
    const auto begin = x.begin() + static_cast<std::ptrdiff_t>(i / threads * threads);
    const auto zeros = std::count(begin, begin + threads, 0);
    ASSERT_EQ(got[i].count, static_cast<int>(threads) - zeros) << "round " << i / threads;
    ASSERT_EQ(got[i].all != 0, zeros == 0);
    ASSERT_EQ(got[i].any != 0, zeros < static_cast<int>(threads));
  }
}

}  // namespace
}  // namespace gradus
