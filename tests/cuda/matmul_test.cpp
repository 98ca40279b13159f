// Every matmul kernel against the CPU: layouts, shapes, long sums, errors.
#include "gradus/cuda/ops/matmul.h"

#include <cmath>
#include <limits>

#include "gradus/cuda/ops/matmul/wgmma.h"
#include "gradus/tensor/raw/raw.h"
#include "tests/cuda/gpu_test.h"
#include "tests/random.h"

namespace gradus {
namespace {

using test::pick;
using test::rng;

// How an operand lies in memory. `shifted` begins one element past an aligned address; `gappy` uses
// every second row and every third column; `broadcast` has one matrix for all batches.
enum class OperandLayout { plain, transposed, shifted, gappy, broadcast };
constexpr OperandLayout kOperandLayouts[] = {OperandLayout::plain, OperandLayout::transposed,
                                             OperandLayout::shifted, OperandLayout::gappy,
                                             OperandLayout::broadcast};

// A tensor (batches, rows, columns) of random numbers, on the CPU and, with the same strides, on
// the GPU.
struct Operand {
  Tensor cpu, gpu;
};
Operand random_operand(ScalarType dtype, int64_t batches, int64_t rows, int64_t columns,
                       OperandLayout layout) {
  const int64_t down = layout == OperandLayout::gappy ? 2 : 1,
                across = layout == OperandLayout::gappy ? 3 : 1;
  const int64_t shift = layout == OperandLayout::shifted ? 1 : 0;
  Dims strides = {rows * down * columns * across, down * columns * across, across};
  if (layout == OperandLayout::transposed) strides = {rows * columns, 1, rows};
  if (layout == OperandLayout::broadcast) strides[0] = 0;
  const Tensor memory = raw::empty({shift + batches * rows * down * columns * across}, dtype, kCPU);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int64_t i = 0; i < memory.numel(); ++i) {
    if (dtype == kFloat) memory.data_ptr<float>()[i] = static_cast<float>(uniform(rng()));
    if (dtype == kDouble) memory.data_ptr<double>()[i] = uniform(rng());
    if (dtype == kLong) memory.data_ptr<int64_t>()[i] = pick(-1000, 1000);
  }
  const Tensor copy = raw::to(memory, kCUDA);
  const Dims sizes = {batches, rows, columns};
  return {raw::as_strided(memory, sizes, strides, shift),
          raw::as_strided(copy, sizes, strides, shift)};
}

double at(const Tensor& x, int64_t i) {
  if (x.dtype() == kFloat) return static_cast<double>(x.data_ptr<float>()[i]);
  if (x.dtype() == kDouble) return x.data_ptr<double>()[i];
  return static_cast<double>(x.data_ptr<int64_t>()[i]);
}

// The definition, in float64 (exact for the small integers used here).
std::vector<double> reference(const Tensor& a, const Tensor& b, const Tensor& bias) {
  const int64_t batches = a.size(0), m = a.size(1), k = a.size(2), n = b.size(2);
  std::vector<double> out(static_cast<size_t>(batches * m * n)), factor(static_cast<size_t>(n));
  for (int64_t batch = 0; batch < batches; ++batch) {
    double* const sums = out.data() + batch * m * n;
    for (int64_t i = 0; bias.defined() && i < m * n; ++i)
      sums[i] = at(bias, i % n * bias.stride(0));
    for (int64_t i = 0; i < k; ++i) {
      for (int64_t col = 0; col < n; ++col)
        factor[static_cast<size_t>(col)] =
            at(b, batch * b.stride(0) + i * b.stride(1) + col * b.stride(2));
      for (int64_t row = 0; row < m; ++row) {
        const double x = at(a, batch * a.stride(0) + row * a.stride(1) + i * a.stride(2));
        double* const of_row = sums + row * n;
        for (int64_t col = 0; col < n; ++col) of_row[col] += x * factor[static_cast<size_t>(col)];
      }
    }
  }
  return out;
}

// ||out - expected|| / ||expected||; a NaN that was left in `out` makes it a NaN. Where the k terms
// of an element happen to cancel, its usual size counts: each is a product of two numbers from [-1,
// 1).
double relative_error(const double* expected, const Tensor& out, int64_t k) {
  double difference = 0, norm = 0;
  for (int64_t i = 0; i < out.numel(); ++i) {
    difference += std::pow(at(out, i) - expected[i], 2);
    norm += std::max(std::pow(expected[i], 2), static_cast<double>(k) / 9);
  }
  return difference == 0 ? 0 : std::sqrt(difference / norm);
}

// 16 roundings, or, with many terms, what a sum in order comes to: on the way it is about
// sqrt(k / 18), so that k roundings, each of up to half an ulp to either side, add up to 0.4 ulp
// sqrt(k) of its size sqrt(k / 9). Five times that is out of the reach of chance.
double tolerance(ScalarType dtype, int64_t k) {
  if (dtype == kLong) return 0;
  const double ulp = dtype == kFloat ? 0x1p-24 : 0x1p-53;
  return ulp * std::max(16.0, 2 * std::sqrt(static_cast<double>(k)));
}

constexpr int64_t kFence = 65;  // odd: the output's memory is not aligned to 16 bytes either

// The product on the GPU into memory full of NaN, with `fence` elements on either side of it that
// must stay as they were.
Tensor multiply(const Tensor& a, const Tensor& b, const Tensor& bias, int64_t fence) {
  const int64_t batches = a.size(0), m = a.size(1), n = b.size(2), count = batches * m * n;
  const Scalar poison = a.dtype() == kLong ? Scalar(-987654321) : Scalar(std::nan(""));
  const Tensor memory = raw::empty({count + 2 * fence}, a.dtype(), a.device());
  raw::fill_(memory, poison);
  cuda_backend().matmul(a, b, bias, raw::as_strided(memory, {batches, m, n}, {m * n, n, 1}, fence));
  const Tensor all = raw::to(memory, kCPU);
  for (int64_t i = 0; i < fence; ++i)
    for (const double element : {at(all, i), at(all, fence + count + i)})
      EXPECT_TRUE(std::isnan(element) || element == -987654321) << "written outside the output";
  return raw::as_strided(all, {count}, {1}, fence);
}

// Whether a kernel has the dtype.
bool takes(std::string_view kernel, ScalarType dtype) {
  if (kernel == "wgmma") return dtype == kFloat && cuda::has_wgmma();
  if (dtype == kFloat) return true;
  if (kernel == "vectorized" || kernel == "tensor_cores") return false;
  return dtype == kDouble || (kernel.substr(0, 8) != "register" && kernel != "cublas");
}

class MatmulTest : public GpuTest {
 protected:
  void TearDown() override {
    if (cuda::is_available()) cuda::set_matmul_kernel("automatic");
  }

  // Compares every kernel with the definition.
  void check_product(ScalarType dtype, int64_t batches, int64_t m, int64_t n, int64_t k,
                     OperandLayout a_layout = OperandLayout::plain,
                     OperandLayout b_layout = OperandLayout::plain, bool with_bias = false,
                     ArrayRef<std::string_view> kernels = cuda::matmul_kernels()) {
    const Operand a = random_operand(dtype, batches, m, k, a_layout);
    const Operand b = random_operand(dtype, batches, k, n, b_layout);
    Operand bias;
    if (with_bias) {
      const Operand matrix = random_operand(dtype, 1, n, 2, OperandLayout::plain);
      bias = {raw::as_strided(matrix.cpu, {n}, {2}, 1), raw::as_strided(matrix.gpu, {n}, {2}, 1)};
    }
    const std::vector<double> expected = reference(a.cpu, b.cpu, bias.cpu);
    const bool gaps = a_layout == OperandLayout::gappy || b_layout == OperandLayout::gappy;
    for (const std::string_view kernel : kernels) {
      if (!takes(kernel, dtype) || (kernel == "cublas" && gaps)) continue;
      cuda::set_matmul_kernel(kernel);
      const int64_t fence = pick(0, 1) ? kFence : kFence - 1;
      const Tensor out = multiply(a.gpu, b.gpu, bias.gpu, fence);
      EXPECT_LE(relative_error(expected.data(), out, k), tolerance(dtype, k))
          << kernel << " " << dtype << " batches " << batches << " m " << m << " n " << n << " k "
          << k << " layouts " << static_cast<int>(a_layout) << static_cast<int>(b_layout)
          << " bias " << with_bias << " fence " << fence;
    }
  }
};

TEST_F(MatmulTest, EveryKernelTakesEveryLayout) {
  // Simulated devices take the time of each term.
  const int64_t batches = kSimulated ? 1 : 2, terms = kSimulated ? 20 : 40;
  for (const OperandLayout a : kOperandLayouts)
    for (const OperandLayout b : kOperandLayouts) {
      // A kernel reads each operand by itself.
      constexpr OperandLayout plain = OperandLayout::plain;
      if (kSimulated && a != b && a != plain && b != plain) continue;
      check_product(kFloat, batches, 132, 136, terms, a, b, pick(0, 1));  // tails of tiles
      check_product(kFloat, 3, 37, 29, 35, a, b, pick(0, 1));
      check_product(kDouble, 2, 70, 66, 20, a, b, pick(0, 1));
      check_product(kLong, 2, 34, 33, 35, a, b, pick(0, 1));
    }
}

TEST_F(MatmulTest, EveryKernelTakesWholeTiles) {
  const int64_t rows = kSimulated ? 128 : 256, terms = kSimulated ? 32 : 64;
  for (const OperandLayout a : {OperandLayout::plain, OperandLayout::transposed})
    for (const OperandLayout b : {OperandLayout::plain, OperandLayout::transposed}) {
      check_product(kFloat, 1, rows, 256, terms, a, b);
      check_product(kDouble, 1, 128, 128, terms, a, b, true);
    }
}

TEST_F(MatmulTest, RandomShapes) {
  const int64_t most = kSimulated ? 140 : 300, rounds = kSimulated ? 8 : 40;
  for (int64_t round = 0; round < rounds; ++round)
    check_product(round % 4   ? kFloat
                  : round % 8 ? kDouble
                              : kLong,
                  pick(1, 3), pick(1, most), pick(1, most), pick(1, most),
                  kOperandLayouts[pick(0, 4)], kOperandLayouts[pick(0, 4)], pick(0, 1));
}

TEST_F(MatmulTest, SkinnyAndTinyShapes) {
  const auto both = [this](int64_t m, int64_t n, int64_t k) {
    check_product(kFloat, 1, m, n, k, OperandLayout::plain, OperandLayout::transposed, true);
    check_product(kFloat, 1, m, n, k, OperandLayout::transposed, OperandLayout::plain);
    check_product(kDouble, 1, m, n, k, OperandLayout::plain, OperandLayout::transposed, true);
  };
  both(1, 1, 1);
  both(64, 1, 10);
  both(1, 10, 64);
  both(10, 1000, 64);
  const int64_t most = kSimulated ? 200 : 784;
  both(most, 10, most);
  both(1, 300, most);
  both(300, 1, most);
}

// An operand that no cache holds and few columns; rows and terms that fill no block, and a bias.
TEST_F(MatmulTest, LargeOperandsTimesFewColumns) {
  const int64_t m = kSimulated ? 523 : 2051, k = kSimulated ? 2062 : 8262;
  for (const int64_t n :
       kSimulated ? std::vector<int64_t>{5} : std::vector<int64_t>{2, 5, 10, 12, 13})
    check_product(kFloat, 1, m, n, k, OperandLayout::plain, OperandLayout::transposed, true,
                  {"automatic"});
}

// The same of few rows, whose terms lie across memory.
TEST_F(MatmulTest, FewRowsTimesLargeOperands) {
  const int64_t k = kSimulated ? 523 : 2051, n = kSimulated ? 2064 : 8264;
  for (const int64_t m :
       kSimulated ? std::vector<int64_t>{5} : std::vector<int64_t>{1, 3, 4, 7, 10, 12, 13})
    for (const OperandLayout of_a : {OperandLayout::plain, OperandLayout::transposed})
      check_product(kFloat, 1, m, n, k, of_a, OperandLayout::plain, true, {"automatic"});
}

// Beside the product: by a kernel that adds them as it goes, or by a reduction.
TEST_F(MatmulTest, SumsOfRowsComeWithTheProduct) {
  const auto layout = [] { return kOperandLayouts[pick(0, 3)]; };
  for (int round = 0; round < 16; ++round) {
    const ScalarType dtype = round % 4 == 3 ? kDouble : kFloat;
    const int64_t m = pick(1, round % 2 ? 12 : 150), n = pick(1, 150), k = pick(1, 150);
    const Operand a = random_operand(dtype, 1, m, k, layout());
    const Operand b = random_operand(dtype, 1, k, n, layout());
    const Tensor out = raw::empty({1, m, n}, dtype, kCUDA), sums = raw::empty({m}, dtype, kCUDA);
    raw::fill_(sums, std::nan(""));
    cuda_backend().matmul_sums(a.gpu, b.gpu, out, sums);
    const Tensor ones = raw::empty({1, k, 1}, dtype, kCPU);
    raw::fill_(ones, 1);
    const auto check = [&](const Tensor& got, const Tensor& factor, const char* what) {
      EXPECT_LE(relative_error(reference(a.cpu, factor, {}).data(), raw::to(got, kCPU), k),
                tolerance(dtype, k))
          << what << " " << dtype << " m " << m << " n " << n << " k " << k;
    };
    check(out, b.cpu, "product");
    check(sums, ones, "sums");
  }
}

// Few outputs and many terms: these are split over blocks, with a rest that does not divide.
TEST_F(MatmulTest, LongSums) {
  const int64_t terms = kSimulated ? 500 : 10000;
  check_product(kFloat, 1, 1, 1, 10 * terms + 3);
  check_product(kFloat, 1, 33, 47, terms + 7, OperandLayout::plain, OperandLayout::plain, true);
  check_product(kFloat, 1, 10, 200, terms / 2, OperandLayout::transposed, OperandLayout::plain);
  check_product(kDouble, 1, 33, 47, terms + 7, OperandLayout::transposed, OperandLayout::transposed,
                true);
  check_product(kLong, 1, 5, 6, 3001, OperandLayout::plain, OperandLayout::plain, true);
}

// One function launches all kernels.
TEST_F(MatmulTest, MoreBatchesThanAGridCounts) {
  // The automatic kernel computes a tile of 32 x 32 a batch: minutes on simulated devices.
  const std::vector<std::string_view> kernels =
      kSimulated ? std::vector<std::string_view>{"naive"}
                 : std::vector<std::string_view>{"automatic", "cublas"};
  for (const OperandLayout b : {OperandLayout::plain, OperandLayout::broadcast})
    check_product(kFloat, 70001, 1, 1, kSimulated ? 32 : 128, OperandLayout::plain, b, true,
                  kernels);
}

TEST_F(MatmulTest, NoTermsGiveTheBiasOrZero) {
  for (const bool with_bias : {false, true})
    for (const ScalarType dtype : {kFloat, kDouble, kLong})
      check_product(dtype, 2, 3, 5, 0, OperandLayout::plain, OperandLayout::plain, with_bias);
}

TEST_F(MatmulTest, NoOutputsAreNothingToDo) {
  check_product(kFloat, 2, 0, 5, 3);
  check_product(kFloat, 2, 5, 0, 3);
  check_product(kFloat, 0, 5, 4, 3);
}

TEST_F(MatmulTest, TheSameProductTwiceIsTheSameBitForBit) {
  const Operand a = random_operand(kFloat, 1, 40, 20000, OperandLayout::plain);
  const Operand b = random_operand(kFloat, 1, 20000, 30, OperandLayout::plain);
  const Tensor first = multiply(a.gpu, b.gpu, {}, 0), second = multiply(a.gpu, b.gpu, {}, 0);
  for (int64_t i = 0; i < first.numel(); ++i) ASSERT_EQ(at(first, i), at(second, i)) << i;
}

// f(kernel, its product of what a and b have on the CPU) for each kernel that takes floats.
template <class F>
void for_each_product(const Operand& a, const Operand& b, const F& f) {
  raw::copy_(a.gpu, a.cpu);
  raw::copy_(b.gpu, b.cpu);
  for (const std::string_view kernel : cuda::matmul_kernels()) {
    if (!takes(kernel, kFloat)) continue;
    cuda::set_matmul_kernel(kernel);
    f(kernel, multiply(a.gpu, b.gpu, {}, 0));
  }
}

// What does not fit a part of a float that tensor cores take: each row of a has one such number.
TEST_F(MatmulTest, TheEndsOfTheRangeAreThoseOfMultiplyAdds) {
  constexpr float kInf = std::numeric_limits<float>::infinity(), kMax = 0x1.fffffep127f;
  const std::vector<float> odd = {kInf,   -kInf,     NAN,     kMax,   -kMax, 0x1.fffp127f,
                                  1e-30f, 0x1p-126f, -1e-40f, 1e-45f, -0.f,  0x1.ffep127f};
  constexpr int64_t kRows = 150, kCols = 140, kTerms = 40;
  for (const OperandLayout layout : {OperandLayout::plain, OperandLayout::transposed}) {
    const Operand a = random_operand(kFloat, 1, kRows, kTerms, layout);
    const Operand b = random_operand(kFloat, 1, kTerms, kCols, layout);
    for (int64_t i = 0; i < kTerms * kCols; ++i)
      b.cpu.data_ptr<float>()[i] = static_cast<float>(test::real(0.5, 0.99));
    for (int64_t row = 0; row < kRows; ++row) {
      const float x = odd[static_cast<size_t>(row) % odd.size()];
      const bool tiny = std::abs(x) < 1e-20f;
      for (int64_t k = 0; k < kTerms; ++k) {
        float& element = a.cpu.data_ptr<float>()[row * a.cpu.stride(1) + k * a.cpu.stride(2)];
        if (tiny || k == row % kTerms) element = x;
      }
    }
    const std::vector<double> expected = reference(a.cpu, b.cpu, {});
    for_each_product(a, b, [&](std::string_view kernel, const Tensor& out) {
      for (int64_t i = 0; i < out.numel(); ++i) {
        const double x = expected[static_cast<size_t>(i)];
        if (std::isnan(x))
          ASSERT_TRUE(std::isnan(at(out, i))) << kernel << " row " << i / kCols;
        else if (std::isinf(x))
          ASSERT_EQ(at(out, i), x) << kernel << " row " << i / kCols;
        else  // each term rounds to a multiple of 2^-149
          ASSERT_NEAR(at(out, i), x, std::abs(x) * 1e-5 + kTerms * 0x1p-149)
              << kernel << " row " << i / kCols;
      }
    });
  }
}

// A kernel that splits floats loses no more of small ones than the few bits below 2^-149 of a part.
TEST_F(MatmulTest, SubnormalNumbersKeepTheirBits) {
  constexpr int64_t kRows = 70, kCols = 90, kTerms = 50;
  for (const double scale : {1e-37, 1e-38, 1e-39})
    for (const bool in_a : {true, false}) {
      const Operand a = random_operand(kFloat, 1, kRows, kTerms, OperandLayout::plain);
      const Operand b = random_operand(kFloat, 1, kTerms, kCols, OperandLayout::plain);
      raw::zip_(BinaryOp::mul, a.cpu, Scalar(in_a ? scale : 1e3));
      raw::zip_(BinaryOp::mul, b.cpu, Scalar(in_a ? 1e3 : scale));
      const std::vector<double> expected = reference(a.cpu, b.cpu, {});
      for_each_product(a, b, [&](std::string_view kernel, const Tensor& out) {
        double error = 0, squares = 0;
        for (int64_t i = 0; i < out.numel(); ++i) {
          const double x = expected[static_cast<size_t>(i)] / scale;
          error += std::pow(at(out, i) / scale - x, 2), squares += x * x;
        }
        EXPECT_LE(std::sqrt(error / squares), scale < 1e-38 ? 3e-6 : 1e-6)
            << kernel << " " << scale;
      });
    }
}

// Large enough for several tiles, stages and parts of wgmma; and what it says where it is not.
TEST_F(MatmulTest, WgmmaTakesManyTilesAndParts) {
  if (!cuda::has_wgmma()) {
    cuda::set_matmul_kernel("wgmma");
    const Tensor x = raw::empty({1, 4, 4}, kFloat, kCUDA);
    EXPECT_CONTAINS(
        message_of<NotImplementedError>([&] { cuda_backend().matmul(x, x, Tensor(), x); }),
        "the kernel 'wgmma' needs a GPU of compute capability 9.0");
    return;
  }
  for (const OperandLayout a : kOperandLayouts)
    for (const OperandLayout b : kOperandLayouts) {
      check_product(kFloat, 2, 515, 387, 200, a, b, pick(0, 1), {"wgmma"});
      check_product(kFloat, 1, 130, 129, 3000, a, b, pick(0, 1), {"wgmma"});
    }
  // Of one step, with more tiles than there are blocks, and lines that TMA takes or does not take.
  for (const OperandLayout layout : {OperandLayout::plain, OperandLayout::transposed})
    for (const int64_t n : {900, 902, 903})
      check_product(kFloat, 5, 1300, n, pick(1, 20), layout, OperandLayout::plain, pick(0, 1),
                    {"wgmma"});
  check_product(kFloat, 2, 515, 388, 64, OperandLayout::gappy, OperandLayout::transposed, true,
                {"wgmma"});
}

TEST_F(MatmulTest, CublasRefusesWhatItCannotExpress) {
  cuda::set_matmul_kernel("cublas");
  const Operand gappy = random_operand(kFloat, 1, 4, 4, OperandLayout::gappy);
  const Operand plain = random_operand(kFloat, 1, 4, 4, OperandLayout::plain);
  const std::string text = message_of<Error>([&] { multiply(gappy.gpu, plain.gpu, {}, 0); });
  EXPECT_CONTAINS(text, "self has strides 24 and 3");
  const Operand whole = random_operand(kLong, 1, 4, 4, OperandLayout::plain);
  EXPECT_CONTAINS(message_of<NotImplementedError>([&] { multiply(whole.gpu, whole.gpu, {}, 0); }),
                  "int64");
}

TEST_F(MatmulTest, AKernelRefusesADtypeThatItDoesNotHave) {
  for (const ScalarType dtype : {kLong, kDouble}) {
    const Tensor x = raw::empty({1, 4, 4}, dtype, kCUDA), out = raw::empty({1, 4, 4}, dtype, kCUDA);
    raw::fill_(x, 1);
    for (const std::string_view kernel : cuda::matmul_kernels()) {
      cuda::set_matmul_kernel(kernel);
      const auto multiply = [&] { cuda_backend().matmul(x, x, Tensor(), out); };
      if (takes(kernel, dtype))
        EXPECT_NO_THROW(multiply()) << kernel;
      else
        EXPECT_CONTAINS(message_of<NotImplementedError>(multiply),
                        "multiplies no " + std::string(short_name(dtype)));
    }
  }
}

TEST_F(MatmulTest, KernelsAreChosenByName) {
  EXPECT_EQ(cuda::matmul_kernels().vec(),
            (std::vector<std::string_view>{"automatic", "naive", "coalesced", "tiled",
                                           "register_1d", "register_2d", "vectorized",
                                           "tensor_cores", "wgmma", "cublas"}));
  for (const std::string_view name : cuda::matmul_kernels()) {
    cuda::set_matmul_kernel(name);
    EXPECT_EQ(cuda::matmul_kernel(), name);
  }
  cuda::set_matmul_kernel("naive");
  EXPECT_EQ(
      message_of<ValueError>([] { cuda::set_matmul_kernel("fastest"); }),
      "set_matmul_kernel: no matmul kernel is named 'fastest'; expected one of automatic, "
      "naive, coalesced, tiled, register_1d, register_2d, vectorized, tensor_cores, wgmma, cublas");
  EXPECT_EQ(cuda::matmul_kernel(), "naive");
  cuda::set_matmul_kernel("automatic");
}

}  // namespace
}  // namespace gradus
