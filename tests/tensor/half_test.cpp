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
