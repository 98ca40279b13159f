// The rows of elementwise.def on tensors of every layout, against loops over their scalar function
// in float64.
#include "gradus/tensor/math/elementwise.h"

#include <limits>

#include "tests/random.h"
#include "tests/support.h"

namespace gradus {
namespace {

// Contiguous, transposed, broadcast, sliced, empty, scalar; the last have blocks and tails.
Tensor layout(int kind, ScalarType dtype, double lo, double hi) {
  const auto made = [&](IntArrayRef sizes) {
    Tensor x = test::empty(sizes, dtype);
    for (int64_t i = 0; i < x.numel(); ++i) test::set(x, i, test::real(lo, hi));
    return x;
  };
  switch (kind) {
    case 0:
      return made({test::pick(1, 100)});
    case 1:
      return made({5, test::pick(1, 9)}).t();
    case 2:
      return made({1, 7}).expand({test::pick(1, 5), 7});
    case 3:
      return made({6, 9}).narrow(1, test::pick(0, 4), 5).narrow(0, 1, 3);
    case 4:
      return made({3, 0, 2});
    case 5:
      return made({});
    case 6:
      return made({2, 3, 4}).permute({2, 0, 1});
    case 7:
      return made({40000 + test::pick(0, 70)});
    default:
      return made({131, 301}).t();
  }
}
constexpr int kLayouts = 9;

double tolerance(ScalarType dtype) { return dtype == kFloat ? 4e-6 : 1e-14; }

struct UnaryRow {
  const char* name;
  scalar::Ints ints;
  double lo, hi;
  Tensor (*f)(const Tensor&);
  Tensor& (Tensor::*in_place)() const;
  double (*number)(double);
};
struct BinaryRow {
  const char* name;
  double x_lo, x_hi, y_lo, y_hi;
  Tensor (*f)(const Tensor&, const Tensor&);
  Tensor (*with_number)(const Tensor&, const Scalar&);
  Tensor& (Tensor::*in_place)(const Tensor&) const;
  double (*numbers)(double, double);
};

// How GoogleTest names them.
void PrintTo(const UnaryRow& row, std::ostream* out) { *out << row.name; }
void PrintTo(const BinaryRow& row, std::ostream* out) { *out << row.name; }

const std::vector<UnaryRow> kUnary = {
#define UNARY(name, doc_, ints_, complex_, lo, hi, ...) \
  {#name,                                               \
   scalar::Unary<UnaryOp::name>::ints,                  \
   lo,                                                  \
   hi,                                                  \
   [](const Tensor& x) { return gradus::name(x); },     \
   &Tensor::name##_,                                    \
   [](double x) { return scalar::Unary<UnaryOp::name>::f(x); }},
#include "gradus/tensor/table/elementwise.def"
};
const std::vector<BinaryRow> kBinary = {
#define BINARY(name, doc_, ints_, complex_, xlo, xhi, ylo, yhi, ...)        \
  {#name,                                                                   \
   xlo,                                                                     \
   xhi,                                                                     \
   ylo,                                                                     \
   yhi,                                                                     \
   [](const Tensor& x, const Tensor& y) { return gradus::name(x, y); },     \
   [](const Tensor& x, const Scalar& y) { return gradus::name(x, y); },     \
   static_cast<Tensor& (Tensor::*)(const Tensor&) const>(&Tensor::name##_), \
   [](double x, double y) { return scalar::Binary<BinaryOp::name>::f(x, y); }},
#include "gradus/tensor/table/elementwise.def"
};

class UnaryOnLayouts : public ::testing::TestWithParam<UnaryRow> {};
class BinaryOnLayouts : public ::testing::TestWithParam<BinaryRow> {};

TEST_P(UnaryOnLayouts, AgreesWithTheScalarLoop) {
  const UnaryRow& row = GetParam();
  for (ScalarType dtype : {kFloat, kDouble})
    for (int kind = 0; kind < kLayouts; ++kind) {
      SCOPED_TRACE(kind);
      const Tensor x = layout(kind, dtype, row.lo, row.hi);
      std::vector<double> expected;
      for (int64_t i = 0; i < x.numel(); ++i) expected.push_back(row.number(test::get(x, i)));
      const Tensor y = row.f(x);
      EXPECT_EQ(y.sizes(), x.sizes());
      expect_values(y, expected, tolerance(dtype));
      Tensor z = x.clone();
      EXPECT_TRUE((z.*row.in_place)().is_same(z));
      expect_values(z, expected, tolerance(dtype));
    }
}

TEST_P(UnaryOnLayouts, InPlaceOnASliceLeavesTheRestAlone) {
  const UnaryRow& row = GetParam();
  Tensor x = full({4, 5}, row.hi, kDouble);
  Tensor slice = x.narrow(1, 1, 2);
  (slice.*row.in_place)();
  for (int64_t i = 0; i < 20; ++i) {
    const bool inside = i % 5 == 1 || i % 5 == 2;
    EXPECT_DOUBLE_EQ(test::get(x, i), inside ? row.number(row.hi) : row.hi);
  }
}

TEST_P(UnaryOnLayouts, IntegersDoWhatTheRowSays) {
  const UnaryRow& row = GetParam();
  Tensor x = tensor({1, 2, 3});
  if (row.ints == scalar::Ints::none)
    return expect_error<TypeError>([&] { row.f(x); }, "int64 is not supported");
  EXPECT_EQ(row.f(x).dtype(), row.ints == scalar::Ints::real ? kFloat : kLong);
  expect_values(row.f(x), {row.number(1), row.number(2), row.number(3)});
  if (row.ints == scalar::Ints::real) {
    expect_error<TypeError>(
        [&] { (x.*row.in_place)(); },
        std::string(row.name) +
            "_: result type Float can't be cast to the desired output type Long");
    expect_values(x, {1, 2, 3}, 0);
  }
}

TEST_P(BinaryOnLayouts, AgreesWithTheScalarLoop) {
  const BinaryRow& row = GetParam();
  for (ScalarType dtype : {kFloat, kDouble})
    for (int kind = 0; kind < kLayouts; ++kind)
      for (int lies = 0; lies < 2; ++lies) {
        SCOPED_TRACE(kind * 2 + lies);
        const Tensor x = layout(kind, dtype, row.x_lo, row.x_hi);
        Tensor y = test::random_tensor(x.sizes(), dtype, row.y_lo, row.y_hi);
        if (lies == 0) y = y.contiguous();
        std::vector<double> expected, with_number;
        const double number = test::get(full({}, test::real(row.y_lo, row.y_hi), dtype), 0);
        for (int64_t i = 0; i < x.numel(); ++i) {
          expected.push_back(row.numbers(test::get(x, i), test::get(y, i)));
          with_number.push_back(row.numbers(test::get(x, i), number));
        }
        expect_values(row.f(x, y), expected, tolerance(dtype));
        expect_values(row.with_number(x, number), with_number, tolerance(dtype));
        Tensor z = x.clone();
        EXPECT_TRUE((z.*row.in_place)(y).is_same(z));
        expect_values(z, expected, tolerance(dtype));
      }
}

TEST_P(BinaryOnLayouts, Broadcasts) {
  const BinaryRow& row = GetParam();
  for (int round = 0; round < 30; ++round) {
    const Dims sizes = test::random_sizes(4, 4);
    const auto thinned = [&](double lo, double hi) {
      Dims out;
      for (size_t d = static_cast<size_t>(test::pick(0, static_cast<int64_t>(sizes.size())));
           d < sizes.size(); ++d)
        out.push_back(test::pick(0, 2) ? sizes[d] : 1);
      return test::random_tensor(out, kDouble, lo, hi);
    };
    const Tensor x = thinned(row.x_lo, row.x_hi), y = thinned(row.y_lo, row.y_hi);
    const Dims shape = broadcast_shapes("test", x.sizes(), y.sizes());
    const Tensor u = x.expand(shape), v = y.expand(shape), z = row.f(x, y);
    ASSERT_EQ(z.sizes(), IntArrayRef(shape));
    for (int64_t i = 0; i < z.numel(); ++i)
      EXPECT_NEAR(test::get(z, i), row.numbers(test::get(u, i), test::get(v, i)), 1e-13);
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, UnaryOnLayouts, ::testing::ValuesIn(kUnary),
                         [](const auto& test) { return std::string(test.param.name); });
INSTANTIATE_TEST_SUITE_P(Rows, BinaryOnLayouts, ::testing::ValuesIn(kBinary),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(InPlace, OperandsThatOverlapAreReadFirst) {
  Tensor x = arange(5);
  x.narrow(0, 1, 4).add_(x.narrow(0, 0, 4));
  expect_values(x, {0, 1, 3, 5, 7}, 0);
  Tensor square = arange(4).view({2, 2});
  square.mul_(square.t());
  expect_values(square, {0, 2, 2, 9}, 0);
  square.sub_(square);
  expect_values(square, {0, 0, 0, 0}, 0);
}

TEST(InPlace, KeepsShapeAndDtype) {
  Tensor x = ones({2});
  x.add_(tensor({1.5, 2.5}, kDouble));
  EXPECT_EQ(x.dtype(), kFloat);
  expect_values(x, {2.5, 3.5}, 0);
  expect_error<ValueError>(
      [&] {
        x.add_(ones({3, 2}));
      },
      "add_: output with shape [2] doesn't match the broadcast shape [3, 2]");
  expect_error<TypeError>([] { arange(2).mul_(0.5); },
                          "mul_: result type Float can't be cast to the desired output type Long");
  expect_values(x, {2.5, 3.5}, 0);
}

TEST(InPlace, BumpsTheVersionOfTheSharedMemory) {
  Tensor x = ones({3});
  const uint32_t before = x._version();
  x.narrow(0, 1, 1).add_(1);
  EXPECT_EQ(x._version(), before + 1);
  x += 2;
  x *= x;
  EXPECT_EQ(x._version(), before + 3);
}

TEST(InPlace, OfRepeatedMemoryIsRefused) {
  Tensor x = ones({1}).expand({3});
  const std::string words =
      "_: more than one element of the written-to tensor refers to a single memory location, as "
      "expand() makes them: shape [3], strides [0]";
  expect_error<ValueError>([&] { x.add_(1); }, "add" + words);
  expect_error<ValueError>([&] { x.fill_(1); }, "fill" + words);
  expect_error<ValueError>([&] { x.t().copy_(ones({3})); }, "copy" + words);
  expect_values(x, {1, 1, 1}, 0);
}

TEST(PointwiseErrors, NameTheOperationAndBothShapes) {
  expect_error<ValueError>(
      [] {
        ones({2, 3}) * ones({4});
      },
      "mul: The size of tensor a (3) must match the size of tensor b (4) at "
      "non-singleton dimension 1: shapes [2, 3] and [4]");
  expect_error<TypeError>([] { tensor({true}) - tensor({true}); },
                          "sub: Subtraction, the `-` operator, with two bool tensors");
  expect_error<TypeError>([] { neg(tensor({true})); },
                          "neg: Negation, the `-` operator, on a bool tensor is not supported");
  expect_error<TypeError>(
      [] {
        tensor({1, 2}) - Scalar(true);
      },
      "sub: Subtraction, the `-` operator, with a bool tensor");
  expect_error<TypeError>([] { pow(tensor({true}), true); }, "pow: dtype bool is not supported");
  expect_error<TypeError>([] { positive(tensor({true})); }, "positive: dtype bool");
  expect_error<TypeError>([] { bitwise_and(ones({2}), 1); },
                          "bitwise_and: dtype float32 is not supported, for it takes integers");
  expect_error<TypeError>([] { gcd(tensor({true}), tensor({true})); },
                          "gcd: dtype bool is not supported; convert with .to(kLong)");
  expect_error<TypeError>([] { logaddexp2(arange(2), 1); }, "logaddexp2: dtype int64");
  expect_error<TypeError>([] { nextafter(ones({2}, kHalf), 2); },
                          "nextafter: dtype float16 is not supported");
  expect_error<ValueError>([] { div(ones({2}), 2, "round"); },
                           "div: rounding_mode is \"round\", expected \"trunc\"");
  expect_error<ValueError>([] { gelu(ones({2}), "erf"); }, "gelu: approximate is \"erf\"");
  expect_error<ValueError>([] { polygamma(-1, ones({2})); }, "polygamma: n is -1");
}

TEST(IntegersDividedByZero, AreRefusedAndNothingChanges) {
  using Operation = Tensor& (Tensor::*)(const Tensor&) const;
  using WithNumber = Tensor& (Tensor::*)(const Scalar&) const;
  const std::vector<std::pair<Operation, WithNumber>> operations = {
      {&Tensor::floor_divide_, &Tensor::floor_divide_},
      {&Tensor::div_trunc_, &Tensor::div_trunc_},
      {&Tensor::remainder_, &Tensor::remainder_},
      {&Tensor::fmod_, &Tensor::fmod_}};
  for (const auto& [f, g] : operations) {
    for (ScalarType dtype : {kLong, kInt, kByte}) {
      Tensor x = tensor({5, 6, 7}).to(dtype);
      expect_error<ValueError>(
          [&] {
            (x.*f)(tensor({1, 0, 2}).to(dtype));
          },
          "division of integers by zero (ZeroDivisionError): other has an");
      expect_error<ValueError>([&] { (x.*g)(0); }, "zero (ZeroDivisionError): other is 0");
      expect_values(x, {5, 6, 7}, 0);
      EXPECT_EQ(x._version(), 0u);
    }
    // 256 is 0 as a uint8; nothing is divided where there is nothing.
    Tensor bytes = ones({2}, kByte);
    expect_error<ValueError>([&] { (bytes.*g)(256); }, "division of integers by zero");
    Tensor none = zeros({0}, kLong);
    (none.*g)(0);
    Tensor real = ones({2});
    (real.*g)(0);
  }
}

TEST(Integers, TheLeastOneDividedByMinusOneWrapsAround) {
  const int64_t least = std::numeric_limits<int64_t>::min();
  const Tensor x = tensor({least, least + 1}, kLong);
  const auto at = [](const Tensor& y, int64_t i) { return y[i].item<int64_t>(); };
  for (const Tensor& y : {floor_divide(x, -1), div_trunc(x, tensor({-1, -1}))}) {
    EXPECT_EQ(at(y, 0), least);
    EXPECT_EQ(at(y, 1), -(least + 1));
  }
  for (const Tensor& y : {remainder(x, -1), fmod(x, -1)}) expect_values(y, {0, 0}, 0);
  EXPECT_EQ(at(gcd(x, 0), 0), least);  // 2^63 wraps around
  EXPECT_EQ(at(gcd(x, 6), 0), 2);
  EXPECT_EQ(at(lcm(x, -1), 1), -(least + 1));
}

TEST(Integers, ShiftsByAllBitsOrMoreMoveEveryBitOut) {
  const Tensor x = tensor({5, -5}), by = tensor({{64}, {63}, {1000}, {-1}});
  expect_values(bitwise_right_shift(x, by), {0, -1, 0, -1, 0, -1, 0, -1}, 0);
  const Tensor left = bitwise_left_shift(x, by);
  expect_values(left.select(0, 0), {0, 0}, 0);
  EXPECT_EQ(left[1][0].item<int64_t>(), std::numeric_limits<int64_t>::min());
  expect_values(left.narrow(0, 2, 2), {0, 0, 0, 0}, 0);
  expect_values(bitwise_left_shift(tensor({1}).to(kByte), 8), {0}, 0);
}

TEST(Division, RoundsAsItIsTold) {
  const Tensor x = tensor({7, -7}), y = tensor({7.0, -7.0}, kDouble);
  expect_values(div(x, 2, "floor"), {3, -4}, 0);
  expect_values(x.div(tensor({2}), "trunc"), {3, -3}, 0);
  expect_values(div(x, 2, std::nullopt), {3.5, -3.5}, 0);
  EXPECT_EQ(div(x, 2, "floor").dtype(), kLong);
  Tensor z = y.clone();
  z.div_(2, "floor");
  expect_values(z, {3, -4}, 0);
  // 1 / 0.1 rounds up to 10, and 0.1 goes into 1 only 9 times.
  expect_values(floor_divide(full({}, 1, kDouble), 0.1), {9}, 0);
}

TEST(Bitwise, OperatorsAndNot) {
  const Tensor x = tensor({12, 10}), flags = tensor({true, false});
  expect_values(x & 10, {8, 10}, 0);
  expect_values(x | 3, {15, 11}, 0);
  expect_values(3 ^ x, {15, 9}, 0);
  expect_values(x % -5, {-3, 0}, 0);
  expect_values(~x, {-13, -11}, 0);
  expect_values(~x.to(kByte), {243, 245}, 0);
  expect_values(~flags, {0, 1}, 0);
  EXPECT_EQ((~flags).dtype(), kBool);
  EXPECT_EQ((flags | flags).dtype(), kBool);
  Tensor y = x.clone();
  y &= tensor({4, 2});
  y ^= tensor({1, 1});
  y |= tensor({8, 8});
  expect_values(y, {13, 11}, 0);
  y.logical_not_();
  expect_values(y, {0, 0}, 0);
  y.bitwise_not_();
  expect_values(y, {-1, -1}, 0);
}

TEST(Integers, RowsHaveTheirKnownPoint){
#define INTEGER(name, doc, ints, f, x, y, z, ...)                   \
  {                                                                 \
    SCOPED_TRACE(#name);                                            \
    const Tensor a = full({3}, x, kLong), b = full({3}, y, kLong);  \
    expect_values(gradus::name(a, b), {z, z, z}, 0);                \
    expect_values(gradus::name(a, y), {z, z, z}, 0);                \
    expect_values(gradus::name(x, b), {z, z, z}, 0);                \
    expect_values(a.to(kShort).name##_(b.to(kChar)), {z, z, z}, 0); \
  }
#include "gradus/tensor/table/elementwise.def"
}

TEST(Predicates, OfTypesThatAreRounded) {
  const Tensor x = tensor({1e6, -1e6, 0.0, -0.0}, kDouble).to(kHalf);
  expect_values(isinf(x), {1, 1, 0, 0}, 0);
  expect_values(x.isneginf(), {0, 1, 0, 0}, 0);
  expect_values(x.isposinf(), {1, 0, 0, 0}, 0);
  expect_values(isfinite(x), {0, 0, 1, 1}, 0);
  expect_values(signbit(x), {0, 1, 0, 1}, 0);
  expect_values(isnan(x - x), {1, 1, 0, 0}, 0);
  Tensor out = empty({0}, kBool);
  isnan_out(out, x.narrow(0, 1, 2));
  EXPECT_EQ(out.sizes(), IntArrayRef({2}));
}

// A bound beyond all integers of a type is none; what would make them one that there is not is not
// taken.
TEST(Clamp, TakesBoundsBeyondTheIntegersOfAType) {
  const Tensor bytes = tensor({0, 1, 250}).to(kByte), chars = tensor({-128, 1, 127}).to(kChar);
  for (const Tensor& x :
       {bytes.clamp(-5, 300), bytes.clamp_min(-1), bytes.clamp_max(1 << 20),
        bytes.clone().clamp_(-5, 300), bytes.clone().clamp_min_(-1), hardtanh(bytes, -1, 300)}) {
    EXPECT_EQ(x.dtype(), kByte);
    expect_values(x, {0, 1, 250}, 0);
  }
  expect_values(chars.clamp(-1000, 5), {-128, 1, 5}, 0);
  expect_error<ValueError>([&] { bytes.clamp_min(300); },
                           "clamp: value cannot be converted to type uint8_t");
  expect_error<ValueError>([&] { bytes.clamp_max_(-1); },
                           "clamp_max: value cannot be converted to type uint8_t");
  expect_error<ValueError>([&] { chars.clamp_(-1000, -500); },
                           "clamp: value cannot be converted to type int8_t");
  expect_values(bytes, {0, 1, 250}, 0);
}

TEST(Clamp, PromotesThreeTensorsAtOnce) {
  const Tensor most = tensor({0, 400}).to(kShort), least = tensor({-3, 5}).to(kChar);
  const Tensor x = clamp(tensor(300).to(kShort), least, most);
  EXPECT_EQ(x.dtype(), kShort);
  expect_values(x, {0, 300}, 0);
  const Tensor y = clamp(tensor(1e5, kDouble), least.to(kHalf), tensor({1e300, 2.0}, kDouble));
  EXPECT_EQ(y.dtype(), kDouble);
  expect_values(y, {1e5, 2}, 0);
  const Tensor truths = tensor({true, false});
  expect_error<TypeError>([&] { clamp(truths, truths, truths); }, "clamp: dtype bool");
}

TEST(Softshrink, LeavesNaN) {
  for (const ScalarType dtype : {kHalf, kFloat, kDouble})
    expect_values(softshrink(tensor({double{NAN}, -3.0, 0.25, HUGE_VAL}, kDouble).to(dtype)),
                  {NAN, -2.5, 0, INFINITY}, 0);
}

TEST(Devices, MixedOperandsAreNamed) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  expect_error<Error>([] { ones({2}) + ones({2}, kCUDA); }, "add: self is on cpu, other on cuda:0");
}

TEST(Pointwise, ResultsLieInMemoryAsTheirOperands) {
  const Tensor x = rand({4, 3, 2}), y = x.permute({2, 0, 1});
  EXPECT_EQ((y + y).strides(), y.strides());
  EXPECT_EQ(y.exp().strides(), y.strides());
  EXPECT_EQ((2 * y).strides(), y.strides());
  EXPECT_EQ((y + rand({1})).strides(), y.strides());
  EXPECT_EQ(y.to(kDouble).strides(), y.strides());
  EXPECT_EQ((y < y).strides(), y.strides());
  // Gaps are closed, and what repeats is laid out anew.
  EXPECT_EQ(rand({4, 6}).t().narrow(0, 0, 3).exp().strides(), IntArrayRef({1, 3}));
  EXPECT_EQ(rand({4, 1}).expand({4, 5}).exp().strides(), IntArrayRef({5, 1}));
  EXPECT_EQ((x + x).strides(), x.strides());
}

}  // namespace
}  // namespace gradus
