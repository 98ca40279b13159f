// Jacobians, Hessians, and their products with vectors.
#include "gradus/autograd/tools/functional.h"
#include "gradus/autograd/tools/gradcheck.h"
#include "tests/support.h"

namespace gradus {
namespace {

using namespace autograd::functional;

// y0 = a b (elementwise), y1 = sum(a^2).
Tensors two(const Tensors& in) { return {in[0] * in[1], in[0].pow(2).sum()}; }
// sum(a^2 b).
Tensors cubic(const Tensors& in) { return {(in[0].pow(2) * in[1]).sum()}; }

const Tensors& points() {
  static const Tensors at{tensor({1.0, 2.0}, kDouble), tensor({3.0, 5.0}, kDouble)};
  return at;
}
const Tensors& directions() {
  static const Tensors v{tensor({1.0, 10.0}, kDouble), tensor({100.0, 1000.0}, kDouble)};
  return v;
}

TEST(Functional, Jacobian) {
  const auto j = jacobian(two, points());
  expect_values(j[0][0], {3, 0, 0, 5});
  expect_values(j[0][1], {1, 0, 0, 2});
  expect_values(j[1][0], {2, 4});
  expect_values(j[1][1], {0, 0});
  EXPECT_EQ(j[1][0].sizes(), IntArrayRef({2}));
  EXPECT_FALSE(j[0][0].requires_grad());
  const Tensor m = jacobian([](const Tensor& x) { return x.t(); }, rand({2, 3}));
  EXPECT_EQ(m.sizes(), IntArrayRef({3, 2, 2, 3}));
}

TEST(Functional, JacobianCanBeDifferentiated) {
  const auto f = [](const Tensors& in) {
    return Tensors{jacobian([](const Tensor& x) { return x.pow(3); }, in[0], true)};
  };
  EXPECT_TRUE(autograd::gradcheck(f, {rand({2}, dtype(kDouble)).requires_grad_()}));
}

TEST(Functional, Hessian) {
  const auto h = hessian(cubic, points());
  expect_values(h[0][0], {6, 0, 0, 10});
  expect_values(h[0][1], {2, 0, 0, 4});
  expect_values(h[1][0], {2, 0, 0, 4});
  expect_values(h[1][1], {0, 0, 0, 0});
  const Tensor x = tensor({2.0, 3.0});
  expect_values(hessian([](const Tensor& t) { return t.pow(3).sum(); }, x), {12, 0, 0, 18});
  expect_error<ValueError>([&] { hessian([](const Tensor& t) { return t * 2; }, x); },
                           "hessian: the function must return one tensor of one element, and it "
                           "returned one of shape [2]; reduce it");
  expect_error<ValueError>(
      [&] {
        hessian([](const Tensors& in) { return Tensors{in[0], in[0]}; }, {x});
      },
      "returned 2 tensors");
}

TEST(Functional, VectorJacobianProducts) {
  const auto [outputs, product] =
      vjp(two, points(), {tensor({1.0, 10.0}, kDouble), tensor(100.0, kDouble)});
  expect_values(outputs[0], {3, 10});
  expect_values(outputs[1], {5});
  expect_values(product[0], {3 + 200, 50 + 400});
  expect_values(product[1], {1, 20});
  expect_values(vjp(cubic, points()).product[0], {6, 20});
}

TEST(Functional, JacobianVectorProducts) {
  const auto [outputs, product] = jvp(two, points(), directions());
  expect_values(outputs[0], {3, 10});
  expect_values(product[0], {3 * 1 + 1 * 100, 5 * 10 + 2 * 1000});
  expect_values(product[1], {2 * 1 + 4 * 10});
}

TEST(Functional, ProductsWithTheHessianAgree) {
  // H = [[diag(2b), diag(2a)], [diag(2a), 0]]
  for (const auto& [outputs, product] :
       {vhp(cubic, points(), directions()), hvp(cubic, points(), directions())}) {
    expect_values(outputs[0], {23});
    expect_values(product[0], {6 * 1 + 2 * 100, 10 * 10 + 4 * 1000});
    expect_values(product[1], {2 * 1, 4 * 10});
    EXPECT_FALSE(product[0].requires_grad());
  }
}

TEST(Functional, ProductsCanBeDifferentiated) {
  for (const bool second : {false, true})
    EXPECT_TRUE(autograd::gradcheck(
        [&](const Tensors& in) {
          return second ? hvp(cubic, in, directions(), true).product
                        : jvp(two, in, directions(), true).product;
        },
        {rand({2}, kDouble).requires_grad_(), rand({2}, kDouble).requires_grad_()}));
}

TEST(Functional, IndependenceIsZeroOrStrictlyAnError) {
  const auto first = [](const Tensors& in) { return Tensors{in[0].sum()}; };
  const auto constant = [](const Tensors&) { return Tensors{ones({})}; };
  expect_values(jacobian(first, points())[0][1], {0, 0});
  expect_values(jacobian(constant, points())[0][0], {0, 0});
  expect_values(hvp(first, points(), directions()).product[0], {0, 0});
  expect_error<Error>([&] { jacobian(first, points(), false, true); }, "independent of input 1");
  expect_error<Error>([&] { jacobian(constant, points(), false, true); },
                      "Output 0 of the function");
  expect_error<Error>([&] { vjp(constant, points(), {}, false, true); }, "strict mode");
}

TEST(Functional, VectorsAreChecked) {
  expect_error<ValueError>([] { vjp(two, points()); }, "v may be left out only where");
  expect_error<ValueError>([] { jvp(two, points(), {ones({2})}); }, "v has 1 tensors");
  expect_error<ValueError>(
      [] {
        jvp(two, points(), {ones({2}), ones({3})});
      },
      "v[1] has shape [3]");
}

TEST(Functional, CallsTheFunctionWithLeavesOfItsOwn) {
  const Tensor x = ones({2}, requires_grad());
  jacobian(
      [&](const Tensor& in) {
        EXPECT_FALSE(in.is_same(x));
        EXPECT_TRUE(in.is_leaf());
        return in * 2;
      },
      x);
  EXPECT_FALSE(x.grad().defined());
  const NoGradGuard guard;
  expect_values(jacobian([](const Tensor& in) { return in * 2; }, x), {2, 0, 0, 2});
}

}  // namespace
}  // namespace gradus
