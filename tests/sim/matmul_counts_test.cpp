// The counts of the rungs of the matmul ladder, against the arithmetic on paper. The products are
// (m, k) x (k, n) of row-major float32, and every row begins at a multiple of 32 bytes.
#include "gradus/cuda/ops/matmul.h"

#include <algorithm>

#include "gradus/tensor/factories.h"
#include "gradus/tensor/raw/raw.h"
#include "tests/sim/sim_test.h"

namespace gradus {
namespace {

using cuda::sim::Counts, cuda::sim::Kind, cuda::sim::LaunchCounts;

class MatmulCountsTest : public SimTest {
 protected:
  void TearDown() override {
    cuda::set_matmul_kernel("automatic");
    SimTest::TearDown();
  }

  static LaunchCounts counts_of_matmul(std::string_view kernel, int64_t m, int64_t n, int64_t k) {
    const Tensor a = ones({m, k}, kCUDA), b = ones({k, n}, kCUDA);
    cuda::set_matmul_kernel(kernel);
    LaunchCounts out = counts_of([&] { raw::matmul(a, b); });
    EXPECT_CONTAINS(out.kernel, "matmul_" + std::string(kernel));
    return out;
  }
};

struct Shape {
  int64_t m, n, k;
};
constexpr Shape kDivided[] = {{32, 32, 32}, {64, 96, 32}, {96, 32, 64}};
constexpr Shape kWithEdges[] = {{40, 24, 56}, {8, 72, 16}, {64, 32, 40}};

int64_t ceil_div(int64_t x, int64_t y) { return (x + y - 1) / y; }

int64_t advice_of(const LaunchCounts& counts, Kind kind) {
  const auto all = counts.advice();
  return std::ranges::count(all, kind, &cuda::sim::Finding::kind);
}

// The rungs without shared memory: 2 loads for each multiply-add, 1 store for each output.
void expect_no_reuse(const LaunchCounts& counts, const Shape& shape) {
  const auto [m, n, k] = shape;
  const Counts& c = counts.counts;
  EXPECT_EQ(c.global_loads, 2 * m * n * k);
  EXPECT_EQ(c.global_load_bytes, 4 * c.global_loads);
  EXPECT_EQ(c.global_stores, m * n);
  EXPECT_EQ(c.global_store_bytes, 4 * c.global_stores);
  EXPECT_EQ(c.shared_loads + c.shared_stores + c.shared_requests + c.shared_wavefronts, 0);
  EXPECT_EQ(c.atomics, 0);
  EXPECT_EQ(counts.barriers, 0);
  // A block has a thread for each of 32 x 32 outputs.
  EXPECT_EQ(counts.threads, 1024 * ceil_div(m, 32) * ceil_div(n, 32));
  EXPECT_EQ(counts.idle_threads, counts.threads - m * n);
}

TEST_F(MatmulCountsTest, NaiveWhereTilesDivide) {
  for (const Shape& shape : kDivided) {
    const auto [m, n, k] = shape;
    const LaunchCounts counts = counts_of_matmul("naive", m, n, k);
    expect_no_reuse(counts, shape);
    // A warp makes 32 rows of one column. Of each term it reads 32 rows of a, a sector each, and
    // one element of b; and it writes to 32 rows.
    const int64_t warps = m * n / 32;
    EXPECT_EQ(counts.counts.global_requests, warps * (2 * k + 1));
    EXPECT_EQ(counts.counts.sectors, warps * (k * (32 + 1) + 32));
    // The 32 elements of a or out would fit into 4 sectors.
    EXPECT_EQ(counts.counts.least_sectors, warps * (k * (4 + 1) + 4));
    EXPECT_EQ(advice_of(counts, Kind::uncoalesced), 2) << "the reads of a and the writes";
  }
}

TEST_F(MatmulCountsTest, CoalescedWhereTilesDivide) {
  for (const Shape& shape : kDivided) {
    const auto [m, n, k] = shape;
    const LaunchCounts counts = counts_of_matmul("coalesced", m, n, k);
    expect_no_reuse(counts, shape);
    // A warp makes 32 columns of one row: an element of a, 32 neighbours of b, 32 of out.
    const int64_t warps = m * n / 32;
    EXPECT_EQ(counts.counts.global_requests, warps * (2 * k + 1));
    EXPECT_EQ(counts.counts.sectors, warps * (k * (1 + 4) + 4));
    EXPECT_EQ(counts.counts.least_sectors, counts.counts.sectors);
    EXPECT_TRUE(counts.advice().empty());
  }
}

TEST_F(MatmulCountsTest, ThreadsPastTheEdgeAreIdle) {
  for (const Shape& shape : kWithEdges) {
    expect_no_reuse(counts_of_matmul("naive", shape.m, shape.n, shape.k), shape);
    const LaunchCounts counts = counts_of_matmul("coalesced", shape.m, shape.n, shape.k);
    expect_no_reuse(counts, shape);
    // The warps of a row: whole ones, and one with the last columns, which are multiples of 8.
    const int64_t warps = shape.m * ceil_div(shape.n, 32);
    EXPECT_EQ(counts.counts.global_requests, warps * (2 * shape.k + 1));
    EXPECT_EQ(counts.counts.sectors,
              shape.m * (shape.k * (ceil_div(shape.n, 32) + shape.n / 8) + shape.n / 8));
  }
}

// The part that does not depend on how warps lie: blocks of 32 x 32 outputs, in steps of 32 terms.
void expect_tiled(const LaunchCounts& counts, const Shape& shape) {
  const auto [m, n, k] = shape;
  const Counts& c = counts.counts;
  const int64_t down = ceil_div(m, 32), across = ceil_div(n, 32), steps = ceil_div(k, 32);
  const int64_t blocks = down * across;
  // Each column of blocks loads all of a, each row of blocks all of b.
  EXPECT_EQ(c.global_loads, across * m * k + down * n * k);
  EXPECT_EQ(c.global_load_bytes, 4 * c.global_loads);
  EXPECT_EQ(c.global_stores, m * n);
  // A step fills two tiles, zeros past the edges, and all 1024 threads read 2 x 32 elements.
  EXPECT_EQ(c.shared_stores, blocks * steps * 2 * 1024);
  EXPECT_EQ(c.shared_loads, blocks * steps * 2 * 1024 * 32);
  // Whole warps, without bank conflicts: an element of a to all lanes, neighbours of b.
  EXPECT_EQ(c.shared_requests, (c.shared_stores + c.shared_loads) / 32);
  EXPECT_EQ(c.shared_wavefronts, c.shared_requests);
  EXPECT_EQ(c.least_wavefronts, c.shared_requests);
  EXPECT_EQ(counts.barriers, blocks * steps * 2);
  EXPECT_EQ(counts.idle_threads, 0) << "all help to fill the tiles";
  EXPECT_TRUE(counts.advice().empty());
}

TEST_F(MatmulCountsTest, TiledWhereTilesDivide) {
  for (const Shape& shape : kDivided) {
    const auto [m, n, k] = shape;
    const LaunchCounts counts = counts_of_matmul("tiled", m, n, k);
    expect_tiled(counts, shape);
    const Counts& c = counts.counts;
    EXPECT_EQ(c.global_loads, 2 * m * n * k / 32) << "32 times fewer than without tiles";
    EXPECT_EQ(c.shared_loads, 2 * m * n * k) << "which shared memory serves";
    // Each warp reads and writes 32 neighbours.
    EXPECT_EQ(c.global_requests, (c.global_loads + c.global_stores) / 32);
    EXPECT_EQ(c.sectors, (c.global_load_bytes + c.global_store_bytes) / 32);
    EXPECT_EQ(c.least_sectors, c.sectors);
  }
}

TEST_F(MatmulCountsTest, TiledWithEdges) {
  for (const Shape& shape : kWithEdges) {
    const LaunchCounts counts = counts_of_matmul("tiled", shape.m, shape.n, shape.k);
    expect_tiled(counts, shape);
    // Sizes are multiples of 8, so that sectors are whole.
    EXPECT_EQ(counts.counts.sectors,
              (counts.counts.global_load_bytes + counts.counts.global_store_bytes) / 32);
  }
}

TEST_F(MatmulCountsTest, Vectorized) {
  // A block of 256 threads makes 128 x 256 outputs in steps of 8 terms; a thread makes 16 x 8.
  constexpr int64_t m = 128, n = 512, k = 24;
  const LaunchCounts counts = counts_of_matmul("vectorized", m, n, k);
  const Counts& c = counts.counts;
  constexpr int64_t blocks = m / 128 * n / 256, steps = k / 8, threads = blocks * 256;
  EXPECT_EQ(counts.threads, threads);
  EXPECT_EQ(counts.barriers, blocks * (1 + steps));

  // All accesses to global memory carry 16 bytes, and use whole sectors.
  EXPECT_EQ(c.global_loads, blocks * steps * (128 + 256) * 8 / 4);
  EXPECT_EQ(c.global_load_bytes, 16 * c.global_loads);
  EXPECT_EQ(c.global_stores, m * n / 4);
  EXPECT_EQ(c.global_store_bytes, 4 * m * n);
  EXPECT_EQ(c.global_requests, (c.global_loads + c.global_stores) / 32);
  EXPECT_EQ(c.sectors, (c.global_load_bytes + c.global_store_bytes) / 32);
  EXPECT_EQ(c.least_sectors, c.sectors);

  // The tile of a is written element by element, as it is transposed, that of b as it comes.
  constexpr int64_t a_stores = blocks * steps * 128 * 8, b_stores = blocks * steps * 256 * 8 / 4;
  EXPECT_EQ(c.shared_stores, a_stores + b_stores);
  // 6 reads of 16 bytes, 16 elements of a and 8 of b, for 128 multiply-adds.
  constexpr int64_t reads = m * n * k / 128 * 6;
  EXPECT_EQ(c.shared_loads, reads);
  EXPECT_EQ(c.shared_requests, (a_stores + b_stores + reads) / 32);
  // 32 lanes with 16 bytes take four wavefronts, with 4 bytes one: there are no bank conflicts.
  EXPECT_EQ(c.shared_wavefronts, a_stores / 32 + 4 * (b_stores + reads) / 32);
  EXPECT_EQ(c.least_wavefronts, c.shared_wavefronts);
  EXPECT_TRUE(counts.advice().empty());
}

}  // namespace
}  // namespace gradus
