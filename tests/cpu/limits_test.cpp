// Every row of the table at its limits: infinities, zeros, NaN, the largest and the smallest
// numbers, in every instruction set of the build.
#include "gradus/cpu/simd/loops.h"
#include "gradus/tensor/base/dtype.h"
#include "tests/support.h"

namespace gradus::cpu {
namespace {

// f at infinity, -infinity, 0 and 0, and its slope at infinity and -infinity. NaN where the
// function has no limit or is not defined, and where PyTorch multiplies 0 by infinity.
struct RowLimits {
  UnaryOp op;
  double at_inf, at_minus_inf, at_zero, at_minus_zero, slope_at_inf, slope_at_minus_inf;
};
const RowLimits kLimits[] = {
    {UnaryOp::neg, -HUGE_VAL, HUGE_VAL, 0, 0, -1, -1},
    {UnaryOp::abs, HUGE_VAL, HUGE_VAL, 0, 0, 1, -1},
    {UnaryOp::exp, HUGE_VAL, 0, 1, 1, HUGE_VAL, 0},
    {UnaryOp::log, HUGE_VAL, NAN, -HUGE_VAL, -HUGE_VAL, 0, 0},
    {UnaryOp::sqrt, HUGE_VAL, NAN, 0, 0, 0, NAN},
    {UnaryOp::rsqrt, 0, NAN, HUGE_VAL, -HUGE_VAL, 0, NAN},
    {UnaryOp::sin, NAN, NAN, 0, 0, NAN, NAN},
    {UnaryOp::cos, NAN, NAN, 1, 1, NAN, NAN},
    {UnaryOp::tan, NAN, NAN, 0, 0, NAN, NAN},
    {UnaryOp::asin, NAN, NAN, 0, 0, NAN, NAN},
    {UnaryOp::acos, NAN, NAN, M_PI / 2, M_PI / 2, NAN, NAN},
    {UnaryOp::atan, M_PI / 2, -M_PI / 2, 0, 0, 0, 0},
    {UnaryOp::sinh, HUGE_VAL, -HUGE_VAL, 0, 0, HUGE_VAL, HUGE_VAL},
    {UnaryOp::cosh, HUGE_VAL, HUGE_VAL, 1, 1, HUGE_VAL, -HUGE_VAL},
    {UnaryOp::tanh, 1, -1, 0, 0, 0, 0},
    {UnaryOp::asinh, HUGE_VAL, -HUGE_VAL, 0, 0, 0, 0},
    {UnaryOp::acosh, HUGE_VAL, NAN, NAN, NAN, 0, 0},
    {UnaryOp::atanh, NAN, NAN, 0, 0, 0, 0},
    {UnaryOp::exp2, HUGE_VAL, 0, 1, 1, HUGE_VAL, 0},
    {UnaryOp::expm1, HUGE_VAL, -1, 0, 0, HUGE_VAL, 0},
    {UnaryOp::log2, HUGE_VAL, NAN, -HUGE_VAL, -HUGE_VAL, 0, 0},
    {UnaryOp::log10, HUGE_VAL, NAN, -HUGE_VAL, -HUGE_VAL, 0, 0},
    {UnaryOp::log1p, HUGE_VAL, NAN, 0, 0, 0, 0},
    {UnaryOp::erf, 1, -1, 0, 0, 0, 0},
    {UnaryOp::erfc, 0, 2, 1, 1, 0, 0},
    {UnaryOp::erfinv, NAN, NAN, 0, 0, NAN, NAN},
    {UnaryOp::erfcx, 0, HUGE_VAL, 1, 1, NAN, -HUGE_VAL},
    {UnaryOp::ndtri, NAN, NAN, -HUGE_VAL, -HUGE_VAL, NAN, NAN},
    {UnaryOp::log_ndtr, 0, -HUGE_VAL, -M_LN2, -M_LN2, 0, HUGE_VAL},
    {UnaryOp::lgamma, HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL, NAN},
    {UnaryOp::digamma, HUGE_VAL, NAN, -HUGE_VAL, HUGE_VAL, 0, NAN},
    {UnaryOp::i0, NAN, NAN, 1, 1, NAN, NAN},
    {UnaryOp::i1, NAN, NAN, 0, 0, NAN, NAN},
    {UnaryOp::i0e, 0, 0, 1, 1, 0, 0},
    {UnaryOp::i1e, 0, 0, 0, 0, 0, 0},
    {UnaryOp::bessel_j0, NAN, NAN, 1, 1, NAN, NAN},
    {UnaryOp::bessel_j1, NAN, NAN, 0, 0, NAN, NAN},
    {UnaryOp::bessel_y0, NAN, NAN, -HUGE_VAL, -HUGE_VAL, NAN, NAN},
    {UnaryOp::bessel_y1, NAN, NAN, -HUGE_VAL, -HUGE_VAL, NAN, NAN},
    {UnaryOp::modified_bessel_k0, 0, NAN, HUGE_VAL, HUGE_VAL, 0, NAN},
    {UnaryOp::modified_bessel_k1, 0, NAN, HUGE_VAL, HUGE_VAL, 0, NAN},
    {UnaryOp::scaled_modified_bessel_k0, 0, NAN, HUGE_VAL, HUGE_VAL, 0, NAN},
    {UnaryOp::scaled_modified_bessel_k1, 0, NAN, HUGE_VAL, HUGE_VAL, 0, NAN},
    {UnaryOp::sinc, NAN, NAN, 1, 1, NAN, NAN},
    {UnaryOp::logit, NAN, NAN, -HUGE_VAL, -HUGE_VAL, NAN, NAN},
    {UnaryOp::entr, -HUGE_VAL, -HUGE_VAL, 0, 0, -HUGE_VAL, NAN},
    {UnaryOp::sigmoid, 1, 0, 0.5, 0.5, 0, 0},
    {UnaryOp::log_sigmoid, 0, -HUGE_VAL, -M_LN2, -M_LN2, 0, 1},
    {UnaryOp::silu, HUGE_VAL, NAN, 0, 0, NAN, NAN},
    {UnaryOp::gelu, HUGE_VAL, NAN, 0, 0, NAN, NAN},
    {UnaryOp::gelu_tanh, HUGE_VAL, NAN, 0, 0, NAN, NAN},
    {UnaryOp::mish, HUGE_VAL, NAN, 0, 0, NAN, NAN},
    {UnaryOp::selu, HUGE_VAL, -1.7580993408473766, 0, 0, 1.0507009873554805, 0},
    {UnaryOp::softsign, NAN, NAN, 0, 0, 0, 0},
    {UnaryOp::tanhshrink, HUGE_VAL, -HUGE_VAL, 0, 0, 1, 1},
    {UnaryOp::hardsigmoid, 1, 0, 0.5, 0.5, 0, 0},
    {UnaryOp::hardswish, HUGE_VAL, NAN, 0, 0, 1, 0},
    {UnaryOp::relu6, 6, 0, 0, 0, 0, 0},
    {UnaryOp::relu, HUGE_VAL, 0, 0, 0, 1, 0},
    {UnaryOp::square, HUGE_VAL, HUGE_VAL, 0, 0, HUGE_VAL, -HUGE_VAL},
    {UnaryOp::reciprocal, 0, 0, HUGE_VAL, -HUGE_VAL, 0, 0},
    {UnaryOp::floor, HUGE_VAL, -HUGE_VAL, 0, 0, 0, 0},
    {UnaryOp::ceil, HUGE_VAL, -HUGE_VAL, 0, 0, 0, 0},
    {UnaryOp::trunc, HUGE_VAL, -HUGE_VAL, 0, 0, 0, 0},
    {UnaryOp::round, HUGE_VAL, -HUGE_VAL, 0, 0, 0, 0},
    {UnaryOp::frac, NAN, NAN, 0, 0, 1, 1},
    {UnaryOp::frexp_mantissa, HUGE_VAL, -HUGE_VAL, 0, 0, 1, 1},
    {UnaryOp::frexp_exponent, 0, 0, 0, 0, 0, 0},
    {UnaryOp::sign, 1, -1, 0, 0, 0, 0},
    {UnaryOp::deg2rad, HUGE_VAL, -HUGE_VAL, 0, 0, M_PI / 180, M_PI / 180},
    {UnaryOp::rad2deg, HUGE_VAL, -HUGE_VAL, 0, 0, 180 / M_PI, 180 / M_PI},
    {UnaryOp::step, 1, 0, 0, 0, 0, 0},
};

constexpr int64_t kWhole = 64;  // several vectors of each set, and none left over

// A row at x, alone and in all places of several vectors; with `slope` its derivative there.
template <class T>
double row_at(const Loops& loops, UnaryOp op, T x, bool slope) {
  const auto at = static_cast<size_t>(op);
  double out = 0;
  for (const int64_t n : {int64_t{1}, kWhole}) {
    const auto count = static_cast<size_t>(n);
    std::vector<T> values(count, x), results(count), ones(count, 1), slopes(count);
    const void* of_values[] = {values.data()};
    loops.map[at](n, results.data(), of_values);
    const void* of_slopes[] = {ones.data(), values.data(), results.data()};
    if (slope) loops.map_grad[at](n, slopes.data(), of_slopes);
    const std::vector<T>& read = slope ? slopes : results;
    for (const T each : read) {
      const bool same = each == read[0] || (std::isnan(each) && std::isnan(read[0]));
      EXPECT_TRUE(same) << name_of(op) << '(' << x << ") depends on its place";
    }
    if (n > 1) {
      EXPECT_TRUE(std::isnan(out) ? std::isnan(read[0]) : out == static_cast<double>(read[0]))
          << name_of(op) << '(' << x << ") depends on how many there are";
    }
    out = static_cast<double>(read[0]);
  }
  return out;
}

// The loops of a set, and for what it lacks those of the first one.
const Loops& loops_for(InstructionSet set, ScalarType dtype, UnaryOp op, bool slope) {
  const Loops& own = loops_of(set, dtype);
  const auto at = static_cast<size_t>(op);
  return (slope ? own.map_grad : own.map)[at] && own.map[at]
             ? own
             : loops_of(instruction_sets()[0], dtype);
}

template <class T>
void expect_limit(UnaryOp op, T x, bool slope, double want) {
  for (const InstructionSet set : instruction_sets()) {
    const double got = row_at(loops_for(set, dtype_of<T>, op, slope), op, x, slope);
    // Infinities, whole numbers and NaN exactly.
    const double tolerance = want == std::round(want) ? 0 : 1e-6 * std::abs(want);
    EXPECT_TRUE(std::isnan(want) ? std::isnan(got)
                                 : got == want || std::abs(got - want) <= tolerance)
        << (slope ? "the slope of " : "") << name_of(op) << '(' << x << ") of set "
        << static_cast<int>(set) << " is " << got << ", not " << want;
  }
}

template <class T>
void check_limits() {
  constexpr T inf = std::numeric_limits<T>::infinity();
  for (const RowLimits& row : kLimits) {
    expect_limit<T>(row.op, inf, false, row.at_inf);
    expect_limit<T>(row.op, -inf, false, row.at_minus_inf);
    expect_limit<T>(row.op, 0, false, row.at_zero);
    expect_limit<T>(row.op, T(-0.0), false, row.at_minus_zero);
    expect_limit<T>(row.op, inf, true, row.slope_at_inf);
    expect_limit<T>(row.op, -inf, true, row.slope_at_minus_inf);
  }
}

TEST(Limits, OfEveryRowAreListed) {
  const UnaryOp rows[] = {
#define UNARY(name, ...) UnaryOp::name,
#include "gradus/tensor/table/elementwise.def"
  };
  ASSERT_EQ(std::size(rows), std::size(kLimits));
  for (size_t i = 0; i < std::size(rows); ++i) EXPECT_EQ(rows[i], kLimits[i].op);
}
TEST(Limits, OfEveryRowInFloat) { check_limits<float>(); }
TEST(Limits, OfEveryRowInDouble) { check_limits<double>(); }

// NaN stays NaN but in functions of the sign.
TEST(Limits, NaNStays) {
  for (const RowLimits& row : kLimits)
    if (row.op != UnaryOp::sign && row.op != UnaryOp::step && row.op != UnaryOp::frexp_exponent) {
      expect_limit<float>(row.op, NAN, false, NAN);
      expect_limit<double>(row.op, NAN, false, NAN);
    }
}

// Of the largest and the smallest floats what double gives, to three digits: nothing on the way
// overflows or is lost, but where PyTorch computes it so.
TEST(Limits, OfTheLargestAndSmallestFloats) {
  using Floats = std::numeric_limits<float>;
  const auto is_beyond = [](UnaryOp op, float x) {
    const bool large = std::abs(x) > 1;
    // 6 x, pi x and the asymptotic series of I_n overflow.
    return large && (op == UnaryOp::hardswish || op == UnaryOp::sinc || op == UnaryOp::i0 ||
                     op == UnaryOp::i1 || op == UnaryOp::i0e || op == UnaryOp::i1e);
  };
  for (const RowLimits& row : kLimits)
    for (const float size : {Floats::max(), Floats::max() / 2, Floats::min(), Floats::denorm_min(),
                             100.0f, 9.02f, 88.8f})
      for (const float x : {size, -size}) {
        if (is_beyond(row.op, x)) continue;
        const double wide = row_at<double>(loops_for(instruction_sets()[0], kDouble, row.op, false),
                                           row.op, static_cast<double>(x), false);
        const auto want = static_cast<float>(wide);
        for (const InstructionSet set : instruction_sets()) {
          const double got = row_at(loops_for(set, kFloat, row.op, false), row.op, x, false);
          const double tolerance = 1e-3 * std::abs(wide) + 1e-36;
          EXPECT_TRUE(std::isnan(want) ? std::isnan(got)
                                       : got == static_cast<double>(want) ||
                                             std::abs(got - static_cast<double>(want)) <= tolerance)
              << name_of(row.op) << '(' << x << ") of set " << static_cast<int>(set) << " is "
              << got << ", not " << want;
        }
      }
}

// Half types compute in float32, so they have the same limits.
TEST(Limits, OfHalfTypes) {
  for (const ScalarType dtype : {kHalf, kBFloat16}) {
    const Tensor x =
        tensor({HUGE_VAL, -HUGE_VAL, 0.0, -0.0, std::nan(""), 60000.0, -60000.0}).to(dtype);
    const Tensor wide = x.to(kFloat);
    for (Tensor (*const f)(const Tensor&) : {
#define UNARY(name, ...) static_cast<Tensor (*)(const Tensor&)>(gradus::name),
#include "gradus/tensor/table/elementwise.def"
         })
      EXPECT_TRUE(f(x).allclose(f(wide).to(dtype), 0, 0, /*equal_nan=*/true));
  }
  const Tensor x = full({100}, HUGE_VAL).requires_grad_();
  x.tanh().sum().backward();
  EXPECT_TRUE(x.grad().equal(zeros({100})));
}

}  // namespace
}  // namespace gradus::cpu
