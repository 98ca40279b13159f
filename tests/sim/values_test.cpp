// The simulator's stand-ins for NVIDIA's headers of values: vector types, functions of numbers, and
// the numbers of 16 bits.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <device_functions.h>
#include <gtest/gtest.h>
#include <math_constants.h>
#include <vector_types.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/random.h"

namespace gradus {
namespace {

using test::pick, test::real, test::rng;

template <class T>
constexpr bool occupies(size_t size, size_t alignment) {
  return sizeof(T) == size && alignof(T) == alignment;
}

static_assert(occupies<char1>(1, 1) && occupies<char2>(2, 2) && occupies<char3>(3, 1));
static_assert(occupies<uchar4>(4, 4) && occupies<short3>(6, 2) && occupies<ushort4>(8, 8));
static_assert(occupies<int2>(8, 8) && occupies<uint3>(12, 4) && occupies<int4>(16, 16));
static_assert(occupies<float1>(4, 4) && occupies<float2>(8, 8) && occupies<float3>(12, 4));
static_assert(occupies<float4>(16, 16) && occupies<double1>(8, 8) && occupies<double2>(16, 16));
static_assert(occupies<double3>(24, 8) && occupies<long2>(16, 16) && occupies<ulonglong2>(16, 16));
static_assert(occupies<longlong4_16a>(32, 16) && occupies<double4_32a>(32, 32));
static_assert(occupies<dim3>(12, 4) && occupies<half>(2, 2) && occupies<__nv_bfloat162>(4, 4));

TEST(SimVectorTypes, AreMadeAndConverted) {
  const float4 v = make_float4(1, 2, 3, 4);
  EXPECT_EQ(v.x + 10 * v.y + 100 * v.z + 1000 * v.w, 4321);
  const uint3 u = dim3(5, 6);
  EXPECT_EQ(u.x, 5u);
  EXPECT_EQ(u.y, 6u);
  EXPECT_EQ(u.z, 1u);
  EXPECT_EQ(dim3(make_uint3(7, 8, 9)).z, 9u);
}

TEST(SimLoads, LoadAndStore) {
  alignas(16) float4 memory = make_float4(1, 2, 3, 4);
  __stcs(&memory, make_float4(__ldg(&memory.w), 6, 7, 8));
  const float4 loaded = __ldcg(&memory);
  EXPECT_EQ(loaded.x, 4);
  EXPECT_EQ(loaded.w, 8);
  half two[2] = {1.5f, 2.5f};
  __stwt(&two[0], __ldg(&two[1]));
  EXPECT_TRUE(two[0] == half(2.5f));
}

// ------------------------------------------------------------------------------- integers

int bit(uint64_t x, int i) { return static_cast<int>(x >> i & 1); }

TEST(SimIntegers, CountAndMoveBits) {
  for (int round = 0; round < 1000; ++round) {
    const uint64_t x = round < 2 ? uint64_t{0} - round : rng()() >> pick(0, 63) << pick(0, 63);
    const auto low = static_cast<unsigned>(x);
    int count = 0, count_low = 0, leading = 64, leading_low = 32, first = 0, first_low = 0;
    uint64_t reverse = 0;
    for (int i = 0; i < 64; ++i) {
      count += bit(x, i);
      if (bit(x, i)) leading = 63 - i;
      if (bit(x, i) && !first) first = i + 1;
      if (i < 32 && bit(x, i)) {
        ++count_low;
        leading_low = 31 - i;
        if (!first_low) first_low = i + 1;
      }
      reverse = reverse << 1 | static_cast<uint64_t>(bit(x, i));
    }
    ASSERT_EQ(__popcll(x), count);
    ASSERT_EQ(__popc(low), count_low);
    ASSERT_EQ(__clzll(static_cast<long long>(x)), leading);
    ASSERT_EQ(__clz(static_cast<int>(low)), leading_low);
    ASSERT_EQ(__ffsll(static_cast<long long>(x)), first);
    ASSERT_EQ(__ffs(static_cast<int>(low)), first_low);
    ASSERT_EQ(__brevll(x), reverse);
    ASSERT_EQ(__brev(static_cast<unsigned>(x >> 32)), static_cast<unsigned>(reverse));
  }
}

// The high half of a product, in four pieces as on paper.
uint64_t high_of_product(uint64_t x, uint64_t y) {
  const uint64_t xl = x & 0xffffffff, xh = x >> 32, yl = y & 0xffffffff, yh = y >> 32;
  const uint64_t middle = (xl * yl >> 32) + (xh * yl & 0xffffffff) + (xl * yh & 0xffffffff);
  return xh * yh + (xh * yl >> 32) + (xl * yh >> 32) + (middle >> 32);
}

TEST(SimIntegers, Multiply) {
  for (int round = 0; round < 1000; ++round) {
    const uint64_t x = rng()(), y = rng()();
    const auto a = static_cast<int>(x), b = static_cast<int>(y);
    const auto p = static_cast<long long>(x), q = static_cast<long long>(y);
    ASSERT_EQ(__umul64hi(x, y), high_of_product(x, y));
    ASSERT_EQ(static_cast<uint64_t>(__mul64hi(p, q)),
              high_of_product(x, y) - (p < 0 ? y : 0) - (q < 0 ? x : 0));
    ASSERT_EQ(__mulhi(a, b), static_cast<int>(std::floor(1.0L * a * b / 4294967296.0L)));
    ASSERT_EQ(__umulhi(static_cast<unsigned>(x), static_cast<unsigned>(y)),
              (x & 0xffffffff) * (y & 0xffffffff) >> 32);
    ASSERT_EQ(__umul24(static_cast<unsigned>(x), static_cast<unsigned>(y)),
              static_cast<unsigned>((x % 0x1000000) * (y % 0x1000000)));
    const auto low = [](int n) { return int64_t{(n & 0xffffff) - (n & 0x800000 ? 0x1000000 : 0)}; };
    ASSERT_EQ(__mul24(a, b), static_cast<int>(low(a) * low(b)));
  }
}

TEST(SimIntegers, AverageAndDifference) {
  for (int round = 0; round < 1000; ++round) {
    const int x = static_cast<int>(rng()()), y = static_cast<int>(rng()());
    const auto u = static_cast<unsigned>(x), v = static_cast<unsigned>(y);
    const unsigned z = static_cast<unsigned>(rng()());
    ASSERT_EQ(__hadd(x, y), std::floor((1.0 * x + y) / 2));
    ASSERT_EQ(__rhadd(x, y), std::ceil((1.0 * x + y) / 2));
    ASSERT_EQ(__uhadd(u, v), (uint64_t{u} + v) / 2);
    ASSERT_EQ(__urhadd(u, v), (uint64_t{u} + v + 1) / 2);
    ASSERT_EQ(__sad(x, y, z), static_cast<unsigned>(std::abs(int64_t{x} - y) + z));
    ASSERT_EQ(__usad(u, v, z), static_cast<unsigned>(std::abs(int64_t{u} - int64_t{v}) + z));
  }
}

TEST(SimIntegers, PickBytesAndShiftThrough) {
  EXPECT_EQ(__byte_perm(0x33221100, 0x77665544, 0x3210), 0x33221100u);
  EXPECT_EQ(__byte_perm(0x33221100, 0x77665544, 0x0246), 0x00224466u);
  EXPECT_EQ(__byte_perm(0x33221100, 0x77665544, 0xf8c1), 0x77004411u);
  for (unsigned shift = 0; shift < 70; ++shift) {
    const unsigned low = static_cast<unsigned>(rng()()), high = static_cast<unsigned>(rng()());
    unsigned left = high, right = low, left_clamped = high, right_clamped = low;
    for (int i = 0; i < 32; ++i) {  // bit i of each result, from the bit that lands there
      const auto both = [&](unsigned place) { return bit(place < 32 ? low : high, place % 32); };
      const auto put = [i](unsigned& x, int one) { x = (x & ~(1u << i)) | unsigned(one) << i; };
      const unsigned wrapped = shift % 32, clamped = std::min(shift, 32u);
      put(left, both(32 + i - wrapped)), put(right, both(i + wrapped));
      put(left_clamped, both(32 + i - clamped)), put(right_clamped, both(i + clamped));
    }
    ASSERT_EQ(__funnelshift_l(low, high, shift), left);
    ASSERT_EQ(__funnelshift_r(low, high, shift), right);
    ASSERT_EQ(__funnelshift_lc(low, high, shift), left_clamped);
    ASSERT_EQ(__funnelshift_rc(low, high, shift), right_clamped);
  }
}

// ----------------------------------------------------------------------------- min and max

template <class A, class B>
concept HaveMin = requires(A a, B b) {
  ::min(a, b);
};

static_assert(std::is_same_v<decltype(::min(1, 2u)), unsigned>);
static_assert(std::is_same_v<decltype(::min(1l, 2ul)), unsigned long>);
static_assert(std::is_same_v<decltype(::max(1ull, 2ll)), unsigned long long>);
static_assert(std::is_same_v<decltype(::max(1.0f, 2.0f)), float>);
static_assert(std::is_same_v<decltype(::max(1.0f, 2.0)), double>);
static_assert(!HaveMin<long, int> && !HaveMin<float, int> && !HaveMin<long, long long>);

TEST(SimMinMax, CompareInTheResultsType) {
  EXPECT_EQ(::min(-1, 2), -1);
  EXPECT_EQ(::min(-1, 2u), 2u);
  EXPECT_EQ(::max(-1, 2u), 0xffffffffu);
  EXPECT_EQ(::max(int64_t{-5}, int64_t{-7}), -5);
  const float none = CUDART_NAN_F;
  EXPECT_EQ(::min(none, 1.0f) + 10 * ::min(2.0f, none), 21.0f);
  EXPECT_EQ(::max(none, 1.0f) + 10 * ::max(2.0f, none), 21.0f);
  EXPECT_EQ(::min(none, 1.0) + 10 * ::min(2.0, none), 21.0);
  EXPECT_EQ(::max(none, 1.0) + 10 * ::max(2.0, none), 21.0);
}

// ------------------------------------------------------------------- floats and conversions

TEST(SimConversions, RoundAsTheySay) {
  EXPECT_EQ(__float2int_rn(2.5f), 2);
  EXPECT_EQ(__float2int_rn(-3.5f), -4);
  EXPECT_EQ(__float2int_rz(-2.7f), -2);
  EXPECT_EQ(__float2int_ru(2.1f), 3);
  EXPECT_EQ(__float2int_rd(-2.1f), -3);
  EXPECT_EQ(__double2ll_rd(-1e15 - 0.5), -1000000000000001);
  EXPECT_EQ(__int2float_rn(16777217), 16777216.0f);
  EXPECT_EQ(__uint2float_rn(16777219), 16777220.0f);
}

TEST(SimConversions, SaturateAndGiveNaNItsInteger) {
  EXPECT_EQ(__float2int_rz(1e10f), std::numeric_limits<int>::max());
  EXPECT_EQ(__float2int_rz(-1e10f), std::numeric_limits<int>::min());
  EXPECT_EQ(__float2int_rn(2147483648.0f), std::numeric_limits<int>::max());
  EXPECT_EQ(__float2int_rn(-2147483648.0f), std::numeric_limits<int>::min());
  EXPECT_EQ(__float2uint_rn(-1), 0u);
  EXPECT_EQ(__double2uint_rn(4294967295.0), 4294967295u);
  EXPECT_EQ(__double2uint_rn(4294967295.5), 4294967295u);
  EXPECT_EQ(__float2ull_rz(2e19f), std::numeric_limits<unsigned long long>::max());
  EXPECT_EQ(__float2int_rz(CUDART_NAN_F), 0);
  EXPECT_EQ(__double2int_rz(CUDART_NAN), std::numeric_limits<int>::min());
  EXPECT_EQ(__float2ll_rz(CUDART_NAN_F), std::numeric_limits<long long>::min());
}

TEST(SimConversions, KeepBits) {
  EXPECT_EQ(__float_as_uint(1.0f), 0x3f800000u);
  EXPECT_EQ(__int_as_float(0x40490fdb), CUDART_PI_F);
  EXPECT_EQ(__float_as_int(-0.0f), std::numeric_limits<int>::min());
  EXPECT_EQ(__longlong_as_double(0x3ff0000000000000), 1.0);
  for (const double x : {CUDART_PI, -CUDART_LN2, 5e-324})
    EXPECT_EQ(__hiloint2double(__double2hiint(x), __double2loint(x)), x);
}

TEST(SimFloats, FunctionsOfTheirOwn) {
  for (int round = 0; round < 1000; ++round) {
    const float x = static_cast<float>(real(-4, 4)), p = std::fabs(x);
    const double wide = static_cast<double>(x);
    ASSERT_NEAR(__expf(x), std::exp(wide), 1e-5);
    ASSERT_NEAR(__exp10f(x), std::pow(10, wide), 2e-3);
    ASSERT_NEAR(__logf(p), std::log(std::fabs(wide)), 1e-5);
    ASSERT_NEAR(__powf(p, 1.5f), std::pow(std::fabs(wide), 1.5), 1e-5);
    float sine, cosine;
    __sincosf(x, &sine, &cosine);
    ASSERT_NEAR(sine, std::sin(wide), 1e-6);
    ASSERT_NEAR(cosine, std::cos(wide), 1e-6);
    ASSERT_NEAR(rsqrtf(p) * std::sqrt(p), 1, 1e-6);
    ASSERT_NEAR(rsqrt(std::fabs(wide)) * std::sqrt(std::fabs(wide)), 1, 1e-15);
    ASSERT_NEAR(normcdff(x), 0.5 + 0.5 * std::erf(wide / std::sqrt(2.0)), 1e-7);
    ASSERT_EQ(__saturatef(x), x < 0 ? 0.0f : x > 1 ? 1.0f : x);
  }
  EXPECT_EQ(__saturatef(CUDART_NAN_F), 0.0f);
  EXPECT_EQ(__fadd_rn(16777216.0f, 1.0f), 16777216.0f);
  EXPECT_EQ(__fmaf_rn(1 + 0x1p-12f, 1 + 0x1p-12f, -1.0f), 0x1p-11f + 0x1p-24f);
  EXPECT_EQ(__fdividef(1.0f, 4.0f), 0.25f);
}

TEST(SimFloats, ErrorFunctionsInverse) {
  for (int round = 0; round < 1000; ++round) {
    const float x = static_cast<float>(std::copysign(1 - std::exp(real(-16, 0)), real(-1, 1)));
    const double y = static_cast<double>(erfinvf(x)), wide = static_cast<double>(x);
    // An error of an ulp of y is one of y's slope times that in erf(y).
    const double slope = 2 / std::sqrt(CUDART_PI) * std::exp(-y * y);
    ASSERT_NEAR(std::erf(y), wide, slope * std::fabs(y) * 0x1p-23 + 1e-15) << x;
  }
  EXPECT_EQ(erfinvf(0.0f), 0.0f);
  EXPECT_FLOAT_EQ(erfinvf(1e-30f), 8.8622693e-31f);
  EXPECT_EQ(erfinvf(-1.0f), -CUDART_INF_F);
  EXPECT_TRUE(std::isnan(erfinvf(1.5f)));
}

// ---------------------------------------------------------------------- numbers of 16 bits

__extension__ typedef __float128 Wide;  // 113 bits of mantissa

// Both formats, described anew: every number from its definition, and the nearest by search.
template <class T, int kExponentBits, int kMantissaBits>
struct Format {
  using Number = T;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr unsigned kInfinity = ((1u << kExponentBits) - 1) << kMantissaBits;

  static T from_bits(unsigned bits) { return typename T::Raw{static_cast<unsigned short>(bits)}; }
  static unsigned bits_of(T x) { return typename T::Raw(x).x; }
  static bool is_nan(unsigned bits) { return (bits & 0x7fff) > kInfinity; }

  // The number; for infinity what would come after the largest.
  static double value(unsigned bits) {
    const int exponent = static_cast<int>((bits & 0x7fff) >> kMantissaBits);
    const double fraction = std::ldexp(bits & ((1u << kMantissaBits) - 1), -kMantissaBits);
    const double size = exponent == 0 ? std::ldexp(fraction, 1 - kBias)
                                      : std::ldexp(1 + fraction, exponent - kBias);
    return bits & 0x8000 ? -size : size;
  }
  static unsigned nearest(Wide x, bool minus) {
    const unsigned sign = minus ? 0x8000 : 0;
    if (x < 0) x = -x;
    if (x >= Wide(value(kInfinity))) return sign | kInfinity;
    unsigned low = 0, high = kInfinity;  // value(low) <= x < value(high)
    while (high - low > 1) (Wide(value((low + high) / 2)) <= x ? low : high) = (low + high) / 2;
    const Wide down = x - Wide(value(low)), up = Wide(value(high)) - x;
    return sign | (down < up || (down == up && low % 2 == 0) ? low : high);
  }
  static unsigned nearest(Wide x) { return nearest(x, x < 0); }

  // Any number but NaN and infinity; many are subnormal.
  static unsigned random_bits() {
    const unsigned sign = static_cast<unsigned>(pick(0, 1)) << 15;
    return sign | static_cast<unsigned>(pick(0, pick(0, 9) ? kInfinity - 1 : 3u << kMantissaBits));
  }
};
using HalfFormat = Format<half, 5, 10>;
using BfloatFormat = Format<nv_bfloat16, 8, 7>;

template <class Format>
struct SimFloat16 : testing::Test {};
using Formats = testing::Types<HalfFormat, BfloatFormat>;
TYPED_TEST_SUITE(SimFloat16, Formats);

TYPED_TEST(SimFloat16, EveryNumberConvertsThereAndBack) {
  using F = TypeParam;
  using T = typename F::Number;
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const float x = F::from_bits(bits);
    if (F::is_nan(bits)) {
      ASSERT_TRUE(std::isnan(x)) << bits;
      ASSERT_EQ(F::bits_of(T(x)), 0x7fffu) << bits;
      continue;
    }
    if ((bits & 0x7fff) == F::kInfinity)
      ASSERT_EQ(x, bits & 0x8000 ? -CUDART_INF_F : CUDART_INF_F);
    else
      ASSERT_EQ(static_cast<double>(x), F::value(bits)) << bits;
    ASSERT_EQ(std::signbit(x), bits >= 0x8000) << bits;
    ASSERT_EQ(F::bits_of(T(x)), bits);
    ASSERT_EQ(F::bits_of(T(static_cast<double>(x))), bits);
  }
}

TYPED_TEST(SimFloat16, TiesGoToEvenAndTheirNeighboursDoNot) {
  using F = TypeParam;
  using T = typename F::Number;
  for (unsigned bits = 0; bits < F::kInfinity; ++bits) {
    const double tie = (F::value(bits) + F::value(bits + 1)) / 2;
    ASSERT_EQ(F::bits_of(T(tie)), bits + bits % 2);
    ASSERT_EQ(F::bits_of(T(-tie)), 0x8000 | (bits + bits % 2));
    ASSERT_EQ(F::bits_of(T(std::nextafter(tie, 0))), bits);
    ASSERT_EQ(F::bits_of(T(std::nextafter(tie, 1e300))), bits + 1);
    const auto single = static_cast<float>(tie);
    ASSERT_EQ(F::bits_of(T(single)), bits + bits % 2);
    ASSERT_EQ(F::bits_of(T(std::nextafter(single, 0.0f))), bits);
    ASSERT_EQ(F::bits_of(T(std::nextafter(single, CUDART_INF_F))), bits + 1);
  }
}

TYPED_TEST(SimFloat16, RoundsRandomNumbers) {
  using F = TypeParam;
  using T = typename F::Number;
  for (int round = 0; round < 20000; ++round) {
    const double x = std::ldexp(real(-2, 2), static_cast<int>(pick(-140, 130)));
    ASSERT_EQ(F::bits_of(T(x)), F::nearest(Wide(x), x < 0)) << x;
    const auto single = static_cast<float>(x);
    ASSERT_EQ(F::bits_of(T(single)), F::nearest(Wide(single), x < 0)) << x;
    const auto integer = static_cast<long long>(rng()()) >> pick(0, 63);
    ASSERT_EQ(F::bits_of(T(integer)), F::nearest(Wide(integer))) << integer;
    ASSERT_EQ(F::bits_of(T(static_cast<int>(integer))),
              F::nearest(Wide(static_cast<int>(integer))));
  }
  // In double this is a tie.
  const unsigned long long above = (1ull << 63) + (1ull << 55) + 1;
  ASSERT_EQ(F::bits_of(T(above)), F::nearest(Wide(above)));
}

TYPED_TEST(SimFloat16, ArithmeticRoundsOnce) {
  using F = TypeParam;
  using T = typename F::Number;
  for (int round = 0; round < 50000; ++round) {
    const unsigned a = F::random_bits();
    // Now and then of like size, so that much cancels.
    const unsigned b = pick(0, 2) ? F::random_bits() : (a ^ static_cast<unsigned>(pick(0, 0x3ff)));
    if ((b & 0x7fff) >= F::kInfinity) continue;
    const T x = F::from_bits(a), y = F::from_bits(b);
    const Wide u = Wide(F::value(a)), v = Wide(F::value(b));
    const bool minus_both = a >= 0x8000 && b >= 0x8000, unlike = (a ^ b) >= 0x8000;
    ASSERT_EQ(F::bits_of(x + y), F::nearest(u + v, u + v < 0 || (u + v == 0 && minus_both)));
    ASSERT_EQ(F::bits_of(x - y), F::bits_of(x + -y));
    ASSERT_EQ(F::bits_of(x * y), F::nearest(u * v, unlike)) << a << ' ' << b;
    if (v != 0) {
      ASSERT_EQ(F::bits_of(x / y), F::nearest(u / v, unlike)) << a << ' ' << b;
    }
    if (u > 0) {
      ASSERT_EQ(F::bits_of(hsqrt(x)), F::nearest(Wide(std::sqrt(F::value(a)))));
    }
    T sum = x;
    sum += y;
    ASSERT_EQ(F::bits_of(sum), F::bits_of(__hadd(x, y)));
    ASSERT_EQ(F::bits_of(__hmul(x, y)), F::bits_of(x * y));
    ASSERT_EQ(F::bits_of(__hsub(x, y)), F::bits_of(x - y));
    ASSERT_EQ(F::bits_of(__hdiv(x, y)), F::bits_of(x / y));
  }
}

TYPED_TEST(SimFloat16, FusedMultiplyAddRoundsOnce) {
  using F = TypeParam;
  using T = typename F::Number;
  for (int round = 0; round < 50000; ++round) {
    const unsigned a = F::random_bits(), b = F::random_bits(), c = F::random_bits();
    const Wide product = Wide(F::value(a)) * Wide(F::value(b)), addend = Wide(F::value(c));
    const Wide sum = product + addend;
    // The reference is exact where nothing of the sum is lost.
    if (sum == 0 || sum - product != addend || sum - addend != product) continue;
    ASSERT_EQ(F::bits_of(__hfma(F::from_bits(a), F::from_bits(b), F::from_bits(c))),
              F::nearest(sum))
        << a << ' ' << b << ' ' << c;
  }
  // A product halfway between two numbers, and as little more or less as there is.
  const T one = 1, least = F::from_bits(1), step = F::from_bits(F::bits_of(one) + 1) - one;
  const T x = one + step, y = 1.5f;
  const unsigned tie = F::bits_of(x * y);
  ASSERT_EQ(F::value(tie), 1.5 + 2 * static_cast<double>(float(step)));
  ASSERT_EQ(F::bits_of(__hfma(x, y, T(0))), tie);
  ASSERT_EQ(F::bits_of(__hfma(x, y, least)), tie);
  ASSERT_EQ(F::bits_of(__hfma(x, y, -least)), tie - 1);
  ASSERT_EQ(F::bits_of(__hfma(-x, y, least)), 0x8000 | (tie - 1));
}

TYPED_TEST(SimFloat16, ComparesLikeFloats) {
  using F = TypeParam;
  using T = typename F::Number;
  for (int round = 0; round < 50000; ++round) {
    const auto a = static_cast<unsigned>(pick(0, 0xffff));
    const auto b = pick(0, 3) ? static_cast<unsigned>(pick(0, 0xffff)) : a ^ 0x8000;
    const T x = F::from_bits(a), y = F::from_bits(b);
    const float u = x, v = y;
    const bool ordered = !std::isnan(u) && !std::isnan(v);
    ASSERT_EQ(x == y, u == v);
    ASSERT_EQ(x != y, u != v);
    ASSERT_EQ(x < y, u < v);
    ASSERT_EQ(x <= y, u <= v);
    ASSERT_EQ(x > y, u > v);
    ASSERT_EQ(x >= y, u >= v);
    ASSERT_EQ(__heq(x, y), u == v);
    ASSERT_EQ(__hne(x, y), ordered && u != v);
    ASSERT_EQ(__hlt(x, y), u < v);
    ASSERT_EQ(__hge(x, y), u >= v);
    ASSERT_EQ(__hequ(x, y), !ordered || u == v);
    ASSERT_EQ(__hneu(x, y), u != v);
    ASSERT_EQ(__hltu(x, y), !ordered || u < v);
    ASSERT_EQ(__hgeu(x, y), !ordered || u >= v);
    const float larger = __hmax(x, y), smaller = __hmin(x, y);
    ASSERT_TRUE(larger == std::fmax(u, v) || (std::isnan(u) && std::isnan(v)));
    ASSERT_TRUE(smaller == std::fmin(u, v) || (std::isnan(u) && std::isnan(v)));
    ASSERT_EQ(__hisnan(__hmax_nan(x, y)), !ordered);
    ASSERT_EQ(__hisnan(__hmin_nan(x, y)), !ordered);
    ASSERT_EQ(__hisnan(x), std::isnan(u));
    ASSERT_EQ(__hisinf(x), std::isinf(u) ? (u > 0 ? 1 : -1) : 0);
    ASSERT_EQ(static_cast<bool>(x), u != 0);
    ASSERT_EQ(float(__habs(x)) == std::fabs(u), !std::isnan(u));
  }
  const T zero = 0, minus_zero = -zero;
  EXPECT_TRUE(std::signbit(float(__hmin(zero, minus_zero))));
  EXPECT_FALSE(std::signbit(float(__hmax(minus_zero, zero))));
}

TYPED_TEST(SimFloat16, ConvertsToIntegers) {
  using F = TypeParam;
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const auto x = F::from_bits(bits);
    ASSERT_EQ(static_cast<int>(x), __float2int_rz(x)) << bits;
    ASSERT_EQ(static_cast<unsigned>(x), __float2uint_rz(x)) << bits;
    ASSERT_EQ(static_cast<long long>(x), __float2ll_rz(x)) << bits;
    ASSERT_EQ(static_cast<signed char>(x), ::min(::max(__float2int_rz(x), -128), 127)) << bits;
  }
}

TEST(SimHalf, HasCudasNames) {
  EXPECT_EQ(__half_as_ushort(__float2half(1)), 0x3c00);
  EXPECT_EQ(__half2float(__ushort_as_half(0x7bff)), 65504.0f);
  EXPECT_EQ(__half_as_ushort(__float2half_rn(65520.0f)), 0x7c00);
  EXPECT_EQ(__half2int_rz(__float2half(-2.5f)), -2);
  EXPECT_EQ(__half2int_rn(__float2half(2.5f)), 2);
  EXPECT_EQ(__half2int_ru(__float2half(2.5f)), 3);
  EXPECT_EQ(__half2int_rd(__float2half(-2.5f)), -3);
  EXPECT_EQ(float(__int2half_rn(2049)), 2048.0f);
  EXPECT_NEAR(float(hexp(half(1))), std::exp(1.0f), 1e-3);
  EXPECT_EQ(float(hrsqrt(half(0.25f))), 2.0f);
  EXPECT_EQ(float(__hadd_sat(half(0.75f), half(0.5f))), 1.0f);
  EXPECT_EQ(float(__hmul_sat(half(-0.75f), half(0.5f))), 0.0f);
}

TEST(SimBfloat16, HasCudasNames) {
  EXPECT_EQ(__bfloat16_as_ushort(__float2bfloat16(1)), 0x3f80);
  EXPECT_EQ(__bfloat162float(__ushort_as_bfloat16(0xc049)), -3.140625f);
  EXPECT_EQ(__bfloat162int_rz(__int2bfloat16_rn(257)), 256);
  EXPECT_EQ(float(nv_bfloat16(half(0.1f))), 0.10009765625f);
  const float2 both = __bfloat1622float2(__floats2bfloat162_rn(2, 3));
  EXPECT_EQ(both.x + 10 * both.y, 32.0f);
}

TEST(SimHalf2, WorksOnBoth) {
  const half2 a = __floats2half2_rn(2, 3), b = __halves2half2(half(4), half(-5));
  const auto is = [](half2 v, float x, float y) {
    return __low2float(v) == x && __high2float(v) == y;
  };
  EXPECT_TRUE(is(a + b, 6, -2) && is(__hadd2(a, b), 6, -2) && is(__hsub2(a, b), -2, 8));
  EXPECT_TRUE(is(__hmul2(a, b), 8, -15) && is(__h2div(b, a), 2, float(half(-5.0f / 3))));
  EXPECT_TRUE(is(__hfma2(a, b, a), 10, -12) && is(__hneg2(a), -2, -3) && is(__habs2(b), 4, 5));
  EXPECT_TRUE(is(__hmax2(a, b), 4, 3) && is(__hmin2(a, b), 2, -5));
  EXPECT_TRUE(is(__heq2(a, __half2half2(half(3))), 0, 1) && is(__hlt2(a, b), 1, 0));
  EXPECT_EQ(__hgt2_mask(a, b), 0xffff0000u);
  EXPECT_TRUE(__hbge2(a, a) && !__hbgt2(a, b) && a == a && !(a == b));
  EXPECT_TRUE(is(__lowhigh2highlow(a), 3, 2) && is(__lows2half2(a, b), 2, 4));
  EXPECT_TRUE(is(__highs2half2(a, b), 3, -5) && is(__high2half2(a), 3, 3));
  EXPECT_TRUE(is(h2sqrt(make_half2(4, 9)), 2, 3));
  EXPECT_EQ(__half22float2(__float22half2_rn(make_float2(7, 8))).y, 8.0f);
}

}  // namespace
}  // namespace gradus
