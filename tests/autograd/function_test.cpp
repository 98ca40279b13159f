// Function<T>, gradcheck and gradgradcheck themselves.
#include "gradus/autograd/gradcheck.h"
#include "tests/support.h"

namespace gradus {
namespace {

using autograd::AutogradContext;

struct Cube : autograd::Function<Cube> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, double scale) {
    ctx->save_for_backward({x});
    ctx->saved_data["scale"] = scale;
    return x * x * x * scale;
  }
  static TensorList backward(AutogradContext* ctx, TensorList grads) {
    const Tensor x = ctx->get_saved_variables()[0];
    return {grads[0] * 3 * x * x * ctx->saved_data["scale"].toDouble(), Tensor()};
  }
};

// Saves its output, and has two of them, of which the second may get no gradient.
struct ExpAndSign : autograd::Function<ExpAndSign> {
  static TensorList forward(AutogradContext* ctx, const Tensor& x) {
    const Tensor y = x.exp(), sign = (x > 0).to(x.dtype());
    ctx->save_for_backward({y});
    ctx->mark_non_differentiable({sign});
    return {y, sign};
  }
  static TensorList backward(AutogradContext* ctx, TensorList grads) {
    EXPECT_TRUE(grads[1].defined());  // zeros, as grads are materialised
    return {grads[0] * ctx->get_saved_variables()[0]};
  }
};

struct WrongCount : autograd::Function<WrongCount> {
  static Tensor forward(AutogradContext*, const Tensor& x) { return x * 2; }
  static TensorList backward(AutogradContext*, TensorList grads) { return {grads[0], grads[0]}; }
};

struct WrongDerivative : autograd::Function<WrongDerivative> {
  static Tensor forward(AutogradContext*, const Tensor& x) { return x * 2; }
  static TensorList backward(AutogradContext*, TensorList grads) { return {grads[0] * 2.1}; }
};

Tensor input() { return randn({3, 2}, dtype(kDouble).requires_grad(true)); }

TEST(CustomFunction, HasTheDerivativeThatItSays) {
  const Tensor x = tensor({2.0}, requires_grad());
  Cube::apply(x, 0.5).sum().backward();
  expect_values(x.grad(), {6});
}

TEST(CustomFunction, IsDifferentiableTwice) {
  const auto f = [](const TensorList& in) { return TensorList{Cube::apply(in[0], 0.5)}; };
  EXPECT_TRUE(autograd::gradcheck(f, {input()}));
  EXPECT_TRUE(autograd::gradgradcheck(f, {input()}));
}

TEST(CustomFunction, SavesOutputsWithoutALeakAndDifferentiatesThemTwice) {
  const auto f = [](const TensorList& in) { return TensorList{ExpAndSign::apply(in[0])[0]}; };
  EXPECT_TRUE(autograd::gradcheck(f, {input()}));
  EXPECT_TRUE(autograd::gradgradcheck(f, {input()}));
  const TensorList out = ExpAndSign::apply(input());
  EXPECT_TRUE(out[0].requires_grad());
  EXPECT_FALSE(out[1].requires_grad());
}

TEST(CustomFunction, RecordsNothingWithoutGrad) {
  EXPECT_FALSE(Cube::apply(ones({2}), 1.0).requires_grad());
  const NoGradGuard guard;
  EXPECT_FALSE(Cube::apply(input(), 1.0).requires_grad());
}

TEST(CustomFunction, ReportsAWrongNumberOfGradients) {
  const Tensor y = WrongCount::apply(input()).sum();
  expect_error<Error>([&] { y.backward(); }, "returned 2 gradients");
}

TEST(Gradcheck, FindsAWrongDerivative) {
  const auto f = [](const TensorList& in) { return TensorList{WrongDerivative::apply(in[0])}; };
  expect_error<Error>([&] { autograd::gradcheck(f, {input()}); }, "is 2.1 by backward and 2 by");
}

TEST(Gradcheck, FindsAWrongElementAmongMany) {
  const auto f = [](const TensorList& in) {
    // The detached factor hides one path from autograd at the last element alone.
    const Tensor mask = tensor({0.0, 0.0, 1.0}, kDouble);
    return TensorList{in[0] * in[0] * (1 - mask) + in[0] * in[0].detach() * mask};
  };
  const Tensor x = tensor({1.0, 2.0, 3.0}, dtype(kDouble).requires_grad(true));
  expect_error<Error>([&] { autograd::gradcheck(f, {x}); }, "output 0 [2] / d input 0 [2]");
}

TEST(Gradcheck, FindsAWrongSecondDerivative) {
  const auto f = [](const TensorList& in) { return TensorList{in[0] * in[0].detach() * 2}; };
  const auto square = [](const TensorList& in) { return TensorList{in[0] * in[0]}; };
  EXPECT_TRUE(autograd::gradgradcheck(square, {input()}));
  EXPECT_THROW(autograd::gradgradcheck(f, {input()}), Error);
}

TEST(Gradcheck, NeedsFloat64) {
  const auto f = [](const TensorList& in) { return TensorList{in[0] * 2}; };
  expect_error<ValueError>([&] { autograd::gradcheck(f, {ones({2}, requires_grad())}); },
                           "float64");
  expect_error<ValueError>([&] { autograd::gradcheck(f, {ones({2}, kDouble)}); }, "requires grad");
}

}  // namespace
}  // namespace gradus
