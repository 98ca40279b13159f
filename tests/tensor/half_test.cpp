// Numbers of 16 bits, against their definition in double.
#include <cmath>
#include <limits>
#include <sstream>

#include "tests/random.h"
#include "tests/support.h"

namespace gradus {
namespace {

// A format with so many bits of exponent and of fraction.
template <class T_, int kExponent, int kFraction>
struct Format {
  using T = T_;
  static constexpr int kBias = (1 << (kExponent - 1)) - 1;
  static T of_bits(unsigned bits) {
    T out;
    out.bits = static_cast<uint16_t>(bits);
    return out;
  }
  // IEEE 754, section 3.4.
  static double value(unsigned bits) {
    const double sign = bits >> 15 ? -1 : 1;
    const int exponent = static_cast<int>(bits >> kFraction & ((1u << kExponent) - 1));
    const double fraction = bits & ((1u << kFraction) - 1);
    if (exponent == (1 << kExponent) - 1)
      return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                           : std::numeric_limits<double>::quiet_NaN();
    if (exponent == 0) return sign * std::ldexp(fraction, 1 - kBias - kFraction);
    return sign * std::ldexp(fraction + (1 << kFraction), exponent - kBias - kFraction);
  }
  static unsigned largest() { return ((1u << kExponent) - 1) << kFraction; }  // of infinity
};

template <class F>
class HalfTest : public testing::Test {};
using Formats = testing::Types<Format<Half, 5, 10>, Format<BFloat16, 8, 7>>;
TYPED_TEST_SUITE(HalfTest, Formats);

TYPED_TEST(HalfTest, EveryNumberConvertsThereAndBack) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const auto x = TypeParam::of_bits(bits);
    const double expected = TypeParam::value(bits);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(x))) << bits;
      EXPECT_TRUE(std::isnan(static_cast<float>(typename TypeParam::T(static_cast<float>(x)))));
    } else {
      ASSERT_EQ(static_cast<double>(static_cast<float>(x)), expected) << bits;
      ASSERT_EQ(typename TypeParam::T(static_cast<float>(x)).bits, bits);
    }
  }
}

// Between two neighbours: the nearer, of both the even one; past the largest, infinity.
TYPED_TEST(HalfTest, RoundsToTheNearestAndTiesToEven) {
  using T = typename TypeParam::T;
  for (unsigned bits = 0; bits < TypeParam::largest(); ++bits) {
    const double low = TypeParam::value(bits);
    // Where the next one would be, were there no infinity.
    const double high = bits + 1 < TypeParam::largest() ? TypeParam::value(bits + 1)
                                                        : 2 * low - TypeParam::value(bits - 1);
    const auto middle = static_cast<float>((low + high) / 2);
    const unsigned even = bits % 2 == 0 ? bits : bits + 1;
    for (const unsigned sign : {0u, 0x8000u}) {
      const float s = sign ? -1.0f : 1.0f;
      ASSERT_EQ(T(s * middle).bits, sign | even) << bits;
      ASSERT_EQ(T(s * std::nextafter(middle, 0.0f)).bits, sign | bits) << bits;
      ASSERT_EQ(T(s * std::nextafter(middle, INFINITY)).bits, sign | (bits + 1)) << bits;
    }
  }
}

TYPED_TEST(HalfTest, ArithmeticRoundsOnce) {
  using T = typename TypeParam::T;
  for (int i = 0; i < 10000; ++i) {
    const auto a = TypeParam::of_bits(static_cast<unsigned>(test::pick(0, 65535)));
    const auto b = TypeParam::of_bits(static_cast<unsigned>(test::pick(0, 65535)));
    const float x = a, y = b;
    const auto same = [&](T got, float expected) {
      return got.bits == T(expected).bits || (std::isnan(float{got}) && std::isnan(expected));
    };
    EXPECT_TRUE(same(a + b, x + y) && same(a - b, x - y) && same(a * b, x * y) &&
                same(a / b, x / y) && same(-a, -x))
        << x << ' ' << y;
    EXPECT_EQ(a < b, x < y);
    EXPECT_EQ(a == b, x == y);
  }
}

TEST(Half, HasItsLimits) {
  using Limits = std::numeric_limits<Half>;
  EXPECT_EQ(float{Limits::max()}, 65504.0f);
  EXPECT_EQ(float{Limits::lowest()}, -65504.0f);
  EXPECT_EQ(float{Limits::min()}, 0x1p-14f);
  EXPECT_EQ(float{Limits::epsilon()}, 0x1p-10f);
  EXPECT_EQ(float{Limits::denorm_min()}, 0x1p-24f);
  EXPECT_EQ(float{std::numeric_limits<BFloat16>::max()}, 0x1.fep127f);
  EXPECT_EQ(float{std::numeric_limits<BFloat16>::epsilon()}, 0x1p-7f);
  EXPECT_EQ(float{std::numeric_limits<BFloat16>::min()}, 0x1p-126f);
  std::ostringstream out;
  out << Half(1.5f) << ' ' << BFloat16(-2);
  EXPECT_EQ(out.str(), "1.5 -2");
}

TEST(Half, TensorsOfItGiveAndTakeIt) {
  const Tensor x = tensor({0.1, 2.0, 70000.0}).to(kHalf);
  EXPECT_EQ(x.dtype(), kHalf);
  EXPECT_EQ(x.element_size(), 2u);
  EXPECT_EQ(x.data_ptr<Half>()[1].bits, 0x4000);
  EXPECT_EQ(x.select(0, 0).item<float>(), float{Half(0.1)});
  EXPECT_EQ(float{x.select(0, 0).item<Half>()}, float{Half(0.1)});
  EXPECT_TRUE(std::isinf(x.select(0, 2).item<double>()));
  EXPECT_EQ(zeros({2}, kBFloat16).dtype(), kBFloat16);
  expect_error<TypeError>([&] { x.data_ptr<BFloat16>(); },
                          "expected scalar type BFloat16 but found Half");
  expect_error<ValueError>([] { tensor({70000.0}, kHalf); }, "type Half without overflow: 70000");
}

// A number beyond the type's own, or among its last digits, is one of float32 beside it.
TEST(Half, ProductsAndQuotientsByANumberRoundOnce) {
  for (const Device device : cpu_and_cuda()) {
    const Tensor x = full({3}, 60000, TensorOptions(kHalf).device(device));
    const auto is = [](const Tensor& y, double value) {
      EXPECT_EQ(y.dtype(), kHalf);
      expect_values(y, std::vector<double>(3, float{Half(value)}), 0);
    };
    is(x / 1e5, 0.6), is(x * 1e-8, 6e-4), is(1e-8 * x, 6e-4), is(6e7 / x, 1000);
    is(x.clone().mul_(1e-8), 6e-4), is(x.clone().div_(1e5), 0.6), is(x / int64_t{100000}, 0.6);
    is(x / tensor(100000), 0.6), is(x * tensor(1e-8, kDouble), 6e-4);
    is(x.clone().mul_(tensor(1e-8)), 6e-4), is(x / tensor(100000).to(device), 0.6);
    is(x / tensor({int64_t{100000}}).to(device), 0.6);
    is(x.new_full({3}, 6).div(2.0001, "floor"), 2), is(x.new_full({3}, 6).div(2.0001, "trunc"), 2);
    is(x.new_full({3}, 6).floor_divide(tensor(2.0001)), 2);
    is(leaky_relu(-x, 1e-8), -6e-4), is(x.new_full({3}, -60000).leaky_relu_(1e-8), -6e-4);
    is(lerp(x * 0, x, 1e-5), 0.6), is((x * 0).lerp_(x, 1e-5), 0.6);
    is((x * 0).addcmul_(x, x / x, 1e-8), 6e-4);
  }
}

// Where PyTorch rounds a number to the type first.
TEST(Half, OtherFunctionsRoundTheNumber) {
  for (const Device device : cpu_and_cuda()) {
    const Tensor x = full({2}, 1, TensorOptions(kBFloat16).device(device));
    const auto is = [](const Tensor& y, double value) {
      expect_values(y, {float{BFloat16(value)}, float{BFloat16(value)}}, 0);
    };
    const double number = 1.0058, rounded = 1.0078125;  // to the upper neighbour of 1
    is(x - number, 1 - rounded), is(x + number, 1 + rounded), is((x * rounded).fmod(number), 0);
    is(add(x, x, -number), 1 - rounded), is(sub(x, x, number), 1 - rounded);
    is(x.clone().add_(x, -number), 1 - rounded), is(rsub(x, x, number), 1 - rounded);
    is(x * rounded == number, 1), is(softshrink(x * rounded, number), 0);
    is(hardshrink(x * rounded, number), 0);
    is(threshold(x * rounded, number, -1), rounded);  // but not here
  }
  const Tensor h = ones({2}, kHalf);
  expect_values(h + 1e5, {INFINITY, INFINITY}, 0);
  expect_values(tensor(1e5, kDouble) * h, {INFINITY, INFINITY}, 0);
  expect_error<ValueError>([&] { add(h, h, 1e5); }, "type Half without overflow: 100000");
  expect_error<ValueError>([&] { h.sub_(h, 1e5); }, "type Half without overflow: 100000");
  expect_error<ValueError>([&] { pow(h, 1e5); }, "type Half without overflow: 100000");
  expect_values(h, {1, 1}, 0);
}

TEST(Half, GradientsOfProductsByANumberRoundOnce) {
  const auto gradient = [](auto f) {
    const Tensor x = full({2}, -1, kHalf).requires_grad_();
    f(x).backward(full({2}, 60000, kHalf));
    return x.grad();
  };
  const double expected = float{Half(6e-4)};
  const Tensor h = ones({2}, kHalf);
  for (const Tensor& grad : {gradient([](const Tensor& x) { return x * 1e-8; }),
                             gradient([](const Tensor& x) { return x / 1e8; }),
                             gradient([](const Tensor& x) { return x * tensor(1e-8, kDouble); }),
                             gradient([](const Tensor& x) { return leaky_relu(x, 1e-8); }),
                             gradient([&](const Tensor& x) { return lerp(h, x, 1e-8); }),
                             gradient([&](const Tensor& x) { return add(h, x, 1e-8); })})
    expect_values(grad, {expected, expected}, 0);
}

// With one rounding, where the other operand is of integers.
TEST(Half, AddsIntegersTimesANumber) {
  const Tensor x = tensor({60000.0}).to(kHalf), n = tensor({-1000});
  expect_values(add(x, n, 70), {-10000}, 0);
  expect_values(rsub(-n, x, 70), {-10000}, 0);
  expect_values(sub(n, n.to(kHalf), 61), {60000}, 0);
  expect_error<TypeError>([&] { n.add_(x, 70); }, "add_: result type Half can't be cast");
}

// As powers of float32 do.
TEST(Half, EasyPowersAreOneFunction) {
  const Tensor x = tensor({-HUGE_VAL, -0.0, 4.0, 0.1}).to(kHalf);
  const Tensor root = x.pow(0.5), cube = x.pow(3);
  EXPECT_TRUE(std::isnan(root.select(0, 0).item<double>()));
  EXPECT_TRUE(std::signbit(root.select(0, 1).item<double>()));
  EXPECT_EQ(root.select(0, 2).item<double>(), 2);
  const float tenth = Half(0.1);
  EXPECT_EQ(cube.select(0, 3).item<double>(), float{Half(tenth * tenth * tenth)});
}

TEST(Half, NumbersBeyondItAreInfiniteWhereTheyAreChosen) {
  const Tensor x = tensor({1.0, double{NAN}}).to(kHalf), mask = tensor({true, false});
  expect_values(where(mask, x, Scalar(1e5)), {1, INFINITY}, 0);
  expect_values(nan_to_num(x, 1e5, 2, 1), {1, INFINITY}, 0);
  expect_values(nan_to_num(x.to(kFloat), 1e39, 2, 1), {1, INFINITY}, 0);
}

TEST(Half, DerivativesHaveItsDtype) {
  Tensor x = tensor({0.5, 2.0}, kBFloat16).requires_grad_();
  (x * x).exp().sum().backward();
  ASSERT_EQ(x.grad().dtype(), kBFloat16);
  const double first = x.grad().select(0, 0).item<double>();
  EXPECT_NEAR(first, 2 * 0.5 * std::exp(0.25), 0.01);
}

TYPED_TEST(HalfTest, BesideAnIntegerStaysOne) {
  using T = typename TypeParam::T;
  const T x = 0.3f;
  static_assert(std::is_same_v<decltype(x + 1), T> && std::is_same_v<decltype(2 * x), T> &&
                std::is_same_v<decltype(int64_t{3} - x), T> && std::is_same_v<decltype(x / 2), T>);
  static_assert(std::is_same_v<decltype(x + 1.0f), float> &&
                std::is_same_v<decltype(2.0 * x), double>);
  EXPECT_EQ((x + 1).bits, T(static_cast<float>(x) + 1).bits);
  EXPECT_EQ((1 - x).bits, T(1 - static_cast<float>(x)).bits);
  EXPECT_EQ((x / int64_t{3}).bits, T(static_cast<float>(x) / 3).bits);
  EXPECT_EQ(static_cast<float>(std::numeric_limits<T>::denorm_min() / 2), 0);
}

}  // namespace
}  // namespace gradus
