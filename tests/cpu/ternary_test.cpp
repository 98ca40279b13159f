// ternary on every row of ternary.def, and triangles, over random shapes and layouts.
#include "gradus/tensor/math/elementwise.h"
#include "tests/cpu/near.h"
#include "tests/random.h"

namespace gradus::test {
namespace {

// The formula of the row, in double or int64.
template <class Row>
double value(ScalarType dtype, double x, double y, double z, double w) {
  if constexpr (Row::integers) {
    const auto whole = [](double number) { return static_cast<int64_t>(number); };
    if (dtype == kLong) return static_cast<double>(Row::f(whole(x), whole(y), whole(z), whole(w)));
  }
  return Row::f(x, y, z, w);
}

template <TernaryOp op>
void check_row(ScalarType dtype) {
  using Row = scalar::Ternary<op>;
  SCOPED_TRACE(Row::name);
  for (int round = 0; round < 20; ++round) {
    const Dims sizes = round % 4 ? random_sizes(4, 6) : Dims{pick(1, 3), pick(400, 1200)};
    const Tensor x = random_tensor(sizes, dtype);
    const Tensor y = random_tensor(sizes, dtype, Row::y_lo, Row::y_hi);
    const Tensor z = random_tensor(sizes, dtype, Row::z_lo, Row::z_hi);
    const Tensor out = random_layout(sizes, dtype);
    const double a = get(y, 0), b = get(z, 0), w = round % 2 ? 1 : -3;
    const auto expect = [&](const char* what, auto y_at, auto z_at) {
      for (int64_t i = 0; i < out.numel(); ++i)
        expect_near(get(out, i), value<Row>(dtype, get(x, i), y_at(i), z_at(i), w), what);
    };
    const auto y_at = [&](int64_t i) { return get(y, i); };
    const auto z_at = [&](int64_t i) { return get(z, i); };
    const auto first_y = [&](int64_t) { return a; };
    const auto first_z = [&](int64_t) { return b; };
    cpu_backend().ternary(op, x, y, z, w, out);
    expect("tensors", y_at, z_at);
    cpu_backend().ternary(op, x, y, Scalar(b), w, out);
    expect("a number last", y_at, first_z);
    cpu_backend().ternary(op, x, Scalar(a), Scalar(b), w, out);
    expect("numbers", first_y, first_z);
  }
}

TEST(CpuTernary, EveryRow) {
#define TERNARY(name, ...)            \
  check_row<TernaryOp::name>(kFloat); \
  check_row<TernaryOp::name>(kDouble);
#include "gradus/tensor/table/ternary.def"
}

TEST(CpuTernary, Integers) {
#define TERNARY(name, ...) \
  if constexpr (scalar::Ternary<TernaryOp::name>::integers) check_row<TernaryOp::name>(kLong);
#include "gradus/tensor/table/ternary.def"
}

TEST(CpuTernary, KnownPoints) {
#define TERNARY(name, ...)                                                                 \
  {                                                                                        \
    using Row = scalar::Ternary<TernaryOp::name>;                                          \
    const Tensor out = raw::ternary(TernaryOp::name, tensor({1}, {Row::point_x}, kDouble), \
                                    Scalar(Row::point_y), Scalar(Row::point_z));           \
    EXPECT_NEAR(get(out, 0), Row::value, 1e-15) << #name;                                  \
  }
#include "gradus/tensor/table/ternary.def"
}

// op(x, y, z) for the numbers x, in both types.
void expect_values(TernaryOp op, const std::vector<double>& x, double y, double z,
                   const std::vector<double>& expected) {
  for (const ScalarType dtype : {kFloat, kDouble}) {
    const Tensor in = tensor({std::ssize(x)}, x, dtype);
    const Tensor out = raw::ternary(op, in, Scalar(y), Scalar(z));
    for (size_t i = 0; i < x.size(); ++i) {
      const double got = get(out, static_cast<int64_t>(i)), want = expected[i];
      EXPECT_TRUE(got == want || (got != got && want != want))
          << name_of(op) << "(" << x[i] << ", " << y << ", " << z << ") is " << got << ", expected "
          << want;
      if (want == 0) {
        EXPECT_EQ(std::signbit(got), std::signbit(want)) << name_of(op);
      }
    }
  }
}

TEST(CpuTernary, SpecialValues) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const double nan = std::nan("");
  const std::vector<double> x = {nan, inf, -inf, 0, 1e30, -1e30};
  expect_values(TernaryOp::clamp, x, -1, 2, {nan, 2, -1, 0, 2, -1});
  expect_values(TernaryOp::clamp, x, 3, 2, {nan, 2, 2, 2, 2, 2});
  expect_values(TernaryOp::clamp, {1, inf}, nan, 2, {nan, nan});
  expect_values(TernaryOp::clamp, {1, -inf}, 0, nan, {nan, nan});
  expect_values(TernaryOp::threshold, {nan, inf, -inf, 0}, 0, 7, {nan, inf, 7, 7});
  expect_values(TernaryOp::addcmul, {nan, inf, 1}, inf, 0, {nan, nan, nan});
  expect_values(TernaryOp::addcdiv, {nan, inf, -inf, 1}, 1, 0, {nan, inf, nan, inf});
  expect_values(TernaryOp::lerp, {nan, 2, 3}, 5, 1, {nan, 5, 5});
  expect_values(TernaryOp::lerp, {nan, 2, inf}, 5, 0, {nan, 2, nan});
  expect_values(TernaryOp::leaky_relu, {nan, inf, -inf, -0.0}, 0.5, 0, {nan, inf, -inf, -0.0});
  expect_values(TernaryOp::elu, {nan, inf, -inf, 800, -800, -0.0}, 2, 1,
                {nan, inf, -2, 800, -2, -0.0});
  expect_values(TernaryOp::elu, {800, inf}, 0, 1, {800, inf});
  expect_values(TernaryOp::softplus, {nan, inf, -inf, 800, -800}, 1, 20, {nan, inf, 0, 800, 0});
}

TEST(CpuTernary, PromotesAndBroadcasts) {
  const Tensor column = tensor({2, 1}, {1, 2}, kLong), row = tensor({3}, {10, 20, 30}, kHalf);
  const Tensor one = tensor({}, {0.5}, kDouble);
  const Tensor out = raw::ternary(TernaryOp::addcmul, one, column, row);
  ASSERT_EQ(out.sizes(), IntArrayRef({2, 3}));
  EXPECT_EQ(out.dtype(), kHalf);
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_EQ(get(out, i), 0.5 + static_cast<double>((i / 3 + 1) * (i % 3 + 1) * 10));
  EXPECT_EQ(raw::ternary(TernaryOp::clamp, column, Scalar(0), Scalar(1.5)).dtype(), kFloat);
  // Numbers enter in the tensors' dtype: 2049 is 2048 in float16, and 300 is none of uint8.
  EXPECT_EQ(
      get(raw::ternary(TernaryOp::threshold, tensor({1}, {0}, kHalf), Scalar(1), Scalar(2049)), 0),
      2048);
  EXPECT_THROW(raw::ternary(TernaryOp::threshold, tensor({1}, {0}, kByte), Scalar(1), Scalar(300)),
               ValueError);
  EXPECT_EQ(raw::ternary(TernaryOp::clamp, empty({0, 1}), row, one).sizes(), IntArrayRef({0, 3}));
}

// The number enters in the type that is computed with, and integers wrap around.
TEST(CpuTernary, TheNumberOfARow) {
  const Tensor half = tensor({1}, {1}, kHalf), byte = tensor({1}, {100}, kByte);
  const Tensor least = tensor({1}, {-2048}, kHalf);  // float16 has no 2049
  EXPECT_EQ(get(raw::ternary(TernaryOp::addcmul, least, half, half, 2049), 0), 1);
  EXPECT_EQ(get(raw::ternary(TernaryOp::addcmul, byte, byte, byte, 3), 0), (100 + 30000) % 256);
  EXPECT_THROW(raw::ternary(TernaryOp::addcmul, byte, byte, byte, 300), ValueError);
  const Tensor x = tensor({2}, {4, 5}, kDouble), y = tensor({2}, {6, 7}, kDouble);
  raw::ternary_(TernaryOp::addcdiv, x, y, x, -2);
  EXPECT_EQ(get(x, 0), 1);
  EXPECT_EQ(get(x, 1), 5 - 14. / 5);
}

TEST(CpuTernary, Refuses) {
  const Tensor whole = tensor({2}, {1, 2}, kLong), three = empty({3});
  EXPECT_THROW(raw::ternary(TernaryOp::elu, whole, Scalar(1), Scalar(1)), TypeError);
  try {
    raw::ternary(TernaryOp::lerp, whole, three, Scalar(0.5));
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.msg()).find("lerp: "), std::string::npos) << error.msg();
  }
}

TEST(CpuTriangle, EveryLayout) {
  for (int round = 0; round < 200; ++round) {
    Dims sizes = random_sizes(2, 4);
    const int64_t rows = pick(1, 9), columns = pick(1, 9), diagonal = pick(-11, 11);
    sizes.push_back(rows), sizes.push_back(columns);
    const ScalarType dtype = pick(0, 1) ? kFloat : pick(0, 1) ? kDouble : kByte;
    const Tensor x = random_tensor(sizes, dtype, 1, 3);
    const bool upper = pick(0, 1) == 1;
    const Tensor out = raw::triangle("triangle", upper, diagonal, x);
    ASSERT_TRUE(out.is_contiguous());
    for (int64_t i = 0; i < out.numel(); ++i) {
      const int64_t above = i % columns - i / columns % rows;
      const bool kept = upper ? above >= diagonal : above <= diagonal;
      ASSERT_EQ(get(out, i), kept ? get(x, i) : 0) << sizes << " at " << i << ", " << diagonal;
    }
  }
}

TEST(CpuTriangle, ManyRowsAndFarDiagonals) {
  const Tensor x = random_tensor({3, 400, 301}, kFloat, 1, 3);
  const Tensor out = raw::triangle("triangle", false, -1, x);
  for (int64_t i = 0; i < out.numel(); ++i)
    ASSERT_EQ(get(out, i), i % 301 < i / 301 % 400 ? get(x, i) : 0) << i;
  for (const bool upper : {false, true})
    for (const int64_t far : {INT64_MIN, INT64_MAX}) {
      const Tensor all = raw::triangle("triangle", upper, far, tensor({1, 2}, {1, 2}));
      EXPECT_EQ(get(all, 0), upper == (far < 0) ? 1 : 0);
      EXPECT_EQ(get(all, 1), upper == (far < 0) ? 2 : 0);
    }
}

}  // namespace
}  // namespace gradus::test
