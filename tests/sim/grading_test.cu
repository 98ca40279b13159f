// How a kernel is graded: what docs/simulator.md shows.
#include "gradus/gradus.h"
#include "tests/sim/sim_test.h"

namespace gradus {
namespace {

constexpr int kTile = 32;

__global__ void tiled_kernel(const float* a, const float* b, float* c, int64_t n) {
  __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
  const unsigned y = threadIdx.y, x = threadIdx.x;
  const int64_t row = blockIdx.y * kTile + y, col = blockIdx.x * kTile + x;
  float sum = 0;
  for (int64_t k = 0; k < n; k += kTile) {
    a_tile[y][x] = a[row * n + k + x];
    b_tile[y][x] = b[(k + y) * n + col];
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += a_tile[y][i] * b_tile[i][x];
    __syncthreads();
  }
  c[row * n + col] = sum;
}

void tiled(const Tensor& a, const Tensor& b, const Tensor& c) {
  const auto tiles = static_cast<unsigned>(a.size(0) / kTile);
  launch(tiled_kernel, {dim3(tiles, tiles), dim3(kTile, kTile)}, a.data_ptr<float>(),
         b.data_ptr<float>(), c.data_ptr<float>(), a.size(0));
}

TEST(SimGrading, ATiledProductIsCleanAndUsesItsTiles) {
  namespace sim = cuda::sim;
  const int64_t n = 64;
  const Tensor a = rand({n, n}, kCUDA), b = rand({n, n}, kCUDA), c = empty({n, n}, kCUDA);
  sim::take_findings(), sim::take_leaks();  // of what was done before
  const sim::Recording recording;
  tiled(a, b, c);  // what is graded
  for (const sim::Finding& each : sim::take_findings()) ADD_FAILURE() << each;
  for (const sim::Finding& each : sim::take_leaks()) ADD_FAILURE() << each;
  ASSERT_EQ(recording.launches().size(), 1u);
  const sim::LaunchCounts launch = recording.launches()[0];
  EXPECT_EQ(launch.counts.global_loads, 2 * n * n * n / 32);
  for (const sim::Finding& each : launch.advice()) ADD_FAILURE() << each;
  EXPECT_LT((c.cpu() - a.cpu().mm(b.cpu())).abs().max().item<float>(), 1e-4f);
}

}  // namespace
}  // namespace gradus
