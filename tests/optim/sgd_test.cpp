// SGD by hand, its options, its groups, and what it refuses.
#include "gradus/optim/sgd.h"

#include "tests/support.h"

namespace gradus {
namespace {

using optim::SGD, optim::SGDOptions;

TEST(Sgd, FollowsItsFormulaByHand) {
  const Tensor p = tensor({1.0}, requires_grad());
  SGD sgd({p}, SGDOptions(0.1).momentum(0.5).weight_decay(0.2));
  const auto step = [&](double g) {
    sgd.zero_grad();
    (p * g).sum().backward();
    sgd.step();
  };
  step(1);  // d = 1 + 0.2 = 1.2, v = 1.2, p = 1 - 0.12
  expect_values(p, {0.88});
  step(2);  // d = 2 + 0.176 = 2.176, v = 0.6 + 2.176, p = 0.88 - 0.2776
  expect_values(p, {0.6024});
}

TEST(Sgd, LeavesParametersWithoutGradientAlone) {
  const Tensor used = tensor({1.0}, requires_grad()), unused = tensor({1.0}, requires_grad());
  SGD sgd({used, unused}, 0.1);
  (used * 2).sum().backward();
  sgd.step();
  expect_values(used, {0.8});
  expect_values(unused, {1});
}

TEST(Sgd, GroupsHaveOptionsOfTheirOwn) {
  const Tensor a = tensor({1.0}, requires_grad()), b = tensor({1.0}, requires_grad());
  std::vector<optim::OptimizerParamGroup> groups;
  groups.emplace_back(Tensors{a});
  groups.emplace_back(Tensors{b}, std::make_unique<SGDOptions>(1.0));
  SGD sgd(std::move(groups), 0.1);
  (a + b).sum().backward();
  sgd.step();
  expect_values(a, {0.9});
  expect_values(b, {0});
  sgd.param_groups()[0].options().set_lr(0.4);
  sgd.step();
  expect_values(a, {0.5});
}

TEST(Sgd, AClosureComputesTheLossWithTheGraph) {
  const Tensor p = tensor({3.0}, requires_grad());
  SGD sgd({p}, 0.25);
  const NoGradGuard outside;  // the closure records all the same
  const Tensor loss = sgd.step([&] {
    sgd.zero_grad();
    const Tensor square = (p * p).sum();
    square.backward();
    return square;
  });
  EXPECT_EQ(loss.item<double>(), 9);
  expect_values(p, {1.5});
}

TEST(Sgd, AMomentumThatStartsLaterForSomeParameters) {
  const Tensor a = tensor({1.0}, requires_grad()), b = tensor({1.0}, requires_grad());
  SGD sgd({a, b}, SGDOptions(0.1).momentum(0.9).dampening(0.5));
  (a * 1).sum().backward();
  sgd.step();  // b has no gradient yet
  sgd.zero_grad();
  (a + b).sum().backward();
  sgd.step();  // a: v = 0.9 + 0.5; b: v = 1, undampened
  expect_values(a, {1 - 0.1 - 0.14});
  expect_values(b, {0.9});
}

TEST(Sgd, FollowsAModuleThatChangesDtype) {
  nn::Linear fc(2, 1);
  SGD sgd(fc->parameters(), SGDOptions(0.1).momentum(0.9));
  fc(ones({1, 2})).sum().backward();
  sgd.step();
  fc->to(kDouble);
  sgd.zero_grad();
  fc(ones({1, 2}, kDouble)).sum().backward();
  const std::vector<double> before = to_vector(fc->bias);
  sgd.step();
  expect_values(fc->bias, {before[0] - 0.19});  // the momentum comes along, as in PyTorch
}

TEST(Sgd, RefusesWhatDoesNotFitAParameterAndChangesNothing) {
  const Tensor a = ones({2}, requires_grad()), b = ones({3}, requires_grad());
  SGD sgd({a, b}, SGDOptions(0.1).momentum(0.9));
  (a.sum() + b.sum()).backward();
  sgd.step();
  b.mutable_grad() = ones({1});
  expect_error<ValueError>([&] { sgd.step(); },
                           "SGD: a parameter has shape [3] on cpu, and its gradient [1] on cpu; "
                           "call zero_grad() and backward()");
  b.set_data(ones({4}));
  b.mutable_grad() = ones({4});
  expect_error<ValueError>(
      [&] { sgd.step(); },
      "SGD: a parameter has shape [4], and its momentum_buffer [3]; make a new "
      "optimizer");
  expect_values(a, {0.9, 0.9});
  expect_values(sgd.state_dict()["state.0.momentum_buffer"], {1, 1});
}

TEST(Sgd, CountsAsAChangeInPlace) {
  const Tensor p = tensor({1.0}, requires_grad());
  SGD sgd({p}, 0.1);
  const Tensor loss = (p * p).sum();
  p.mutable_grad() = ones({1});
  sgd.step();
  expect_error<Error>([&] { loss.backward(); }, "modified by an inplace operation");
}

TEST(Sgd, RefusesOptionsThatMakeNoSense) {
  const Tensor p = ones({1}, requires_grad());
  const auto refuses = [&](const SGDOptions& options, const char* why) {
    expect_error<ValueError>([&] { SGD({p}, options); }, why);
  };
  refuses(-1.0, "SGD: lr = -1, expected 0 or more");
  refuses(NAN, "SGD: lr = nan, expected 0 or more");
  refuses(SGDOptions(0.1).momentum(-0.5), "SGD: momentum = -0.5, expected 0 or more");
  refuses(SGDOptions(0.1).dampening(NAN), "SGD: dampening = nan, expected a number");
  refuses(SGDOptions(0.1).weight_decay(-2), "SGD: weight_decay = -2, expected 0 or more");
  refuses(SGDOptions(0.1).nesterov(true), "Nesterov");
  expect_error<ValueError>(
      [&] { SGD(Tensors{}, 0.1).step(); },
      "SGD: the list of parameters is empty; a module lists those that it knows by "
      "register_module(name, layer) and register_parameter(name, tensor)");
  expect_error<ValueError>([&] { SGD({p, p}, 0.1); }, "twice");
  expect_error<ValueError>([&] { SGD({p * 2}, 0.1); }, "leaves");
}

struct OtherOptions : optim::OptimizerCloneableOptions<OtherOptions> {
  GRADUS_OPTION(OtherOptions, double, lr) = 1;
};

TEST(Sgd, RefusesTheOptionsOfAnotherOptimizer) {
  const Tensor p = ones({1}, requires_grad());
  const char* const why =
      "SGD: a parameter group has options of Other; give it gradus::optim::SGDOptions";
  std::vector<optim::OptimizerParamGroup> groups;
  groups.emplace_back(Tensors{p}, std::make_unique<OtherOptions>());
  expect_error<TypeError>([&] { SGD(groups, 0.1); }, why);
  SGD sgd({p}, 0.1);
  sgd.param_groups()[0].set_options(std::make_unique<OtherOptions>());
  p.mutable_grad() = ones({1});
  expect_error<TypeError>([&] { sgd.step(); }, why);
}

TEST(Sgd, StepsParametersThatAreNotContiguous) {
  const Tensor memory = zeros({2, 6});
  const Tensor p = memory.slice(1, 0, 6, 2).t().detach().set_requires_grad(true);  // 3 x 2
  const Tensor factors = tensor({{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}}, kFloat);
  SGD sgd({p}, SGDOptions(0.5).momentum(0.5));
  for (int step = 0; step < 2; ++step) {
    sgd.zero_grad();
    (p * factors).sum().backward();
    sgd.step();
  }
  expect_values(p, {-1.25, -2.5, -3.75, -5, -6.25, -7.5});  // 0.5 (1 + 1.5) times the factor
  expect_values(memory, {-1.25, 0, -3.75, 0, -6.25, 0, -2.5, 0, -5, 0, -7.5, 0});
}

TEST(Sgd, ReachesTheMinimumOfALeastSquaresProblem) {
  manual_seed(1);
  const Tensor x = randn({200, 3}), truth = tensor({{1.0}, {-2.0}, {0.5}}, kFloat);
  const Tensor y = x.matmul(truth);
  nn::Linear fc(3, 1);
  SGD sgd(fc->parameters(), SGDOptions(0.1).momentum(0.9).nesterov(true));
  for (int i = 0; i < 200; ++i) {
    sgd.zero_grad();
    nn::functional::mse_loss(fc(x), y).backward();
    sgd.step();
  }
  expect_values(fc->weight, {1, -2, 0.5}, 1e-4);
  expect_values(fc->bias, {0}, 1e-4);
}

}  // namespace
}  // namespace gradus
