// Results that are written into a given tensor, or in place, in one pass; and whole tensors
// compared.
#include <cmath>

#include "tests/support.h"

namespace gradus {
namespace {

TEST(Equal, SeesOneDifferenceWhereverItIs) {
  for (const int64_t n : {1, 1000, 32768, 32769, 500'000}) {
    const Tensor x = rand({n}), y = x.clone(), wide = stack({x, x}, 1).select(1, 0);
    EXPECT_TRUE(x.equal(y));
    EXPECT_TRUE(x.equal(wide));
    for (const int64_t at : {int64_t{0}, n / 2, n - 1}) {
      y[at] = 2;
      EXPECT_FALSE(x.equal(y)) << at << " of " << n;
      EXPECT_FALSE(y.equal(wide));
      y[at] = x[at];
    }
    y[n - 1] = NAN;
    EXPECT_FALSE(y.equal(y));
  }
  EXPECT_TRUE(zeros({0, 2}).equal(ones({0, 2})));
  EXPECT_FALSE(zeros({0, 2}).equal(zeros({2, 0})));
  EXPECT_TRUE(zeros({3}).equal(-zeros({3})));
}

// --- Into a given tensor
void expect_equal(const Tensor& got, const Tensor& want) {
  EXPECT_EQ(got.dtype(), want.dtype());
  EXPECT_TRUE(got.equal(want)) << got << "\nis not\n" << want;
}
TEST(Out, IsWrittenAtOnce) {
  const Tensor x = rand({3, 4}), y = rand({3, 1});
  Tensor out = zeros({3, 4});
  void* const place = out.data_ptr();
  const auto version = out._version();
  EXPECT_TRUE(add_out(out, x, y).is_same(out));
  EXPECT_EQ(out.data_ptr(), place);
  EXPECT_EQ(out._version(), version + 1);
  expect_equal(out, x + y);
  expect_equal(pow_out(out, x, 2), x * x);
  expect_equal(sub_out(out, 1, x), 1 - x);
  expect_equal(exp_out(out, x), x.exp());
  expect_equal(mul_out(out, out, x), x.exp() * x);
}
TEST(Out, TakesTheShapeDtypeAndLayoutItHas) {
  const Tensor x = rand({3, 4}), whole = arange(3);
  Tensor by_columns = zeros({4, 3}).t(), narrow = zeros({3, 8}).slice(1, 0, 8, 2);
  expect_equal(mul_out(by_columns, x, x), x * x);
  EXPECT_EQ(by_columns.strides(), IntArrayRef({1, 3}));
  expect_equal(mul_out(narrow, x, x), x * x);
  Tensor wide = zeros({3, 4}, kDouble), flags = zeros({3, 4}, kBool), numbers = zeros({3, 4});
  expect_equal(add_out(wide, x, x), (x + x).to(kDouble));
  expect_equal(lt_out(flags, x, 0.5), x < 0.5);
  expect_equal(lt_out(numbers, x, 0.5), (x < 0.5).to(kFloat));
  Tensor roots = zeros({3});
  expect_equal(sqrt_out(roots, whole), whole.sqrt());
  expect_error<TypeError>([&] { add_out(flags, x, x); }, "add_out: ");
}
TEST(Out, MayShareMemoryWithAnOperand) {
  for (const int64_t shift : {0, 1, 2}) {
    const Tensor x = rand({9000}), y = rand({8998}), old = x.clone();
    Tensor out = x.narrow(0, shift, 8998);
    add_out(out, x.narrow(0, 0, 8998), y);
    expect_equal(out, old.narrow(0, 0, 8998) + y);
    out = x.narrow(0, 0, 8998);
    const Tensor before = x.clone();
    neg_out(out, x.narrow(0, shift, 8998));
    expect_equal(out, -before.narrow(0, shift, 8998));
  }
}
TEST(Out, IsRefusedWhereAGradientIsAskedFor) {
  const Tensor x = rand({2}).requires_grad_(), y = rand({2});
  Tensor out = zeros({2}), leaf = zeros({2}).requires_grad_(), flags = zeros({2}, kBool);
  expect_error<Error>([&] { mul_out(out, y, x); }, "mul_out: functions with out=");
  expect_error<Error>([&] { exp_out(out, x); }, "exp_out: functions with out=");
  expect_error<Error>([&] { exp_out(leaf, y); }, "exp_out: functions with out=");
  EXPECT_EQ(out._version(), 0);
  expect_equal(out, zeros({2}));
  expect_equal(gt_out(flags, x, -1), ones({2}, kBool));
  const NoGradGuard guard;
  expect_equal(mul_out(out, y, x), y * x);
}
TEST(Out, LeavesAnUndefinedOneAsItWas) {
  Tensor out;
  EXPECT_THROW(add_out(out, ones({2}), ones({2})), Error);
  EXPECT_FALSE(out.defined());
}

// In one pass where the dtypes are alike, and by a copy where they are not.
TEST(Blend, InPlaceGivesWhatTheFunctionDoes) {
  for (const ScalarType other : {kFloat, kDouble, kHalf}) {
    const Tensor x = rand({3, 4}), a = rand({3, 4}).to(other), b = rand({4}).to(other) + 1;
    Tensor sum = x.clone(), ratio = x.clone();
    expect_equal(sum.addcmul_(a, b, 0.3), x.addcmul(a, b, 0.3).to(kFloat));
    expect_equal(ratio.addcdiv_(a, b, 0.3), x.addcdiv(a, b, 0.3).to(kFloat));
    const Tensor start = x.to(other), end = rand({4}).to(other), weight = rand({3, 1}).to(other);
    Tensor blend = start.clone(), by_tensor = start.clone();
    expect_equal(blend.lerp_(end, 0.3), start.lerp(end, 0.3));
    expect_equal(by_tensor.lerp_(end, weight), start.lerp(end, weight));
  }
  Tensor row = rand({1, 4});
  const Tensor before = row.clone();
  expect_error<ValueError>([&] { row.lerp_(rand({3, 4}), 0.5); }, "lerp_: ");
  expect_error<ValueError>([&] { row.addcmul_(rand({3, 4}), rand({3, 4})); }, "addcmul_: ");
  expect_error<ValueError>([&] { row.addcmul_(rand({3, 4}, kDouble), row); }, "addcmul_: ");
  Tensor whole = arange(3);
  expect_error<TypeError>([&] { whole.addcmul_(whole, whole, 0.5); }, "addcmul: value");
  const Tensor bytes = ones({2}, kByte);
  expect_error<ValueError>(
      [&] { addcmul(bytes, bytes, bytes, 300); },
      "addcmul: value cannot be converted to type uint8_t without overflow: 300 is");
  expect_equal(row, before);
}

}  // namespace
}  // namespace gradus
