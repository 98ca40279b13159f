// Matrix products on the CPU against plain loops.
#include "gradus/cpu/matmul/matmul.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "gradus/cpu/matmul/product.h"
#include "gradus/tensor/base/threads.h"
#include "tests/random.h"

namespace gradus::test {
namespace {

class EveryKernel : public testing::TestWithParam<MatmulKernel> {
 protected:
  void SetUp() override { set_matmul_kernel(GetParam()); }
  void TearDown() override { set_matmul_kernel(MatmulKernel::automatic); }
};
INSTANTIATE_TEST_SUITE_P(CpuMatmul, EveryKernel, testing::ValuesIn(matmul_kernels()),
                         [](const auto& kernel) { return std::string(name_of(kernel.param)); });

// The error of k roundings, relative to the sum of the magnitudes; integers are exact.
double tolerance(ScalarType dtype, int64_t k) {
  const double unit = dtype == kFloat ? 0x1p-24 : dtype == kDouble ? 0x1p-53 : 0;
  return unit * static_cast<double>(k + 2);
}

void expect_product(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out) {
  const int64_t m = out.size(1), n = out.size(2), k = a.size(2);
  for (int64_t i = 0; i < out.numel(); ++i) {
    const int64_t batch = i / (m * n), row = i / n % m, column = i % n;
    double want = bias.defined() ? get(bias, column) : 0, magnitude = std::abs(want);
    for (int64_t l = 0; l < k; ++l) {
      const double term = get(a, (batch * m + row) * k + l) * get(b, (batch * k + l) * n + column);
      want += term, magnitude += std::abs(term);
    }
    ASSERT_NEAR(get(out, i), want, tolerance(out.dtype(), k) * magnitude)
        << a.sizes() << a.strides() << " times " << b.sizes() << b.strides() << " at " << i;
  }
}

void check_product(const Tensor& a, const Tensor& b, const Tensor& bias) {
  const Tensor out = test::empty({a.size(0), a.size(1), b.size(2)}, a.dtype());
  // The old contents of the output must not matter.
  if (isFloatingType(out.dtype())) cpu_backend().fill(out, std::nan(""));
  cpu_backend().matmul(a, b, bias, out);
  expect_product(a, b, bias, out);
}

void check_sizes(int64_t batch, int64_t m, int64_t k, int64_t n, ScalarType dtype) {
  check_product(random_tensor({batch, m, k}, dtype), random_tensor({batch, k, n}, dtype),
                pick(0, 1) ? random_tensor({n}, dtype) : Tensor());
}

TEST_P(EveryKernel, RandomSmallCases) {
  for (ScalarType dtype : {kFloat, kDouble, kLong})
    for (int round = 0; round < 60; ++round)
      check_sizes(pick(1, 4), pick(1, 12), pick(1, 12), pick(1, 12), dtype);
}

TEST_P(EveryKernel, RandomPackedCases) {
  for (ScalarType dtype : {kFloat, kDouble, kLong})
    for (int round = 0; round < 8; ++round)
      check_sizes(pick(1, 2), pick(10, 80), pick(1, 300), pick(10, 80), dtype);
}

TEST_P(EveryKernel, Skinny) {
  for (ScalarType dtype : {kFloat, kDouble}) {
    check_sizes(1, 64, 10, 1, dtype);
    check_sizes(1, 1, 64, 10, dtype);
    check_sizes(1, 1, 700, 1, dtype);
    check_sizes(1, 700, 3, 2, dtype);
    check_sizes(1, 2, 3, 700, dtype);
    check_sizes(1, 500, 1, 50, dtype);
    check_sizes(1, 150, 300, 1, dtype);
    check_sizes(1, 1, 150000, 1, dtype);  // several chunks of a sum
    check_sizes(3, 1, 700, 90, dtype);
    for (int round = 0; round < 20; ++round) check_sizes(1, pick(1, 200), pick(1, 200), 1, dtype);
  }
}

// Larger than a slice of the depth, than a tile, and than the work of one thread.
TEST_P(EveryKernel, SeveralSlicesAndTiles) {
  const Tensor bias = random_tensor({150}, kFloat);
  check_product(random_tensor({1, 130, 600}, kFloat), random_tensor({1, 600, 150}, kFloat), bias);
  check_product(raw::transpose(random_tensor({1, 600, 130}, kFloat), 1, 2),
                raw::transpose(random_tensor({1, 150, 600}, kFloat), 1, 2), bias);
}

TEST_P(EveryKernel, AboveOneBlock) {
  check_sizes(1, 2100, 3, 5, kFloat);
  check_sizes(1, 5, 3, 2100, kDouble);
  check_sizes(1, 2050, 2, 40, kFloat);
}

TEST_P(EveryKernel, ManyProductsSideBySide) { check_sizes(40, 20, 30, 25, kFloat); }

TEST_P(EveryKernel, NoDepthGivesBiasOrZero) {
  const Tensor a = test::empty({2, 40, 0}), b = test::empty({2, 0, 50}),
               out = test::empty({2, 40, 50});
  cpu_backend().fill(out, std::nan(""));
  cpu_backend().matmul(a, b, Tensor(), out);
  for (int64_t i = 0; i < out.numel(); ++i) ASSERT_EQ(get(out, i), 0);
  const Tensor bias = random_tensor({50}, kFloat);
  cpu_backend().matmul(a, b, bias, out);
  for (int64_t i = 0; i < out.numel(); ++i) ASSERT_EQ(get(out, i), get(bias, i % 50));
}

TEST_P(EveryKernel, NothingToCompute) {
  cpu_backend().matmul(test::empty({0, 3, 4}), test::empty({0, 4, 5}), Tensor(),
                       test::empty({0, 3, 5}));
  cpu_backend().matmul(test::empty({2, 0, 4}), test::empty({2, 4, 5}), Tensor(),
                       test::empty({2, 0, 5}));
  cpu_backend().matmul(test::empty({2, 3, 4}), test::empty({2, 4, 0}), Tensor(),
                       test::empty({2, 3, 0}));
}

TEST_P(EveryKernel, NanOfAnOperandReachesItsRowAlone) {
  const Tensor a = test::empty({1, 40, 40}), b = test::empty({1, 40, 40}),
               out = test::empty({1, 40, 40});
  cpu_backend().fill(a, 1), cpu_backend().fill(b, 1);
  set(a, 7 * 40 + 39, std::nan(""));
  cpu_backend().matmul(a, b, Tensor(), out);
  for (int64_t i = 0; i < out.numel(); ++i) ASSERT_EQ(std::isnan(get(out, i)), i / 40 == 7) << i;
}

// Every micro-kernel of this processor, the one in use or not.
template <class T>
void check_micro_kernels() {
  for (const cpu::InstructionSet set : cpu::instruction_sets()) {
    SCOPED_TRACE(static_cast<int>(set));
    const cpu::MicroKernel<T>& kernel = cpu::table_of<cpu::MicroKernel<T>>(set);
    ASSERT_LE(kernel.rows * kernel.columns, cpu::kMaxTile);
    for (int round = 0; round < 10; ++round) {
      const int64_t m = pick(1, 60), k = pick(1, 300), n = pick(1, 60);
      const Tensor a = random_tensor({1, m, k}, dtype_of<T>),
                   b = random_tensor({1, k, n}, dtype_of<T>);
      const Tensor bias = random_tensor({n}, dtype_of<T>),
                   out = test::empty({1, m, n}, dtype_of<T>);
      const auto data = [](const Tensor& x) { return static_cast<T*>(x.data_ptr()); };
      cpu::multiply_packed<T>({m, n, k, data(a), data(b), data(bias), data(out), a.stride(1),
                               a.stride(2), b.stride(1), b.stride(2), 0, bias.stride(0), n, 1},
                              kernel);
      expect_product(a, b, bias, out);
    }
  }
}
TEST(CpuMicroKernels, Float) { check_micro_kernels<float>(); }
TEST(CpuMicroKernels, Double) { check_micro_kernels<double>(); }
TEST(CpuMicroKernels, Long) { check_micro_kernels<int64_t>(); }

// Dense rows are multiplied in place, others are packed. Both sum in the same order.
// Products of a tile and up to `more` rows and columns, of up to `depth` terms.
template <class T>
void check_layouts(int64_t more, int64_t depth) {
  for (const cpu::InstructionSet set : cpu::instruction_sets()) {
    SCOPED_TRACE(static_cast<int>(set));
    const cpu::MicroKernel<T>& kernel = cpu::table_of<cpu::MicroKernel<T>>(set);
    const int64_t m = kernel.rows + pick(more / 2, more), k = pick(depth / 2, depth),
                  n = kernel.columns + pick(more / 2, more);
    const Tensor a = random_tensor({1, m, k}, dtype_of<T>),
                 b = random_tensor({1, k, n}, dtype_of<T>);
    const auto multiply = [&](const Tensor& x, const Tensor& y) {
      const Tensor out = test::empty({1, m, n}, dtype_of<T>);
      const auto data = [](const Tensor& t) { return static_cast<T*>(t.data_ptr()); };
      cpu::multiply_packed<T>({m, n, k, data(x), data(y), nullptr, data(out), x.stride(1),
                               x.stride(2), y.stride(1), y.stride(2), 0, 0, n, 1},
                              kernel);
      return out;
    };
    const auto turned = [](const Tensor& x) {
      return raw::transpose(raw::clone(raw::transpose(x, 1, 2)), 1, 2);
    };
    const Tensor dense = multiply(raw::clone(a), raw::clone(b));
    for (const Tensor& x : {raw::clone(a), turned(a)}) {
      const Tensor packed = multiply(x, turned(b));
      for (int64_t i = 0; i < dense.numel(); ++i)
        ASSERT_EQ(get(packed, i), get(dense, i)) << m << " " << k << " " << n << " at " << i;
    }
  }
}
TEST(CpuMicroKernels, EveryLayoutGivesTheSameBits) {
  for (const int64_t more : {0, 7, 30, 80, 300})
    for (const int64_t depth : {2, 30, 200})
      check_layouts<float>(more, depth), check_layouts<double>(more, depth);
  // Operands too large to be read where they lie.
  check_layouts<float>(900, 500);
}

// A few rows are multiplied straight from b, with the bits of a product that packs it.
template <class T>
void check_few_rows(const cpu::MicroKernel<T>& kernel, int64_t m, int64_t k, int64_t n) {
  const Tensor a = raw::clone(random_tensor({m, k}, dtype_of<T>)),
               b = raw::clone(random_tensor({k, n}, dtype_of<T>));
  const Tensor turned = raw::transpose(raw::clone(raw::transpose(b, 0, 1)), 0, 1);
  const Tensor bias = raw::clone(random_tensor({n}, dtype_of<T>));
  const auto data = [](const Tensor& x) { return static_cast<T*>(x.data_ptr()); };
  for (const Tensor& y : {b, turned})
    for (const bool with_bias : {false, true}) {
      const Tensor packed = test::empty({m, n}, dtype_of<T>),
                   few = test::empty({m, n}, dtype_of<T>);
      cpu::Product<T> p{m,
                        n,
                        k,
                        data(a),
                        data(y),
                        with_bias ? data(bias) : nullptr,
                        data(packed),
                        k,
                        1,
                        y.stride(0),
                        y.stride(1),
                        0,
                        1,
                        n,
                        1};
      cpu::multiply_packed(p, kernel);
      p.out = data(few);
      ASSERT_EQ(cpu::multiply_few(p, kernel), m <= cpu::kMostFewRows && n >= kernel.columns);
      if (m <= cpu::kMostFewRows && n >= kernel.columns) {
        ASSERT_EQ(std::memcmp(data(few), data(packed), few.nbytes()), 0)
            << m << " x " << k << " x " << n << ", strides " << y.strides();
      }
    }
}
TEST(CpuMicroKernels, FewRowsHaveTheBitsOfMany) {
  for (const cpu::InstructionSet set : cpu::instruction_sets()) {
    SCOPED_TRACE(static_cast<int>(set));
    const auto& floats = cpu::table_of<cpu::MicroKernel<float>>(set);
    const auto& doubles = cpu::table_of<cpu::MicroKernel<double>>(set);
    for (int64_t m = 1; m <= cpu::kMostFewRows + 1; ++m)
      for (const int64_t k : {1, 7, 16, 37, 600, 1030})
        for (const int64_t more : {-1, 0, 1, 5, 40, 300}) {
          check_few_rows(floats, m, k, floats.columns + more);
          check_few_rows(doubles, m, k, doubles.columns + more);
        }
  }
}

// Threads take work from each other. Neither the number of threads nor the order changes a bit.
template <class T>
void check_threads(int64_t m, int64_t k, int64_t n) {
  const int threads = get_num_threads();
  const bool turns = pick(0, 1);
  const Tensor a = random_tensor({m, k}, dtype_of<T>), b = random_tensor({k, n}, dtype_of<T>);
  const Tensor bias = random_tensor({n}, dtype_of<T>);
  const auto data = [](const Tensor& x) { return static_cast<T*>(x.data_ptr()); };
  for (const cpu::InstructionSet set : cpu::instruction_sets())
    for (const bool with_bias : {false, true}) {
      const auto multiply = [&](int count) {
        set_num_threads(count);
        const Tensor out = test::empty({m, n}, dtype_of<T>);
        const cpu::Product<T> p{m,
                                n,
                                k,
                                data(a),
                                data(b),
                                with_bias ? data(bias) : nullptr,
                                data(out),
                                a.stride(0),
                                a.stride(1),
                                b.stride(0),
                                b.stride(1),
                                0,
                                bias.stride(0),
                                n,
                                1};
        cpu::multiply_packed(turns ? p.transposed() : p, cpu::table_of<cpu::MicroKernel<T>>(set));
        set_num_threads(threads);
        return out;
      };
      const Tensor alone = multiply(1), together = multiply(8);
      ASSERT_EQ(std::memcmp(data(alone), data(together), alone.nbytes()), 0)
          << static_cast<int>(set) << ": " << m << " x " << k << " x " << n << ", " << turns;
    }
}
// b packed once for many products: the same sums in the same order. The order of a single row, and
// BLAS's, depends on the strides of b, which packed() makes contiguous.
void check_packed(MatmulKernel kernel, int64_t m, int64_t k, int64_t n, ScalarType dtype) {
  for (int form = 0; form < 4; ++form) {
    const auto matrix = [&](int64_t rows, int64_t columns) {
      return form % 2 ? random_tensor({rows, columns}, dtype)
                      : raw::transpose(random_tensor({columns, rows}, dtype), 0, 1);
    };
    const Tensor a = matrix(m, k), b = matrix(k, n);
    const Tensor bias = form / 2 ? random_tensor({n}, dtype) : Tensor();
    const Tensor out = test::empty({m, n}, dtype), wanted = test::empty({1, m, n}, dtype);
    const bool takes_any = m > 1 && kernel == MatmulKernel::own;
    cpu_backend().matmul_packed(a, cpu_backend().packed(b, m > 1 ? m + pick(0, 9) : 1), bias, out);
    cpu_backend().matmul(raw::unsqueeze(a, 0),
                         raw::unsqueeze(takes_any ? b : raw::contiguous(b), 0), bias, wanted);
    for (int64_t i = 0; i < out.numel(); ++i)
      ASSERT_EQ(get(out, i), get(wanted, i))
          << a.sizes() << a.strides() << " times " << b.sizes() << b.strides() << " at " << i;
  }
}
TEST_P(EveryKernel, PackedOperandsGiveTheBitsOfOthers) {
  // Each side is 1, or few, or many.
  const auto side = [](int kind, int64_t most) {
    return kind == 0 ? 1 : kind == 1 ? pick(2, 32) : pick(33, most);
  };
  for (const ScalarType dtype : {kFloat, kDouble, kLong})
    for (int kinds = 0; kinds < 27; ++kinds)
      ASSERT_NO_FATAL_FAILURE(check_packed(GetParam(), side(kinds % 3, 70),
                                           side(kinds / 3 % 3, 700), side(kinds / 9, 300), dtype));
}
// Where packed() was told of more rows, one row is summed in another order than matmul's.
TEST_P(EveryKernel, PackedOperandsTakeOneRow) {
  for (const ScalarType dtype : {kFloat, kDouble, kLong}) {
    const int64_t k = pick(33, 700), n = pick(33, 300);
    const Tensor a = random_tensor({1, k}, dtype), b = random_tensor({k, n}, dtype);
    const Tensor bias = random_tensor({n}, dtype), out = test::empty({1, n}, dtype);
    cpu_backend().matmul_packed(a, cpu_backend().packed(b, 40), bias, out);
    expect_product(raw::unsqueeze(a, 0), raw::unsqueeze(b, 0), bias, raw::unsqueeze(out, 0));
  }
}

TEST(CpuMicroKernels, ManyThreadsGiveTheSameBitsAsOne) {
  for (int round = 0; round < 3; ++round) {
    check_threads<float>(pick(100, 700), pick(500, 1600), pick(100, 700));
    check_threads<double>(pick(100, 700), pick(300, 800), pick(100, 700));
  }
}
// More rows, or columns, than are packed at a time.
TEST(CpuMicroKernels, ManyThreadsHelpWithLongProducts) {
  check_threads<float>(2048 + pick(1, 200), 520, 530);
  check_threads<float>(30, 520, 16500 + pick(1, 200));
}

TEST(CpuMatmul, BlasIsRefusedWhereThereIsNone) {
  if (cpu::have_blas()) GTEST_SKIP() << "there is OpenBLAS";
  try {
    set_matmul_kernel(MatmulKernel::blas);
    FAIL() << "expected Error";
  } catch (const Error& error) {
    EXPECT_NE(error.msg().find("-DGRADUS_BLAS=AUTO"), std::string::npos) << error.msg();
  }
}

TEST(CpuMatmul, RefusesBool) {
  const Tensor x = test::empty({1, 2, 2}, kBool);
  EXPECT_THROW(cpu_backend().matmul(x, x, Tensor(), x), TypeError);
}

}  // namespace
}  // namespace gradus::test
