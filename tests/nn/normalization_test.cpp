// Normalisations: half types, and statistics after an error.
#include "tests/support.h"

namespace gradus {
namespace {

namespace F = nn::functional;

TEST(RMSNorm, SquaresOfHalvesDoNotOverflow) {
  const Tensor x = tensor({300.0, -300.0, 1e-4, 0.0}).view({2, 2}).to(kHalf);
  const Tensor y = F::rms_norm(x, F::RMSNormFuncOptions({2}).eps(0));
  EXPECT_EQ(y.scalar_type(), kHalf);
  expect_values(y, {1, -1, std::sqrt(2), 0}, 1e-3);
}

TEST(InstanceNorm, KeepsItsStatisticsAfterAnError) {
  const Tensor x = rand({2, 3, 4}), mean = zeros({3}), var = ones({3});
  const auto options = [&] {
    return F::InstanceNormFuncOptions().running_mean(mean).running_var(var);
  };
  expect_error<ValueError>([&] { F::instance_norm(x, options().running_var({})); },
                           "one of running_mean and running_var is undefined");
  expect_error<ValueError>([&] { F::instance_norm(x, options().running_var(ones({4}))); },
                           "running statistics have shape [4], expected [3]");
  EXPECT_THROW(F::instance_norm(x, options().weight(ones({4}))), Error);
  expect_values(mean, {0, 0, 0}, 0);
  expect_values(var, {1, 1, 1}, 0);
  F::instance_norm(x, options());
  EXPECT_FALSE(mean.eq(0).any().item<bool>());
}

TEST(Normalizations, OfNothingGiveTheirParametersZeroGradients) {
  const Tensor x = zeros({0, 3}), weight = ones({3}), bias = zeros({3});
  weight.requires_grad_(), bias.requires_grad_();
  const Tensors results = {
      batch_norm(x, weight, bias, {}, {}, true, 0.1, 1e-5, true),
      batch_norm(x, weight, bias, bias.detach(), weight.detach(), false, 0.1, 1e-5, true),
      layer_norm(x, {3}, weight, bias), group_norm(x, 1, weight, bias)};
  for (const Tensor& y : results) {
    EXPECT_EQ(y.sizes(), IntArrayRef({0, 3}));
    weight.mutable_grad() = bias.mutable_grad() = Tensor();
    y.sum().backward();
    expect_values(weight.grad(), {0, 0, 0}, 0);
    expect_values(bias.grad(), {0, 0, 0}, 0);
  }
  layer_norm(x, {3}, {}, bias).sum().backward();
  EXPECT_FALSE(layer_norm(x, {3}).requires_grad());
}

// Sequential makes one operation of batch norm and what clamps after it, while training.
template <class Clamp>
void expect_both(Clamp clamp) {
  const Tensor x = randn({4, 3, 2, 2}, kDouble), grad = randn({4, 3, 2, 2}, kDouble);
  nn::BatchNorm2d norm(3), alone(3);
  nn::Sequential both(norm, clamp);
  both->to(kDouble), alone->to(kDouble);
  for (const nn::BatchNorm2d& each : {norm, alone}) nn::init::constant_(each->weight, 5);
  const auto first_and_second = [&](const auto& f) {
    const Tensor in = x.clone().set_requires_grad(true), out = f(in);
    const Tensor of_in = autograd::grad({out}, {in}, {grad}, true, true)[0];
    const Tensor second = autograd::grad({of_in.square().sum()}, {in})[0];
    const Tensor plain = autograd::grad({f(in)}, {in}, {grad})[0];
    return Tensors{out.detach(), of_in.detach(), second, plain};
  };
  EXPECT_EQ(both->forward(x).grad_fn()->name(), "NativeBatchNormClampBackward0");
  norm->reset_running_stats();
  const Tensors got = first_and_second([&](const Tensor& in) { return both->forward(in); });
  const Tensors expected =
      first_and_second([&](const Tensor& in) { return clamp->forward(alone->forward(in)); });
  for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(got[i].allclose(expected[i], 1e-9, 1e-11));
  EXPECT_TRUE(norm->running_var.equal(alone->running_var));
  EXPECT_EQ(norm->num_batches_tracked.template item<int64_t>(), 2);
  both->eval(), alone->eval();
  EXPECT_TRUE(both->forward(x).equal(clamp->forward(alone->forward(x))));
  EXPECT_EQ(norm->num_batches_tracked.template item<int64_t>(), 2);
}

TEST(BatchNormAndAClamp, GiveTheValuesAndGradientsOfBoth) {
  expect_both(nn::ReLU(nn::ReLUOptions(true)));
  expect_both(nn::ReLU6(nn::ReLU6Options(true)));
  expect_both(nn::Hardtanh());
  expect_both(nn::Hardtanh(nn::HardtanhOptions().min_val(-3.1).max_val(0.7).inplace(true)));
}

// Bounds of no clamp are left to the module, which says what is wrong, or does what it does.
TEST(BatchNormAndAClamp, LeaveOtherModulesAlone) {
  struct Half : nn::ReLU6Impl {
    Tensor forward(const Tensor& x) { return x / 2; }
  };
  nn::BatchNorm1d norm(3);
  const Tensor x = randn({4, 3});
  nn::Sequential derived(norm, std::make_shared<Half>());
  EXPECT_TRUE(derived->forward(x).equal(norm->forward(x) / 2));
  nn::Hardtanh swapped(nn::HardtanhOptions().min_val(1).max_val(-1));
  nn::Sequential net(norm, swapped);
  expect_error<ValueError>([&] { net->forward(x); }, "hardtanh: min_val is 1 and max_val -1");
}

// norm_add() and norm_add_relu() give the values and gradients of forward() + identity and of its
// relu, also of a second order, of other shapes and dtypes, and after eval().
void expect_sum(bool clamps) {
  const auto added = [&](nn::BatchNorm2d& norm, const Tensor& in, const Tensor& id) {
    return clamps ? nn::detail::norm_add_relu(*norm, in, id) : nn::detail::norm_add(*norm, in, id);
  };
  const auto composed = [&](nn::BatchNorm2d& norm, const Tensor& in, const Tensor& id) {
    const Tensor sum = norm->forward(in) + id;
    return clamps ? relu(sum) : sum;
  };
  const Tensor x = randn({4, 3, 2, 2}, kDouble), grad = randn({4, 3, 2, 2}, kDouble);
  for (const Tensor& identity :
       {randn({4, 3, 2, 2}, kDouble), randn({3, 1, 1}, kDouble), randn({4, 3, 2, 2}, kFloat)}) {
    nn::BatchNorm2d norm(3), alone(3);
    norm->to(kDouble), alone->to(kDouble);
    nn::init::normal_(norm->weight), nn::init::normal_(norm->bias);
    {
      const NoGradGuard guard;
      alone->weight.copy_(norm->weight), alone->bias.copy_(norm->bias);
    }
    const auto all = [&](nn::BatchNorm2d& of, const auto& f) {
      const Tensor in = x.clone().set_requires_grad(true),
                   id = identity.clone().set_requires_grad(true), out = f(of, in, id);
      const Tensors inputs = {in, id, of->weight, of->bias};
      Tensors results = {out.detach()};
      for (const bool twice : {true, false}) {
        const Tensors grads = autograd::grad({f(of, in, id)}, inputs, {grad}, true, twice);
        for (const Tensor& each : grads) results.push_back(each.detach());
        if (twice)
          for (const Tensor& each :
               autograd::grad({grads[0].square().sum()}, {in, of->weight}, {}, false, false))
            results.push_back(each);
      }
      return results;
    };
    const Tensors got = all(norm, added), expected = all(alone, composed);
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_TRUE(got[i].allclose(expected[i], 1e-6, 1e-9)) << i;
    EXPECT_TRUE(norm->running_var.equal(alone->running_var));
    EXPECT_TRUE(norm->num_batches_tracked.equal(alone->num_batches_tracked));
    norm->eval(), alone->eval();
    EXPECT_TRUE(added(norm, x, identity).equal(composed(alone, x, identity)));
  }
}

TEST(BatchNormAndASum, AreTheComposition) {
  expect_sum(false);
  expect_sum(true);
}

TEST(BatchNormAddReLU, LetsHooksSeeForwardAndNamesItsModule) {
  nn::BatchNorm2d norm(3);
  const Tensor x = randn({4, 3, 2, 2}), identity = randn({4, 3, 2, 2});
  const Tensor expected = nn::detail::norm_add_relu(*norm, x, identity);
  bool negative = false;
  norm->register_forward_hook([&](nn::Module&, const Tensor&, const Tensor& y) {
    negative = (y < 0).any().item<bool>();
    return Tensor();
  });
  EXPECT_TRUE(nn::detail::norm_add_relu(*norm, x, identity).allclose(expected, 1e-6, 1e-6));
  EXPECT_TRUE(negative);
  expect_error<ValueError>([&] { nn::detail::norm_add_relu(*norm, x, Tensor()); }, "identity");
  expect_error<ValueError>(
      [&] {
        nn::detail::norm_add_relu(*norm, randn({4, 5, 2, 2}), x);
      },
      "num_features");
}

TEST(BatchNormAndReLU, StayApartForAHookAndNameTheirModule) {
  nn::BatchNorm2d norm(3);
  nn::ReLU relu;
  nn::Sequential net(norm, relu);
  bool negative = false;
  const size_t hook = relu->register_forward_pre_hook([&](nn::Module&, const Tensor& input) {
    negative = (input < 0).any().item<bool>();
    return Tensor();
  });
  net->forward(randn({4, 3, 2, 2}));
  EXPECT_TRUE(negative);
  relu->remove_forward_pre_hook(hook);
  expect_error<ValueError>([&] { net(randn({4, 5, 2, 2})); }, "in 0 (BatchNorm2d) of Sequential");
}

}  // namespace
}  // namespace gradus
