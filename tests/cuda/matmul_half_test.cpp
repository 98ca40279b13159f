// Products of half types on a GPU: no operand is converted, sums are float32, one rounding.
#include "gradus/cuda/ops/matmul.h"
#include "gradus/cuda/ops/matmul/wgmma.h"
#include "gradus/cuda/runtime/stats.h"
#include "gradus/gradus.h"
#include "tests/cuda/compare.h"
#include "tests/support.h"

namespace gradus {

namespace cuda {
std::string recent_launches();  // of launch.h, which needs CUDA's headers
}

namespace {

class HalfMatmulTest : public GpuTest {
 protected:
  void TearDown() override {
    cuda::set_matmul_kernel("automatic");
    set_float32_matmul_precision("highest");
    GpuTest::TearDown();
  }
};

constexpr ScalarType kHalfTypes[] = {kHalf, kBFloat16};

TensorOptions gpu(ScalarType type) { return TensorOptions(type).device(kCUDA); }

// (batches, rows, columns) of random numbers, with the same strides on both devices.
struct Factor {
  Tensor cpu, gpu;
};
enum class FactorLayout { plain, transposed, shifted, gappy, broadcast };
Factor random_factor(ScalarType dtype, int64_t batches, int64_t rows, int64_t columns,
                     FactorLayout layout) {
  const bool gappy = layout == FactorLayout::gappy;
  const int64_t across = gappy ? 3 : 1, down = columns * across + (gappy ? 5 : 0);
  Dims strides = {rows * down, down, across};
  if (layout == FactorLayout::transposed) strides = {rows * columns, 1, rows};
  if (layout == FactorLayout::broadcast) strides[0] = 0;
  const int64_t shift = layout == FactorLayout::shifted ? 1 : 0;
  const Tensor memory = random_memory(dtype, shift + batches * rows * down, {-1, 1});
  const Tensor copy = raw::to(memory, kCUDA);
  const Dims sizes = {batches, rows, columns};
  return {raw::as_strided(memory, sizes, strides, shift),
          raw::as_strided(copy, sizes, strides, shift)};
}

Tensor as_double(const Tensor& x) { return x.to(kCPU).to(kDouble); }

// How far a product of k terms may be from the exact one: half a unit of the last place of its
// type, which its usual size sqrt(k) / 3 has, with a factor for outliers; and k roundings to float.
double allowed(ScalarType dtype, int64_t k) {
  const double unit = dtype == kBFloat16 ? 0x1p-9 : dtype == kHalf ? 0x1p-12 : 0;
  return 6 * std::sqrt(static_cast<double>(k) + 1) * (unit + 0x1p-23);
}

void expect_product(const Factor& a, const Factor& b, const Factor& bias, ScalarType result) {
  const int64_t batches = a.cpu.size(0), m = a.cpu.size(1), k = a.cpu.size(2), n = b.cpu.size(2);
  Tensor expected = as_double(a.cpu).bmm(as_double(b.cpu));
  if (bias.cpu.defined()) expected = expected + as_double(bias.cpu);
  // Poisoned, with a fence on either side.
  constexpr int64_t kFence = 33;
  const int64_t count = batches * m * n;
  const Tensor memory = raw::empty({count + 2 * kFence}, result, kCUDA);
  raw::fill_(memory, std::nan(""));
  cuda_backend().matmul(a.gpu, b.gpu, bias.gpu,
                        raw::as_strided(memory, {batches, m, n}, {m * n, n, 1}, kFence));
  const Tensor all = as_double(memory);
  EXPECT_TRUE(all.narrow(0, 0, kFence).isnan().all().item<bool>());
  EXPECT_TRUE(all.narrow(0, kFence + count, kFence).isnan().all().item<bool>());
  const Tensor out = all.narrow(0, kFence, count).view({batches, m, n});
  const double error = (out - expected).abs().max().item<double>();
  EXPECT_LE(error, allowed(result, k)) << batches << " x " << m << " x " << k << " x " << n;
}

TEST_F(HalfMatmulTest, TakesEveryLayoutAndTail) {
  constexpr FactorLayout kLayouts[] = {FactorLayout::plain, FactorLayout::transposed,
                                       FactorLayout::shifted, FactorLayout::gappy,
                                       FactorLayout::broadcast};
  for (const ScalarType dtype : kHalfTypes)
    for (const FactorLayout of_a : kLayouts)
      for (const FactorLayout of_b : kLayouts) {
        const int64_t batches = pick(1, 3), m = pick(1, 45), k = pick(1, 50), n = pick(1, 45);
        const ScalarType result = pick(0, 1) ? dtype : kFloat;
        Factor bias;
        if (pick(0, 1)) {
          const Factor row = random_factor(result, 1, 1, n, FactorLayout::gappy);
          bias = {row.cpu[0][0], row.gpu[0][0]};
        }
        expect_product(random_factor(dtype, batches, m, k, of_a),
                       random_factor(dtype, batches, k, n, of_b), bias, result);
      }
}

TEST_F(HalfMatmulTest, TakesVectorsAndSizesOfTiles) {
  const int64_t sizes[][3] = {{1, 128, 1}, {1, 64, 40}, {40, 64, 1}, {32, 32, 32}, {64, 8, 96}};
  for (const ScalarType dtype : kHalfTypes)
    for (const auto& [m, k, n] : sizes)
      expect_product(random_factor(dtype, 2, m, k, FactorLayout::plain),
                     random_factor(dtype, 2, k, n, FactorLayout::transposed), {}, dtype);
}

// Up to 16 rows, whose terms and those of the columns lie along memory in units of 16 bytes.
TEST_F(HalfMatmulTest, TakesFewRows) {
  const int64_t many = kSimulated ? 700 : 9001;  // columns, for blocks of each width
  for (const ScalarType dtype : kHalfTypes)
    for (const auto& [m, k, n] : {std::array<int64_t, 3>{1, 8, 64},
                                  {1, 3080, 70},
                                  {3, 264, many},
                                  {8, 768, 131},
                                  {9, 40, many},
                                  {16, 776, 400},
                                  {pick(1, 16), 8 * pick(1, 60), pick(64, 300)}})
      for (const ScalarType result : {dtype, kFloat}) {
        const Factor row = random_factor(result, 1, 1, n, FactorLayout::gappy);
        const Factor bias = pick(0, 1) ? Factor{row.cpu[0][0], row.gpu[0][0]} : Factor{};
        expect_product(random_factor(dtype, 1, m, k, FactorLayout::plain),
                       random_factor(dtype, 1, k, n, FactorLayout::transposed), bias, result);
        EXPECT_CONTAINS(cuda::recent_launches(), "matmul_rows");
      }
}

// Terms that no unit of 16 bytes holds, or that do not begin where one does, and more rows.
TEST_F(HalfMatmulTest, TakesFewRowsThatAreNotAligned) {
  for (const auto& [m, k, n] : {std::array<int64_t, 3>{2, 9, 70}, {17, 16, 70}, {2, 16, 63}})
    expect_product(random_factor(kHalf, 1, m, k, FactorLayout::plain),
                   random_factor(kHalf, 1, k, n, FactorLayout::transposed), {}, kHalf);
  expect_product(random_factor(kHalf, 1, 2, 16, FactorLayout::shifted),
                 random_factor(kHalf, 1, 16, 70, FactorLayout::transposed), {}, kHalf);
  expect_product(random_factor(kHalf, 1, 2, 16, FactorLayout::plain),
                 random_factor(kHalf, 1, 16, 70, FactorLayout::plain), {}, kHalf);
}

// The gradient of the bias, which a product may sum up beside that of the weight.
TEST_F(HalfMatmulTest, SumsTheGradientOfTheBias) {
  for (const ScalarType dtype : kHalfTypes)
    for (const auto& [rows, in, out] : {std::array<int64_t, 3>{70, 24, 40},
                                        {300, 9, 7},
                                        {1, 8, 8},
                                        {129, 16, 264},
                                        {1500, 8, 136}}) {
      const auto leaf = [&](Tensor x) { return x.to(dtype).cuda().set_requires_grad(true); };
      const Tensor x = randn({rows, in}).to(dtype), grad = randn({rows, out}).to(dtype);
      const Tensor weight = leaf(randn({out, in})), bias = leaf(randn({out}));
      gradus::linear(x.cuda(), weight, bias).backward(grad.cuda());
      EXPECT_EQ(bias.grad().dtype(), dtype);
      const Tensor sums = as_double(grad).sum(0), product = as_double(grad).t().mm(as_double(x));
      EXPECT_LE((as_double(bias.grad()) - sums).abs().max().item<double>(),
                3 * allowed(dtype, rows));
      EXPECT_LE((as_double(weight.grad()) - product).abs().max().item<double>(),
                9 * allowed(dtype, rows));
    }
}

TEST_F(HalfMatmulTest, WithoutTermsGivesTheBias) {
  for (const ScalarType dtype : kHalfTypes) {
    const Tensor a = zeros({5, 0}, gpu(dtype)), weight = zeros({3, 0}, gpu(dtype));
    EXPECT_TRUE(a.matmul(weight.t()).equal(zeros({5, 3}, gpu(dtype))));
    const Tensor bias = tensor({1., 2., 3.}).to(dtype).cuda();
    EXPECT_TRUE(gradus::linear(a, weight, bias).equal(bias.expand({5, 3})));
  }
}

TEST_F(HalfMatmulTest, WgmmaTakesTilesOfEveryWidthAndTheirTails) {
  if (!cuda::has_wgmma()) GTEST_SKIP() << "needs a GPU of compute capability 9.0";
  cuda::set_matmul_kernel("wgmma");
  // On 132 multiprocessors two batches of these take every row of kWgmmaTiles.
  const int64_t sizes[][3] = {{8, 64, 8},       {300, 200, 136},  {264, 72, 392},
                              {520, 1000, 512}, {392, 456, 1168}, {776, 456, 1168},
                              {1160, 456, 1168}};
  for (const ScalarType dtype : kHalfTypes)
    for (const auto& [m, k, n] : sizes)
      for (const FactorLayout of_a : {FactorLayout::plain, FactorLayout::transposed})
        for (const FactorLayout of_b : {FactorLayout::plain, FactorLayout::transposed}) {
          if (of_a == FactorLayout::transposed && m % 8 > 0) continue;  // TMA's 16 bytes
          const Factor a = random_factor(dtype, 2, m, k, of_a),
                       b = random_factor(dtype, 2, k, n, of_b);
          const Factor row = random_factor(dtype, 1, 1, n, FactorLayout::plain);
          const bool has_bias = pick(0, 1);
          const Tensor out = full({2, m, n}, std::nan(""), gpu(dtype));
          cuda_backend().matmul(a.gpu, b.gpu, has_bias ? row.gpu[0][0] : Tensor(), out);
          Tensor expected = as_double(a.cpu).bmm(as_double(b.cpu));
          if (has_bias) expected = expected + as_double(row.cpu[0][0]);
          EXPECT_LE((as_double(out) - expected).abs().max().item<double>(), allowed(dtype, k))
              << m << " x " << k << " x " << n;
        }
}

// The products of a classifier with 50257 classes: results of odd lines, and odd rows that are
// padded.
TEST_F(HalfMatmulTest, WgmmaTakesSizesThatAreNoMultiplesOf8) {
  if (!cuda::has_wgmma()) GTEST_SKIP() << "needs a GPU of compute capability 9.0";
  cuda::set_matmul_kernel("wgmma");
  for (const ScalarType dtype : kHalfTypes)
    for (const auto& [m, k, n] : {std::array<int64_t, 3>{300, 72, 1001}, {520, 200, 517}}) {
      const Tensor x = randn({m, k}).to(dtype), weight = randn({n, k}).to(dtype),
                   bias = randn({n}).to(dtype), grad = randn({m, n}).to(dtype);
      const Tensor padded = full({m, (n + 7) / 8 * 8}, std::nan(""), gpu(dtype)).narrow(1, 0, n);
      padded.copy_(grad);
      const Tensor results[] = {gradus::linear(x.cuda(), weight.cuda(), bias.cuda()),
                                padded.matmul(weight.cuda()), padded.t().matmul(x.cuda())};
      const Tensor expected[] = {as_double(x).matmul(as_double(weight).t()) + as_double(bias),
                                 as_double(grad).matmul(as_double(weight)),
                                 as_double(grad).t().matmul(as_double(x))};
      const int64_t terms[] = {k, n, m};
      for (size_t i = 0; i < 3; ++i)
        EXPECT_LE((as_double(results[i]) - expected[i]).abs().max().item<double>(),
                  4 * allowed(dtype, terms[i]))
            << i;
    }
}

TEST_F(HalfMatmulTest, WgmmaSuitsSmallProductsAndLargeOnesOfOddSizes) {
  const auto suits = [](int64_t m, int64_t k, int64_t n) {
    const Tensor a = empty({1, m, k}, gpu(kHalf)), b = empty({1, n, k}, gpu(kHalf)).transpose(1, 2);
    return cuda::wgmma_suits(a, b, empty({1, m, n}, gpu(kHalf)), 132);
  };
  EXPECT_TRUE(suits(8192, 8, 1001));
  EXPECT_TRUE(suits(4096, 30522, 768));  // a gradient of 30522 classes
  EXPECT_FALSE(suits(8192, 8, 1024));
  EXPECT_TRUE(suits(8192, 9, 1024));
  EXPECT_FALSE(suits(8192, 0, 1001));
  EXPECT_FALSE(suits(256, 513, 1001));  // few tiles and long sums
  EXPECT_FALSE(suits(1024, 512, 1024));
  EXPECT_FALSE(suits(20000, 8, 1));  // narrow ones
  EXPECT_TRUE(suits(512, 512, 512));
  EXPECT_TRUE(suits(256, 8, 1001));
}

TEST_F(HalfMatmulTest, WgmmaTilesFillTheDevice) {
  const auto width = [](int64_t m, int64_t k, int64_t n, int64_t batches = 1) {
    return cuda::kWgmmaTiles[cuda::wgmma_tile(m, k, n, batches, 132)].width;
  };
  EXPECT_EQ(width(8192, 768, 50257), 256);
  EXPECT_EQ(width(8192, 3072, 768), 192);  // 96 tiles of 256 would take two rounds
  EXPECT_EQ(width(1280, 1024, 1280), 128);
  EXPECT_EQ(width(8192, 8192, 8192), 256);
  const auto height = [](int64_t size) {
    return cuda::kWgmmaTiles[cuda::wgmma_tile(size, size, size, 1, 132)].height;
  };
  EXPECT_EQ(height(1280), 256);
  EXPECT_EQ(height(1024), 128);
  EXPECT_EQ(height(512), 64);
  EXPECT_EQ(height(8), 64);
}

// One product, as for rows of one matrix: no batch has a launch or a slow kernel of its own.
TEST_F(HalfMatmulTest, BatchesThatShareAFactorAreRows) {
  for (const ScalarType dtype : kHalfTypes) {
    const Factor a = random_factor(dtype, 3, 10, 17, FactorLayout::plain);
    const Factor b = random_factor(dtype, 3, 17, 9, FactorLayout::broadcast);
    expect_product(a, b, {}, dtype);
  }
}

// 2048 terms of 1 / 2048 beside one of 1: in 16 bits the sum would stay at 1.
TEST_F(HalfMatmulTest, AddsUpInFloat32) {
  for (const ScalarType dtype : kHalfTypes) {
    Tensor a = full({1, 2049}, 1.0 / 2048, gpu(dtype)), b = ones({2049, 1}, gpu(dtype));
    a[0][0].fill_(1);
    EXPECT_EQ(a.matmul(b).item<float>(), 2);
  }
}

TEST_F(HalfMatmulTest, CarriesInfinitiesAndNaN) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const ScalarType dtype : kHalfTypes) {
    const Tensor a = tensor({{1., infinity}, {1., std::nan("")}, {2., 3.}}).to(dtype).cuda();
    const Tensor out = as_double(a.matmul(ones({2, 2}, gpu(dtype))));
    EXPECT_EQ(out[0][0].item<double>(), infinity);
    EXPECT_TRUE(std::isnan(out[1][1].item<double>()));
    EXPECT_EQ(out[2][0].item<double>(), 5);
  }
}

TEST_F(HalfMatmulTest, RefusesKernelsOfOtherTypes) {
  const Tensor x = ones({4, 4}, gpu(kHalf));
  cuda::set_matmul_kernel("vectorized");
  expect_error<NotImplementedError>([&] { x.matmul(x); },
                                    "matmul: the kernel 'vectorized' multiplies no float16; pick "
                                    "another with set_matmul_kernel(\"automatic\")");
  cuda::set_matmul_kernel("tiled");
  EXPECT_EQ(x.matmul(x)[0][0].item<float>(), 4);
}

// How many of the kernels that f launches convert a tensor to another type.
template <class F>
int64_t conversions(const F& f) {
  const int64_t before = cuda::stats().kernel_launches;
  f();
  const int64_t launched = cuda::stats().kernel_launches - before;
  std::istringstream lines(cuda::recent_launches());
  std::string line;
  int64_t found = 0, seen = 0;
  while (seen < launched && std::getline(lines, line)) {
    ++seen;
    found += line.find("Convert<") != std::string::npos;
  }
  EXPECT_EQ(seen, launched) << "more launches than are remembered";
  return found;
}

TEST_F(HalfMatmulTest, AnAutocastStepConvertsWeightsAlone) {
  for (const ScalarType dtype : kHalfTypes) {
    nn::Linear layer(24, 40);
    layer->to(kCUDA);
    const auto on_gpu = [&](Tensor x) {
      return x.to(dtype).cuda().detach().set_requires_grad(true);
    };
    const Tensor x = on_gpu(randn({3, 7, 24}));
    Tensor y;
    amp::autocast guard(kCUDA, dtype);
    EXPECT_EQ(conversions([&] { y = layer->forward(x); }), 2);  // weight, bias
    EXPECT_EQ(conversions([&] { y = layer->forward(x); }), 0);  // which are kept
    const Tensor grad = randn({3, 7, 40}).to(dtype).cuda();
    // Their gradients come as float32.
    EXPECT_EQ(conversions([&] { y.backward(grad); }), 0);
    EXPECT_EQ(x.grad().dtype(), dtype);
    EXPECT_EQ(layer->weight.grad().dtype(), kFloat);

    const Tensor a = on_gpu(randn({2, 5, 6})), b = on_gpu(randn({2, 6, 4}));
    EXPECT_EQ(conversions([&] { a.bmm(b).backward(ones({2, 5, 4}, gpu(dtype))); }), 0);
    EXPECT_EQ(conversions([&] { a.matmul(b[0]); }), 0);
  }
}

TEST_F(HalfMatmulTest, AddsToAProductWithOneRounding) {
  for (const ScalarType dtype : kHalfTypes) {
    const Tensor self = randn({5, 4}).to(dtype), a = randn({5, 90}).to(dtype),
                 b = randn({90, 4}).to(dtype);
    const Tensor expected = addmm(as_double(self), as_double(a), as_double(b), 0.5, 2);
    const Tensor out = addmm(self.cuda(), a.cuda(), b.cuda(), 0.5, 2);
    EXPECT_EQ(out.dtype(), dtype);
    EXPECT_LE((as_double(out) - expected).abs().max().item<double>(), 6 * allowed(dtype, 90));
    const Tensor sum = addmv(self.cuda().select(1, 0), a.cuda(), b.cuda().select(1, 0), 0.5, 2);
    EXPECT_LE((as_double(sum) - expected.select(1, 0)).abs().max().item<double>(),
              6 * allowed(dtype, 90));
  }
}

TEST_F(HalfMatmulTest, ThePrecisionOfFloat32IsAsked) {
  EXPECT_EQ(get_float32_matmul_precision(), "highest");
  const auto error = [](int64_t m, int64_t k, int64_t n) {
    const Tensor a = randn({m, k}), b = randn({k, n});
    const Tensor apart = as_double(a.cuda().matmul(b.cuda())) - as_double(a).matmul(as_double(b));
    return apart.abs().max().item<double>();
  };
  for (const char* const precision : {"highest", "high", "medium"}) {
    set_float32_matmul_precision(precision);
    EXPECT_EQ(get_float32_matmul_precision(), precision);
    const bool exact = precision == std::string("highest") || kSimulated;
    const double of_large = error(301, 203, 165);
    // TF32 rounds each operand by up to 2^-11 of it.
    EXPECT_LE(of_large, exact ? 1e-4 : 6 * std::sqrt(203.) * 0x1p-10) << precision;
    EXPECT_TRUE(exact || of_large > 1e-3) << precision << " error " << of_large;
    EXPECT_LE(error(65, 70, 33), 1e-4) << precision << ": small products stay exact";
  }
  expect_error<ValueError>([] { set_float32_matmul_precision("exact"); },
                           "set_float32_matmul_precision: precision is 'exact'; expected highest, "
                           "high or medium");
}

}  // namespace
}  // namespace gradus
