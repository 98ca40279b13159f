// The twin of nvcuda::wmma: values, layouts, counts, and what it finds.
#include <mma.h>

#include <array>

#include "tests/random.h"
#include "tests/sim/sim_test.h"

namespace gradus {
namespace {

using cuda::sim::Finding, cuda::sim::Kind, cuda::sim::take_findings;
namespace wmma = nvcuda::wmma;

using SimWmmaTest = SimFindingsTest;

template <class T>
using SumsOf = wmma::fragment<wmma::accumulator, 16, 16, 16, T>;

// c += a b, with distances lda, ldb and ldc. A layout is that of the matrix in memory.
template <class LayoutA, class LayoutB, class T>
__global__ void matrices_kernel(T* c, const __half* a, const __half* b, unsigned lda, unsigned ldb,
                                unsigned ldc, wmma::layout_t of_c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, LayoutA> from_a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, LayoutB> from_b;
  SumsOf<T> sums;
  wmma::load_matrix_sync(from_a, a, lda);
  wmma::load_matrix_sync(from_b, b, ldb);
  wmma::load_matrix_sync(sums, c, ldc, of_c);
  wmma::mma_sync(sums, from_a, from_b, sums);
  wmma::store_matrix_sync(c, sums, ldc, of_c);
}

// 16 lines, ld elements apart, of whole numbers that a half holds.
template <class T>
std::vector<T> lines(unsigned ld, int most) {
  std::vector<T> out(size_t{16} * ld);
  for (T& x : out) x = T(static_cast<float>(test::pick(-most, most)));
  return out;
}

template <class LayoutA, class LayoutB, class T>
void check_product(unsigned lda, unsigned ldb, unsigned ldc, wmma::layout_t of_c, int most) {
  const auto a = lines<__half>(lda, most), b = lines<__half>(ldb, most);
  const auto c = lines<T>(ldc, most);
  const DeviceArray<__half> on_a(a), on_b(b);
  const DeviceArray<T> on_c(c);
  launch(matrices_kernel<LayoutA, LayoutB, T>, {1, 32}, on_c, on_a, on_b, lda, ldb, ldc, of_c);
  const auto at = [](size_t row, size_t col, bool of_columns, unsigned ld) {
    return of_columns ? col * ld + row : row * ld + col;
  };
  constexpr bool kColumnsA = std::is_same_v<LayoutA, wmma::col_major>,
                 kColumnsB = std::is_same_v<LayoutB, wmma::col_major>;
  std::vector<T> expected = c;
  for (size_t row = 0; row < 16; ++row)
    for (size_t col = 0; col < 16; ++col) {
      T& to = expected[at(row, col, of_c == wmma::mem_col_major, ldc)];
      float sum = to;
      for (size_t k = 0; k < 16; ++k)
        sum += static_cast<float>(a[at(row, k, kColumnsA, lda)]) *
               static_cast<float>(b[at(k, col, kColumnsB, ldb)]);
      to = sum;
    }
  const std::vector<T> found = on_c.values();
  for (size_t i = 0; i < found.size(); ++i)
    ASSERT_EQ(static_cast<float>(found[i]), static_cast<float>(expected[i])) << i;
}

template <class LayoutA, class LayoutB>
void check_layouts() {
  for (const unsigned ld : {16u, 24u, 64u})
    for (const wmma::layout_t of_c : {wmma::mem_row_major, wmma::mem_col_major}) {
      check_product<LayoutA, LayoutB, float>(ld, ld + 16, ld + 8, of_c, 100);
      check_product<LayoutA, LayoutB, __half>(ld + 8, ld, ld + 16, of_c, 8);
    }
}

TEST_F(SimWmmaTest, MultipliesMatricesOfEachLayout) {
  check_layouts<wmma::row_major, wmma::row_major>();
  check_layouts<wmma::row_major, wmma::col_major>();
  check_layouts<wmma::col_major, wmma::row_major>();
  check_layouts<wmma::col_major, wmma::col_major>();
}

// What is summed in halves is rounded to one after each product.
template <class T>
__global__ void many_kernel(float* out, const __half* ones, int products) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b;
  SumsOf<T> sums;
  wmma::load_matrix_sync(a, ones, 16);
  wmma::fill_fragment(b, __float2half(1.f));
  wmma::fill_fragment(sums, 1.f);
  for (int i = 0; i < products; ++i) wmma::mma_sync(sums, a, b, sums);
  if (threadIdx.x == 0) out[0] = static_cast<float>(sums.x[0]) + 0 * sums.num_elements;
}

TEST_F(SimWmmaTest, SumsInTheTypeOfTheSums) {
  const DeviceArray<__half> ones(256, __half(1));
  const DeviceArray<float> out(1, 0.f);
  launch(many_kernel<float>, {1, 32}, out, ones, 256);
  EXPECT_EQ(out.values()[0], 4097);
  launch(many_kernel<__half>, {1, 32}, out, ones, 256);
  EXPECT_EQ(out.values()[0], 4096) << "the sum of 1 and 2048 ones has no place in a half";
}

// Each warp of the block stores a fragment that nobody has filled.
__global__ void unfilled_kernel(float* out) {
  const SumsOf<float> sums;
  wmma::store_matrix_sync(out + threadIdx.y * 256, sums, 16, wmma::mem_row_major);
}

TEST_F(SimWmmaTest, HoldsNaNWhereNobodyHasFilledIt) {
  const DeviceArray<float> out(512, 0.f);
  launch(unfilled_kernel, {1, dim3(32, 2)}, out);
  for (const float x : out.values()) ASSERT_TRUE(std::isnan(x));
}

TEST_F(SimWmmaTest, CountsWholeSectors) {
  for (const wmma::layout_t of_c : {wmma::mem_row_major, wmma::mem_col_major}) {
    const DeviceArray<__half> a(256, __half(1)), b(256, __half(1));
    const DeviceArray<float> c(256, 0.f);
    const auto launched = counts_of([&] {
      launch(matrices_kernel<wmma::row_major, wmma::col_major, float>, {1, 32}, c, a, b, 16u, 16u,
             16u, of_c);
    });
    EXPECT_EQ(launched.counts.global_load_bytes, 512 + 512 + 1024);
    EXPECT_EQ(launched.counts.global_store_bytes, 1024);
    EXPECT_EQ(launched.counts.sectors, 3072 / 32);
    EXPECT_EQ(launched.tensor_products, 16 * 16 * 16);
    EXPECT_EQ(launched.idle_threads, 0);
    std::ostringstream text;
    text << launched;
    EXPECT_CONTAINS(text.str(), "4096 products by tensor cores");
  }
}

// A warp of shared memory, whose rows are a power of two or 16 bytes longer.
template <unsigned ld>
__global__ void shared_kernel(float* out) {
  alignas(32) __shared__ __half tile[16 * ld];
  for (unsigned i = threadIdx.x; i < 16 * ld; i += 32) tile[i] = __float2half(1.f);
  __syncthreads();
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> b;
  SumsOf<float> sums;
  wmma::fill_fragment(sums, 0.f);
  wmma::load_matrix_sync(a, tile, ld);
  wmma::load_matrix_sync(b, tile, ld);
  wmma::mma_sync(sums, a, b, sums);
  wmma::store_matrix_sync(out, sums, 16, wmma::mem_row_major);
}

TEST_F(SimWmmaTest, CountsBankConflicts) {
  const DeviceArray<float> out(256, 0.f);
  const auto conflicts = [](const cuda::sim::LaunchCounts& launched) {
    return launched.counts.shared_wavefronts - launched.counts.least_wavefronts;
  };
  EXPECT_GT(conflicts(counts_of([&] { launch(shared_kernel<64>, {1, 32}, out); })), 0);
  EXPECT_EQ(conflicts(counts_of([&] { launch(shared_kernel<72>, {1, 32}, out); })), 0);
  EXPECT_EQ(out.values()[255], 16);
}

// The one finding of a launch.
template <class... Params>
std::string finding_of(Kind kind, void (*kernel)(Params...), dim3 block,
                       std::type_identity_t<Params>... args) {
  launch(kernel, {1, block}, args...);
  const std::vector<Finding> found = take_findings();
  EXPECT_EQ(found.size(), 1u) << text_of(found);
  if (found.empty()) return "";
  EXPECT_EQ(found[0].kind, kind) << text_of(found);
  return text_of(found);
}

__global__ void store_kernel(float* out, unsigned ldm, unsigned lanes, unsigned apart) {
  SumsOf<float> sums;
  wmma::fill_fragment(sums, 0.f);
  if (threadIdx.x < lanes)
    wmma::store_matrix_sync(out + threadIdx.x / 16 * apart, sums, ldm, wmma::mem_row_major);
}

TEST_F(SimWmmaTest, FindsWhatLeavesTheMemory) {
  const DeviceArray<float> out(255, 0.f);
  EXPECT_CONTAINS(finding_of(Kind::out_of_bounds, store_kernel, 32, out, 16u, 32u, 0u),
                  "right after the end of 1020 allocated bytes");
  const DeviceArray<__half> half(248, __half(0)), whole(256, __half(0));
  const DeviceArray<float> c(256, 0.f);
  EXPECT_CONTAINS(
      finding_of(Kind::out_of_bounds, matrices_kernel<wmma::row_major, wmma::row_major, float>, 32,
                 c, whole, half, 16u, 16u, 16u, wmma::mem_row_major),
      "reads 16 bytes");
}

TEST_F(SimWmmaTest, FindsWhatIsNotAligned) {
  const DeviceArray<float> out(1024, 0.f);
  EXPECT_CONTAINS(finding_of(Kind::misaligned, store_kernel, 32, out + 4, 16u, 32u, 0u), "32");
  EXPECT_CONTAINS(finding_of(Kind::misaligned, store_kernel, 32, out, 18u, 32u, 0u), "16");
  const DeviceArray<__half> half(256, __half(0));
  EXPECT_CONTAINS(
      finding_of(Kind::misaligned, matrices_kernel<wmma::row_major, wmma::row_major, float>, 32,
                 out, half, half, 16u, 16u, 18u, wmma::mem_col_major),
      "16");
}

TEST_F(SimWmmaTest, NeedsAllLanes) {
  const DeviceArray<float> out(1024, 0.f);
  EXPECT_CONTAINS(finding_of(Kind::warp, store_kernel, 32, out, 16u, 31u, 0u),
                  "tensor cores work for all 32 lanes");
  EXPECT_CONTAINS(finding_of(Kind::warp, unfilled_kernel, 16, out),
                  "tensor cores work for all 32 lanes");
}

TEST_F(SimWmmaTest, NeedsOneMatrix) {
  const DeviceArray<float> out(1024, 0.f);
  EXPECT_CONTAINS(finding_of(Kind::warp, store_kernel, 32, out, 16u, 32u, 256u),
                  "lanes of one warp name different matrices");
}

// A warp reads what its other lanes have stored.
__global__ void exchange_kernel(float* out, bool synced) {
  alignas(32) __shared__ float tile[256];
  for (unsigned i = threadIdx.x; i < 256; i += 32) tile[i] = 0;
  __syncthreads();
  SumsOf<float> sums;
  wmma::fill_fragment(sums, 2.f);
  wmma::store_matrix_sync(tile, sums, 16, wmma::mem_row_major);
  if (synced) __syncwarp();
  for (unsigned i = threadIdx.x; i < 256; i += 32) out[i] = tile[i];
}

TEST_F(SimWmmaTest, OrdersNoMemory) {
  const DeviceArray<float> out(256, 0.f);
  launch(exchange_kernel, {1, 32}, out, true);
  EXPECT_EQ(out.values()[77], 2);
  launch(exchange_kernel, {1, 32}, out, false);
  const std::vector<Finding> found = take_findings();
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].kind, Kind::race);
}

}  // namespace
}  // namespace gradus
