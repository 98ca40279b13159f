// Adam and AdamW, by hand.
#include "gradus/optim/adamw.h"

#include "tests/support.h"

namespace gradus {
namespace {

using optim::Adam, optim::AdamOptions, optim::AdamParamState, optim::AdamW, optim::AdamWOptions;

void step(optim::Optimizer& optimizer, const Tensor& gradient_factors) {
  optimizer.zero_grad();
  Tensor sum = zeros({}, gradient_factors.options());
  for (const Tensor& p : optimizer.parameters()) sum = sum + (p * gradient_factors).sum();
  sum.backward();
  optimizer.step();
}

const AdamParamState& state_of(const optim::Optimizer& optimizer, const Tensor& p) {
  return static_cast<const AdamParamState&>(*optimizer.state().at(&p.impl()));
}

TEST(Adam, HasTheDefaultsOfLibtorch) {
  Adam adam({ones({1}, requires_grad())});
  const auto& options = static_cast<const AdamOptions&>(adam.param_groups()[0].options());
  EXPECT_EQ(options.lr(), 1e-3);
  EXPECT_EQ(options.betas(), std::make_tuple(0.9, 0.999));
  EXPECT_EQ(options.eps(), 1e-8);
  EXPECT_EQ(options.weight_decay(), 0);
  EXPECT_FALSE(options.amsgrad());
  adam.param_groups()[0].options().set_lr(0.5);
  EXPECT_EQ(options.lr(), 0.5);
  EXPECT_EQ(options.get_lr(), 0.5);
}

TEST(Adam, FollowsItsFormulaByHand) {
  const Tensor p = tensor({1.0}, requires_grad());
  Adam adam({p}, AdamOptions(0.1).betas({0.5, 0.75}).eps(0.5).weight_decay(1));
  step(adam, full({1}, 3));  // g = 4, m = 2, v = 4; m / 0.5 = 4, sqrt(v / 0.25) = 4
  expect_values(p, {1 - 0.1 * 4 / 4.5}, 1e-7);
  EXPECT_EQ(state_of(adam, p).step(), 1);
  expect_values(state_of(adam, p).exp_avg(), {2});
  expect_values(state_of(adam, p).exp_avg_sq(), {4});
  EXPECT_FALSE(state_of(adam, p).max_exp_avg_sq().defined());
}

TEST(Adam, MaximizesByTheNegativeGradient) {
  const Tensor p = tensor({1.0}, requires_grad());
  Adam adam({p}, AdamOptions(0.1).betas({0.5, 0.75}).eps(0.5).weight_decay(1).maximize(true));
  step(adam, full({1}, 3));  // g = -2, m = -1, v = 1; m / 0.5 = -2, sqrt(v / 0.25) = 2
  expect_values(p, {1 + 0.1 * 2 / 2.5}, 1e-7);
  expect_values(state_of(adam, p).exp_avg(), {-1});
  expect_values(state_of(adam, p).exp_avg_sq(), {1});
}

TEST(Adam, LoadsStateDictsFromBeforeMaximize) {
  const Tensor p = tensor({1.0}, requires_grad());
  Adam first({p}, 0.25), second({p}, 0.5);
  OrderedDict<std::string, Tensor> earlier;
  for (const auto& item : first.state_dict())
    if (item.key() != "param_groups.0.maximize") earlier.insert(item.key(), item.value());
  second.load_state_dict(earlier);
  EXPECT_EQ(second.state_dict()["param_groups.0.lr"].item<double>(), 0.25);
  EXPECT_FALSE(second.state_dict()["param_groups.0.maximize"].item<bool>());
}

// What PyTorch counts for each parameter: one that joins later starts with its own first step.
TEST(Adam, CountsTheStepsOfEveryParameter) {
  const Tensor a = tensor({1.0}, requires_grad()), b = tensor({1.0}, requires_grad());
  Adam adam({a, b}, 0.1);
  (a * 2).sum().backward();
  adam.step();
  EXPECT_EQ(adam.state().count(&b.impl()), 0u);
  step(adam, full({1}, 2));
  EXPECT_EQ(state_of(adam, a).step(), 2);
  EXPECT_EQ(state_of(adam, b).step(), 1);
  expect_values(a, {0.8});  // a constant gradient gives steps of lr
  expect_values(b, {0.9});
}

TEST(Adam, AnAmsgradThatStartsLaterKnowsNoEarlierMaximum) {
  const Tensor p = tensor({1.0}, requires_grad());
  Adam adam({p}, AdamOptions(0.1).betas({0, 0.5}));
  step(adam, full({1}, 4));  // v = 8
  static_cast<AdamOptions&>(adam.param_groups()[0].options()).amsgrad(true);
  step(adam, full({1}, 2));  // v = 4 + 2
  expect_values(state_of(adam, p).max_exp_avg_sq(), {6});
  step(adam, full({1}, 0));  // v = 3
  expect_values(state_of(adam, p).max_exp_avg_sq(), {6});
  expect_values(state_of(adam, p).exp_avg_sq(), {3});
}

TEST(Adam, StepsHalfTypesAndParametersThatAreNotContiguous) {
  const Tensor half = ones({2}, TensorOptions(kBFloat16).requires_grad(true));
  const Tensor memory = zeros({2, 4});
  const Tensor odd = memory.slice(1, 0, 4, 2).detach().set_requires_grad(true);
  Adam adam({half, odd}, 0.25);
  ((half * 2).sum() + (odd * 3).sum()).backward();
  adam.step();
  expect_values(half, {0.75, 0.75});
  expect_values(memory, {-0.25, 0, -0.25, 0, -0.25, 0, -0.25, 0});
  EXPECT_EQ(state_of(adam, half).exp_avg().scalar_type(), kFloat);
}

TEST(Adam, GoesOnFromItsStateDict) {
  const Tensor a = tensor({1.0, -2.0}, requires_grad()), factors = tensor({0.5, 3.0}, kFloat);
  Adam first({a}, AdamOptions(0.1).betas({0.8, 0.9}).amsgrad(true));
  step(first, factors);
  step(first, factors * -2);
  const auto state = first.state_dict();
  EXPECT_EQ(state.keys(),
            (std::vector<std::string>{
                "param_groups.0.lr", "param_groups.0.betas.0", "param_groups.0.betas.1",
                "param_groups.0.eps", "param_groups.0.weight_decay", "param_groups.0.amsgrad",
                "param_groups.0.maximize", "group_of.0", "state.0.step", "state.0.exp_avg",
                "state.0.exp_avg_sq", "state.0.max_exp_avg_sq"}));
  EXPECT_EQ(state["param_groups.0.betas.1"].item<double>(), 0.9);
  EXPECT_EQ(state["state.0.step"].item<int64_t>(), 2);
  const Tensor b = a.detach().clone().requires_grad_();
  Adam second({b});
  second.load_state_dict(state);
  for (int i = 0; i < 3; ++i) step(first, factors), step(second, factors);
  EXPECT_TRUE(equal(a, b));
}

TEST(Adam, AStepThatFailsChangesNothing) {
  const Tensor a = ones({2}, requires_grad()), b = ones({3}, requires_grad());
  Adam adam({a, b});
  (a.sum() + b.sum()).backward();
  b.mutable_grad() = ones({1});
  expect_error<ValueError>([&] { adam.step(); },
                           "Adam: a parameter has shape [3] on cpu, and its gradient [1] on cpu");
  EXPECT_TRUE(adam.state().empty());
  expect_values(a, {1, 1});
}

TEST(Adam, RefusesOptionsThatMakeNoSense) {
  const Tensor p = ones({1}, requires_grad());
  const auto refuses = [&](const AdamOptions& options, const char* why) {
    expect_error<ValueError>([&] { Adam({p}, options); }, why);
  };
  refuses(-1, "Adam: lr = -1, expected 0 or more");
  refuses(NAN, "Adam: lr = nan, expected 0 or more");
  refuses(AdamOptions().betas({1, 0.9}), "Adam: betas.0 = 1, expected 0 or more and below 1");
  refuses(AdamOptions().betas({0.9, NAN}), "Adam: betas.1 = nan, expected 0 or more and below 1");
  refuses(AdamOptions().eps(-1e-8), "Adam: eps = -1e-08, expected 0 or more");
  refuses(AdamOptions().weight_decay(-0.5), "Adam: weight_decay = -0.5, expected 0 or more");
}

TEST(AdamW, HasTheDefaultsOfLibtorch) {
  AdamW adamw({ones({1}, requires_grad())});
  const auto& options = static_cast<const AdamWOptions&>(adamw.param_groups()[0].options());
  EXPECT_EQ(options.lr(), 1e-3);
  EXPECT_EQ(options.betas(), std::make_tuple(0.9, 0.999));
  EXPECT_EQ(options.weight_decay(), 1e-2);
}

TEST(AdamW, DecaysTheParameterApartFromItsGradient) {
  const Tensor p = tensor({2.0}, requires_grad());
  AdamW adamw({p}, AdamWOptions(0.1).betas({0.5, 0.75}).eps(0.5).weight_decay(0.5));
  step(adamw, full({1}, 4));  // p = 0.95 * 2; m / 0.5 = 4, sqrt(v / 0.25) = 4
  expect_values(p, {1.9 - 0.1 * 4 / 4.5}, 1e-7);
  expect_values(adamw.state_dict()["state.0.exp_avg"], {2});
  step(adamw, full({1}, 0));
  AdamW other({p});
  other.load_state_dict(adamw.state_dict());
  EXPECT_EQ(state_of(other, p).step(), 2);
  expect_error<ValueError>([&] { AdamW({p}, AdamWOptions(-2)); }, "AdamW: lr = -2, expected");
}

}  // namespace
}  // namespace gradus
