// Function<T>, gradcheck and gradgradcheck themselves.
#include "gradus/autograd/tools/gradcheck.h"
#include "tests/support.h"

namespace gradus {
namespace {

using autograd::AutogradContext;

TEST(SavedValue, IsReadAsWhatItWasStoredAs) {
  using autograd::SavedValue;
  EXPECT_EQ(SavedValue(3).toInt(), 3);
  EXPECT_EQ(SavedValue(2.5f).toDouble(), 2.5);
  EXPECT_TRUE(SavedValue(true).toBool());
  EXPECT_EQ(SavedValue("text").toStringRef(), "text");
  EXPECT_EQ(SavedValue(IntArrayRef({1, 2})).toIntVector(), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(SavedValue(std::vector<double>{0.5}).toDoubleVector()[0], 0.5);
  EXPECT_EQ(SavedValue(Tensors{ones({2})}).toTensorVector().size(), 1u);
  EXPECT_TRUE(SavedValue().isNone() && SavedValue(std::optional<double>()).isNone());
  EXPECT_TRUE(SavedValue(std::optional<double>(1)).isDouble() && SavedValue(ones({1})).isTensor());
  EXPECT_TRUE(SavedValue(Scalar(2)).toScalar().isIntegral(false));
  expect_error<TypeError>([] { SavedValue(3).toDouble(); }, "toDouble() of a value");
}

struct Cube : autograd::Function<Cube> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, double scale) {
    ctx->save_for_backward({x});
    ctx->saved_data["scale"] = scale;
    return x * x * x * scale;
  }
  static Tensors backward(AutogradContext* ctx, Tensors grads) {
    const Tensor x = ctx->get_saved_variables()[0];
    return {grads[0] * 3 * x * x * ctx->saved_data["scale"].toDouble(), Tensor()};
  }
};

// Has two outputs and saves one of them. The second may get no gradient.
struct ExpAndSign : autograd::Function<ExpAndSign> {
  static Tensors forward(AutogradContext* ctx, const Tensor& x) {
    const Tensor y = x.exp(), sign = (x > 0).to(x.dtype());
    ctx->save_for_backward({y});
    ctx->mark_non_differentiable({sign});
    return {y, sign};
  }
  static Tensors backward(AutogradContext* ctx, Tensors grads) {
    EXPECT_TRUE(grads[1].defined());  // zeros, as grads are materialised
    return {grads[0] * ctx->get_saved_variables()[0]};
  }
};

struct WrongCount : autograd::Function<WrongCount> {
  static Tensor forward(AutogradContext*, const Tensor& x) { return x * 2; }
  static Tensors backward(AutogradContext*, Tensors grads) { return {grads[0], grads[0]}; }
};

struct WrongDerivative : autograd::Function<WrongDerivative> {
  static Tensor forward(AutogradContext*, const Tensor& x) { return x * 2; }
  static Tensors backward(AutogradContext*, Tensors grads) { return {grads[0] * 2.1}; }
};

Tensor input() { return randn({3, 2}, dtype(kDouble).requires_grad(true)); }

TEST(CustomFunction, HasTheDerivativeThatItSays) {
  const Tensor x = tensor({2.0}, requires_grad());
  Cube::apply(x, 0.5).sum().backward();
  expect_values(x.grad(), {6});
}

TEST(CustomFunction, IsDifferentiableTwice) {
  const auto f = [](const Tensors& in) { return Tensors{Cube::apply(in[0], 0.5)}; };
  EXPECT_TRUE(autograd::gradcheck(f, {input()}));
  EXPECT_TRUE(autograd::gradgradcheck(f, {input()}));
}

TEST(CustomFunction, SavesOutputsWithoutALeakAndDifferentiatesThemTwice) {
  const auto f = [](const Tensors& in) { return Tensors{ExpAndSign::apply(in[0])[0]}; };
  EXPECT_TRUE(autograd::gradcheck(f, {input()}));
  EXPECT_TRUE(autograd::gradgradcheck(f, {input()}));
  const Tensors out = ExpAndSign::apply(input());
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
  expect_error<Error>([&] { y.backward(); }, "incorrect number of gradients (expected 1, got 2)");
}

struct DoubleInPlace : autograd::Function<DoubleInPlace> {
  static Tensor forward(AutogradContext* ctx, Tensor x) {
    x.mul_(2);
    ctx->mark_dirty({x});
    return x;
  }
  static Tensors backward(AutogradContext*, Tensors grads) {
    return {grads[0] * 2, Tensor(), Tensor()};  // undefined ones may be too many
  }
};

TEST(CustomFunction, MayChangeItsInputInPlace) {
  const Tensor leaf = tensor({1.0, 2.0}, requires_grad());
  const Tensor x = leaf * 3;
  const Tensor y = DoubleInPlace::apply(x);
  EXPECT_TRUE(y.is_same(x));
  EXPECT_EQ(x._version(), 2u);  // by mul_, and by the Function
  x.sum().backward();
  expect_values(leaf.grad(), {6, 6});
  // Through a view of it.
  const Tensor base = leaf * 3;
  DoubleInPlace::apply(base.narrow(0, 1, 1));
  EXPECT_EQ(base.grad_fn()->name(), "torch::autograd::CopySlices");
  autograd::clear_grad(leaf, true);
  base.sum().backward();
  expect_values(leaf.grad(), {3, 6});
  expect_error<Error>([&] { DoubleInPlace::apply(leaf); }, "a leaf Variable that requires grad");
}

struct HandThrough : autograd::Function<HandThrough> {
  static Tensors forward(AutogradContext*, const Tensor& x) { return {x, x.narrow(0, 0, 1)}; }
  static Tensors backward(AutogradContext*, Tensors grads) {
    return {grads[0] * 10 + grads[1].sum()};
  }
};

TEST(CustomFunction, MayReturnItsInputAndViewsOfIt) {
  const Tensor leaf = tensor({1.0, 2.0}, requires_grad());
  Tensors out = HandThrough::apply(leaf);
  EXPECT_TRUE(leaf.is_leaf());
  EXPECT_EQ(out[0].data_ptr(), leaf.data_ptr());
  expect_error<Error>([&] { out[1].mul_(2); }, "created inside a custom Function");
  (out[0].sum() + out[1].sum()).backward();
  expect_values(leaf.grad(), {11, 11});
}

struct MaybeScaled : autograd::Function<MaybeScaled> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, std::optional<Tensor> scale) {
    ctx->save_for_backward({x, scale.value_or(Tensor())});
    return scale ? x * *scale : x.clone();
  }
  static Tensors backward(AutogradContext* ctx, Tensors grads) {
    const Tensors saved = ctx->get_saved_variables();
    if (!saved[1].defined()) return {grads[0], Tensor()};
    EXPECT_TRUE(ctx->needs_input_grad(0));
    EXPECT_TRUE(ctx->needs_input_grad({{1, 2}}));
    return {grads[0] * saved[1], grads[0] * saved[0]};
  }
};

TEST(CustomFunction, TakesOptionalTensors) {
  const Tensor x = tensor({2.0}, requires_grad()), scale = tensor({5.0}, requires_grad());
  MaybeScaled::apply(x, std::optional<Tensor>(scale)).sum().backward();
  expect_values(x.grad(), {5});
  expect_values(scale.grad(), {2});
  MaybeScaled::apply(x, std::optional<Tensor>()).sum().backward();
  expect_values(x.grad(), {6});
}

TEST(CustomFunction, IsNamedInTheGraph) {
  const std::string name = Cube::apply(input(), 1.0).grad_fn()->name();
  EXPECT_TRUE(name.starts_with("torch::autograd::CppNode<")) << name;
  EXPECT_NE(name.find("Cube>"), std::string::npos) << name;
}

struct GradientForANumber : autograd::Function<GradientForANumber> {
  static Tensor forward(AutogradContext*, const Tensor& x, double) { return x * 2; }
  static Tensors backward(AutogradContext*, Tensors grads) { return {grads[0], grads[0]}; }
};

TEST(CustomFunction, ReportsAGradientForWhatIsNoTensor) {
  const Tensor y = GradientForANumber::apply(input(), 1.0).sum();
  std::string message;
  try {
    y.backward();
  } catch (const Error& error) {
    message = error.what();
  }
  EXPECT_TRUE(message.starts_with("CppNode<gradus::")) << message;  // and not torch::autograd::
  EXPECT_NE(message.find("argument 1, which is no Tensor"), std::string::npos) << message;
}

TEST(Gradcheck, FindsAWrongDerivative) {
  const auto f = [](const Tensors& in) { return Tensors{WrongDerivative::apply(in[0])}; };
  expect_error<Error>([&] { autograd::gradcheck(f, {input()}); }, "is 2.1 by backward and 2 by");
}

TEST(Gradcheck, FindsAWrongElementAmongMany) {
  const auto f = [](const Tensors& in) {
    // The detached factor hides one path from autograd, at the last element only.
    const Tensor mask = tensor({0.0, 0.0, 1.0}, kDouble);
    return Tensors{in[0] * in[0] * (1 - mask) + in[0] * in[0].detach() * mask};
  };
  const Tensor x = tensor({1.0, 2.0, 3.0}, dtype(kDouble).requires_grad(true));
  expect_error<Error>([&] { autograd::gradcheck(f, {x}); }, "output 0 [2] / d input 0 [2]");
}

TEST(Gradcheck, FindsAWrongSecondDerivative) {
  const auto f = [](const Tensors& in) { return Tensors{in[0] * in[0].detach() * 2}; };
  const auto square = [](const Tensors& in) { return Tensors{in[0] * in[0]}; };
  EXPECT_TRUE(autograd::gradgradcheck(square, {input()}));
  EXPECT_THROW(autograd::gradgradcheck(f, {input()}), Error);
}

TEST(Gradcheck, NeedsFloat64) {
  const auto f = [](const Tensors& in) { return Tensors{in[0] * 2}; };
  expect_error<ValueError>([&] { autograd::gradcheck(f, {ones({2}, requires_grad())}); },
                           "float64");
  expect_error<ValueError>([&] { autograd::gradcheck(f, {ones({2}, kDouble)}); }, "requires grad");
}

}  // namespace
}  // namespace gradus
