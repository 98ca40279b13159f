// map, map_grad and zip on every row of the table, over random shapes and layouts.
#include <gtest/gtest.h>

#include "gradus/tensor/math/elementwise.h"
#include "tests/cpu/near.h"
#include "tests/random.h"

namespace gradus::test {
namespace {

template <UnaryOp op>
void check_unary() {
  using Row = scalar::Unary<op>;
  SCOPED_TRACE(Row::name);
  const Tensor point = tensor({1}, {Row::point_x}), at_point = empty({1});
  cpu_backend().map(op, point, at_point);
  expect_near(get(at_point, 0), Row::point_y, "known point");

  for (int round = 0; round < 20; ++round) {
    const Dims sizes = random_sizes(4, 6);
    const Tensor x = random_tensor(sizes, kFloat, Row::lo, Row::hi);
    const Tensor y = random_layout(sizes, kFloat), slope = random_layout(sizes, kFloat);
    const Tensor grad = random_tensor(sizes, kFloat);
    cpu_backend().map(op, x, y);
    for (int64_t i = 0; i < x.numel(); ++i) expect_near(get(y, i), Row::f(get(x, i)), "map");

    constexpr unsigned used = scalar::derivative_uses<op>;
    cpu_backend().map_grad(op, grad, used & scalar::kUsesX ? x : Tensor(),
                           used & scalar::kUsesY ? y : Tensor(), slope);
    for (int64_t i = 0; i < x.numel(); ++i) {
      const double exact = static_cast<double>(Row::derivative(get(x, i), get(y, i)));
      expect_near(get(slope, i), get(grad, i) * exact, "map_grad");
    }
  }
}

template <BinaryOp op>
void check_binary(double x_low, double x_high, double y_low, double y_high, ScalarType dtype) {
  using Row = scalar::Binary<op>;
  SCOPED_TRACE(Row::name);
  const auto value = [](double x, double y, [[maybe_unused]] ScalarType type) {
    if constexpr (Row::integers)
      if (!Row::reals || type == kLong)
        return static_cast<double>(Row::f(static_cast<int64_t>(x), static_cast<int64_t>(y)));
    if constexpr (Row::reals) return static_cast<double>(Row::f(x, y));
  };
  for (int round = 0; round < 20; ++round) {
    const Dims sizes = random_sizes(4, 6);
    const Tensor x = random_tensor(sizes, dtype, x_low, x_high);
    const Tensor y = random_tensor(sizes, dtype, y_low, y_high);
    const Tensor out = random_layout(sizes, Row::gives_bool ? kBool : dtype);
    const double number = get(x, 0);
    cpu_backend().zip(op, x, y, out);
    for (int64_t i = 0; i < out.numel(); ++i)
      expect_near(get(out, i), value(get(x, i), get(y, i), dtype), "tensor, tensor");
    cpu_backend().zip(op, Scalar(number), y, out);
    for (int64_t i = 0; i < out.numel(); ++i)
      expect_near(get(out, i), value(number, get(y, i), dtype), "number, tensor");
    const double other = get(y, 0);
    cpu_backend().zip(op, x, Scalar(other), out);
    for (int64_t i = 0; i < out.numel(); ++i)
      expect_near(get(out, i), value(get(x, i), other, dtype), "tensor, number");
  }
}

TEST(CpuMap, EveryRow) {
#define UNARY(name, ...) check_unary<UnaryOp::name>();
#include "gradus/tensor/table/elementwise.def"
}

TEST(CpuZip, EveryRow) {
#define BINARY(name, doc, ints, complex, x_lo, x_hi, y_lo, y_hi, ...) \
  check_binary<BinaryOp::name>(x_lo, x_hi, y_lo, y_hi, kFloat);
#define COMPARISON(name, ...) check_binary<BinaryOp::name>(-3, 3, -3, 3, kFloat);
#include "gradus/tensor/table/elementwise.def"
}

TEST(CpuZip, Integers) {
  check_binary<BinaryOp::add>(-9, 9, -9, 9, kLong);
  check_binary<BinaryOp::mul>(-9, 9, -9, 9, kLong);
  check_binary<BinaryOp::pow>(-3, 4, -3, 5, kLong);
  check_binary<BinaryOp::eq>(-2, 2, -2, 2, kLong);
  check_binary<BinaryOp::lt>(-2, 2, -2, 2, kLong);
  check_binary<BinaryOp::floor_divide>(-9, 9, 1, 5, kLong);
  check_binary<BinaryOp::remainder>(-9, 9, -5, -1, kLong);
#define INTEGER(name, ...) check_binary<BinaryOp::name>(-9, 9, -9, 9, kLong);
#include "gradus/tensor/table/elementwise.def"
}

TEST(CpuZip, KnownPoints){
#define BINARY(name, ...)                                                                      \
  {                                                                                            \
    using Row = scalar::Binary<BinaryOp::name>;                                                \
    const Tensor out = empty({1});                                                             \
    cpu_backend().zip(BinaryOp::name, tensor({1}, {Row::point_x}), Scalar(Row::point_y), out); \
    expect_near(get(out, 0), Row::point_z, #name);                                             \
  }
#include "gradus/tensor/table/elementwise.def"
}

TEST(CpuZip, InPlaceAndAboveOneChunk) {
  const int64_t n = 100'003;
  for (const Tensor& x : {random_layout({n}, kFloat), raw::transpose(empty({7, n / 7}), 0, 1)}) {
    std::vector<double> before;
    for (int64_t i = 0; i < x.numel(); ++i) {
      set(x, i, real(-1, 1));
      before.push_back(get(x, i));
    }
    cpu_backend().zip(BinaryOp::add, x, x, x);
    cpu_backend().map(UnaryOp::neg, x, x);
    for (int64_t i = 0; i < x.numel(); ++i)
      ASSERT_EQ(get(x, i), -2 * before[static_cast<size_t>(i)]) << i;
  }
}

// Runs of about the sizes of a loop's vectors, blocks and chunks, in every layout.
TEST(CpuPointwise, LongRuns) {
  for (int round = 0; round < 60; ++round) {
    const Dims sizes = {pick(1, 3), pick(1, 1200), pick(0, 3) ? 1 : pick(60, 70)};
    const Tensor x = random_tensor(sizes, kFloat), y = random_tensor(sizes, kFloat);
    const Tensor sum = random_layout(sizes, kFloat), less = random_layout(sizes, kBool);
    const Tensor slope = random_layout(sizes, kFloat), shifted = random_layout(sizes, kFloat);
    cpu_backend().zip(BinaryOp::add, x, y, sum);
    cpu_backend().zip(BinaryOp::lt, x, y, less);
    cpu_backend().zip(BinaryOp::sub, Scalar(1), y, shifted);
    cpu_backend().map_grad(UnaryOp::square, x, y, Tensor(), slope);
    for (int64_t i = 0; i < x.numel(); ++i) {
      const float a = static_cast<float>(get(x, i)), b = static_cast<float>(get(y, i));
      ASSERT_EQ(static_cast<float>(get(sum, i)), a + b) << sizes << " at " << i;
      ASSERT_EQ(get(less, i), a < b) << sizes << " at " << i;
      ASSERT_EQ(static_cast<float>(get(shifted, i)), 1 - b) << sizes << " at " << i;
      ASSERT_EQ(static_cast<float>(get(slope, i)), a * (2 * b)) << sizes << " at " << i;
    }
  }
}

// Matrices of which some lie in memory by columns: around the sizes of a band and of its pieces.
TEST(CpuPointwise, TransposedOperands) {
  for (int round = 0; round < 60; ++round) {
    const Dims sizes = {pick(1, 3), pick(1, 70), pick(60, 400)};
    const ScalarType dtype = pick(0, 1) ? kFloat : kDouble;
    const auto operand = [&](bool transposed) {
      const Tensor x =
          random_tensor(transposed ? Dims{sizes[0], sizes[2], sizes[1]} : sizes, dtype);
      return transposed ? raw::transpose(raw::contiguous(x), 1, 2) : x;
    };
    const Tensor x = operand(pick(0, 1)), y = operand(true);
    const Tensor z = raw::narrow(operand(false), 0, 0, 1);
    const Tensor out = random_layout(sizes, dtype), rows = empty(sizes, dtype);
    cpu_backend().zip(BinaryOp::sub, x, y, out);
    cpu_backend().ternary(TernaryOp::addcmul, y, z, Scalar(2), 1, rows);
    const Tensor want = empty(sizes, dtype), want_rows = empty(sizes, dtype);
    const auto copy = [&](const Tensor& t) { return raw::contiguous(raw::expand(t, sizes)); };
    cpu_backend().zip(BinaryOp::sub, copy(x), copy(y), want);
    cpu_backend().ternary(TernaryOp::addcmul, copy(y), copy(z), Scalar(2), 1, want_rows);
    for (int64_t i = 0; i < out.numel(); ++i) {
      ASSERT_EQ(get(out, i), get(want, i)) << sizes << " at " << i;
      ASSERT_EQ(get(rows, i), get(want_rows, i)) << sizes << " at " << i;
    }
  }
}

// A buffer keeps a number from one run to the next, but not the elements that a row repeats.
TEST(CpuPointwise, NumbersAndRepeatedElements) {
  for (int round = 0; round < 40; ++round) {
    const int64_t rows = pick(2, 9), columns = pick(64, 3000);
    const Tensor wide = random_tensor({rows, columns + 3}, kFloat);
    const Tensor x = raw::narrow(wide, 1, 0, columns);
    const Tensor column = random_tensor({rows, 1}, pick(0, 1) ? kFloat : kHalf);
    const Tensor out = empty({rows, columns}), scaled = empty({rows, columns});
    cpu_backend().zip(BinaryOp::add, x, column, out);
    cpu_backend().zip(BinaryOp::mul, x, Scalar(3), scaled);
    for (int64_t i = 0; i < out.numel(); ++i) {
      const float a = static_cast<float>(get(x, i)),
                  b = static_cast<float>(get(column, i / columns));
      ASSERT_EQ(static_cast<float>(get(out, i)), a + b) << rows << ", " << columns << " at " << i;
      ASSERT_EQ(static_cast<float>(get(scaled, i)), 3 * a)
          << rows << ", " << columns << " at " << i;
    }
  }
}

template <UnaryOp op, class T>
void check_predicate(std::initializer_list<double> values) {
  using Row = scalar::Unary<op>;
  const Tensor x = tensor({static_cast<int64_t>(values.size())}, values, dtype_of<T>);
  const Tensor out = random_layout(x.sizes(), kBool);
  cpu_backend().map(op, x, out);
  for (int64_t i = 0; i < x.numel(); ++i)
    EXPECT_EQ(get(out, i), Row::f(static_cast<T>(get(x, i)))) << Row::name << " of " << get(x, i);
}

TEST(CpuMap, Predicates) {
  constexpr double inf = std::numeric_limits<double>::infinity();
#define PREDICATE(name, ...)                                                           \
  check_predicate<UnaryOp::name, float>({0, -0.0, 1.5, -2, inf, -inf, std::nan("")});  \
  check_predicate<UnaryOp::name, double>({0, -0.0, 1.5, -2, inf, -inf, std::nan("")}); \
  check_predicate<UnaryOp::name, int64_t>({0, 1, -2});
#include "gradus/tensor/table/elementwise.def"
}

TEST(CpuZip, NanPassesThroughExtremes) {
  const double nan = std::nan("");
  const Tensor x = tensor({3}, {nan, 1, nan}), y = tensor({3}, {1, nan, nan}), out = empty({3});
  for (BinaryOp op : {BinaryOp::maximum, BinaryOp::minimum}) {
    cpu_backend().zip(op, x, y, out);
    for (int64_t i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(get(out, i)));
  }
}

TEST(CpuPointwise, EmptyTensors) {
  const Tensor x = empty({3, 0}), out = empty({3, 0});
  cpu_backend().map(UnaryOp::exp, x, out);
  cpu_backend().zip(BinaryOp::add, x, x, out);
  cpu_backend().zip(BinaryOp::add, raw::transpose(empty({0, 3}), 0, 1), Scalar(1), out);
}

// A dtype without loops is converted to the dtype of the computation, and back.
TEST(CpuPointwise, TakesOperandsOfAnyDtypeAndLayout) {
  for (const ScalarType dtype : {kBool, kByte, kChar, kShort, kInt, kHalf, kBFloat16})
    for (int round = 0; round < 30; ++round) {
      const ScalarType wide = computed_type(dtype);
      const Dims sizes = round % 3 ? random_sizes(4, 6) : Dims{pick(1, 3), pick(500, 1500)};
      const double low = dtype == kBool ? 0 : 1, high = dtype == kBool ? 1.4 : 9;
      const auto operand = [&] {
        const Tensor x = random_layout(sizes, dtype);
        for (int64_t i = 0; i < x.numel(); ++i) set(x, i, std::floor(real(low, high)));
        return x;
      };
      const Tensor x = operand(), y = operand(), z = operand(), out = random_layout(sizes, dtype);
      const auto widened = [wide](const Tensor& t) { return raw::to(t, wide); };
      const auto expect = [&](const Tensor& want, const char* what) {
        const Tensor rounded = raw::to(want, dtype);
        for (int64_t i = 0; i < out.numel(); ++i)
          ASSERT_EQ(get(out, i), get(rounded, i)) << what << " in " << dtype;
      };
      Tensor want = empty(sizes, wide);
      for (const BinaryOp op :
           {BinaryOp::add, BinaryOp::mul, BinaryOp::fmax, BinaryOp::remainder}) {
        if (op == BinaryOp::remainder && dtype == kBool) continue;
        cpu_backend().zip(op, x, y, out), cpu_backend().zip(op, widened(x), widened(y), want);
        expect(want, name_of(op));
        const Scalar number = dtype == kBool ? Scalar(true) : Scalar(2);
        cpu_backend().zip(op, number, y, out), cpu_backend().zip(op, number, widened(y), want);
        expect(want, name_of(op));
      }
      cpu_backend().map(UnaryOp::sign, x, out), cpu_backend().map(UnaryOp::sign, widened(x), want);
      expect(want, "sign");
      cpu_backend().ternary(TernaryOp::clamp, x, y, z, 1, out);
      cpu_backend().ternary(TernaryOp::clamp, widened(x), widened(y), widened(z), 1, want);
      expect(want, "clamp");
      const Tensor flags = random_layout(sizes, kBool), want_flags = empty(sizes, kBool);
      cpu_backend().zip(BinaryOp::lt, x, y, flags);
      cpu_backend().zip(BinaryOp::lt, widened(x), widened(y), want_flags);
      for (int64_t i = 0; i < out.numel(); ++i) ASSERT_EQ(get(flags, i), get(want_flags, i));
    }
}

TEST(CpuPointwise, RefusesWhatIsNotComputedWith) {
  const Tensor whole = empty({2}, kLong);
  try {
    cpu_backend().map(UnaryOp::exp, whole, whole);
    FAIL() << "expected TypeError";
  } catch (const TypeError& error) {
    EXPECT_EQ(error.msg(),
              "exp: dtype int64 is not a floating point type; convert with .to(kFloat)");
  }
  EXPECT_THROW(cpu_backend().zip(BinaryOp::div, whole, whole, whole), TypeError);
}

}  // namespace
}  // namespace gradus::test
