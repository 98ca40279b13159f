// state_dict and load_state_dict of optimizers.
#include "gradus/optim/sgd.h"
#include "tests/support.h"

namespace gradus {
namespace {

using optim::SGD, optim::SGDOptions;
using StateDict = OrderedDict<std::string, Tensor>;

void step_once(optim::Optimizer& optimizer, const Tensor& p) {
  optimizer.zero_grad();
  p.square().sum().backward();
  optimizer.step();
}

TEST(OptimizerState, OfSgdByName) {
  const Tensor a = tensor({1.0, 2.0}, requires_grad()), b = tensor({1.0}, requires_grad());
  SGD sgd({a, b}, SGDOptions(0.1).momentum(0.9).maximize(true));
  EXPECT_FALSE(sgd.state_dict().contains("state.0.momentum_buffer"));
  step_once(sgd, a);
  const StateDict state = sgd.state_dict();
  EXPECT_EQ(state.keys(),
            (std::vector<std::string>{"param_groups.0.lr", "param_groups.0.momentum",
                                      "param_groups.0.dampening", "param_groups.0.weight_decay",
                                      "param_groups.0.nesterov", "param_groups.0.maximize",
                                      "group_of.0", "group_of.1", "state.0.momentum_buffer"}));
  EXPECT_EQ(state["param_groups.0.lr"].item<double>(), 0.1);
  EXPECT_EQ(state["param_groups.0.maximize"].scalar_type(), kBool);
  expect_values(state["state.0.momentum_buffer"], {-2, -4});
  EXPECT_EQ(sgd.state().size(), 1u);
  EXPECT_TRUE(sgd.state_dict({"x", "y.z"}).contains("group_of.y.z"));
  expect_error<ValueError>([&] { sgd.state_dict({"x"}); }, "1 names for 2 parameters");
}

TEST(OptimizerState, GoesOnWhereAnotherStopped) {
  const Tensor a = tensor({1.0, 2.0}, requires_grad());
  SGD first({a}, SGDOptions(0.1).momentum(0.9));
  step_once(first, a);
  const Tensor b = a.detach().clone().requires_grad_();
  SGD second({b}, 0.5);
  second.load_state_dict(first.state_dict());
  for (int i = 0; i < 3; ++i) step_once(first, a), step_once(second, b);
  EXPECT_TRUE(equal(a, b));
  // It has copies: the steps of one are not those of the other.
  EXPECT_FALSE(second.state_dict()["state.0.momentum_buffer"].is_alias_of(
      first.state_dict()["state.0.momentum_buffer"]));
}

TEST(OptimizerState, TheStateOfTheOtherReplacesItsOwn) {
  const Tensor a = tensor({1.0}, requires_grad());
  SGD fresh({a}, SGDOptions(0.1).momentum(0.9)), used({a}, SGDOptions(0.1).momentum(0.9));
  step_once(used, a);
  used.load_state_dict(fresh.state_dict());
  EXPECT_TRUE(used.state().empty());
}

TEST(OptimizerState, FollowsAParameterThatWasConverted) {
  nn::Linear net(2, 1);
  SGD sgd(net->parameters(), SGDOptions(0.1).momentum(0.9));
  net(ones({1, 2})).sum().backward();
  sgd.step();
  const Tensor before = sgd.state_dict()["state.0.momentum_buffer"].clone();
  net->to(kDouble);
  EXPECT_EQ(sgd.state_dict()["state.0.momentum_buffer"].scalar_type(), kDouble);
  sgd.zero_grad();
  net(ones({1, 2}, kDouble)).sum().backward();
  sgd.step();
  EXPECT_TRUE(equal(sgd.state_dict()["state.0.momentum_buffer"], before.to(kDouble) * 0.9 + 1));
}

TEST(OptimizerState, AStepThatFailsKeepsNoMomentum) {
  const Tensor a = ones({2}, requires_grad()), b = ones({2, 3}, requires_grad());
  SGD sgd({a, b}, SGDOptions(0.1).momentum(0.9));
  (a.sum() + b.sum()).backward();
  b.set_data(ones({3, 2}));
  expect_error<ValueError>([&] { sgd.step(); }, "gradient [2, 3]");
  EXPECT_FALSE(sgd.state_dict().contains("state.0.momentum_buffer"));
}

TEST(OptimizerState, OptionsAreCheckedWhereverTheyCome) {
  const Tensor a = tensor({1.0}, requires_grad()), b = tensor({1.0}, requires_grad());
  SGD sgd({a}, 0.1);
  expect_error<ValueError>(
      [&] {
        sgd.add_param_group({Tensors{b}, std::make_unique<SGDOptions>(-1.0)});
      },
      "lr = -1");
  EXPECT_EQ(sgd.param_groups().size(), 1u);
}

// Another algorithm says what it keeps in two lists of fields.
struct CountingOptions : optim::OptimizerOptions {
  double rate = 1;
  int64_t period = 2;
  std::unique_ptr<OptimizerOptions> clone() const override {
    return std::make_unique<CountingOptions>(*this);
  }
  double get_lr() const override { return rate; }
  void set_lr(double value) override { rate = value; }
  optim::Fields fields() override { return {{"rate", &rate}, {"period", &period}}; }
};
struct CountingState : optim::OptimizerParamState {
  int64_t count = 0;
  Tensor largest, smallest;
  optim::Fields fields() override {
    return {{"count", &count}, {"largest", &largest}, {"smallest", &smallest}};
  }
};
struct Counting : optim::Optimizer {
  explicit Counting(Tensors params)
      : Optimizer({optim::OptimizerParamGroup(std::move(params))},
                  std::make_unique<CountingOptions>()) {}
  Tensor step(LossClosure = nullptr) override {
    for (const Tensor& p : parameters()) {
      auto& kept = static_cast<CountingState&>(state_of(p));
      ++kept.count;
      kept.largest = p.detach().clone();
    }
    return {};
  }
  std::unique_ptr<optim::OptimizerParamState> new_state() const override {
    return std::make_unique<CountingState>();
  }
};

TEST(OptimizerState, OfAnotherAlgorithm) {
  const Tensor a = tensor({1.0}, requires_grad());
  Counting first({a}), second({a});
  first.step(), first.step();
  first.param_groups()[0].options().set_lr(0.25);
  const StateDict state = first.state_dict();
  second.load_state_dict(state);
  EXPECT_EQ(second.state_dict().keys(), state.keys());
  EXPECT_EQ(second.state_dict()["state.0.count"].item<int64_t>(), 2);
  EXPECT_EQ(second.param_groups()[0].options().get_lr(), 0.25);
  EXPECT_FALSE(state.contains("state.0.smallest"));

  StateDict without;
  for (const auto& item : state)
    if (item.key() != "state.0.count") without.insert(item.key(), item.value());
  expect_error<ValueError>([&] { second.load_state_dict(without); },
                           "do not fit gradus::(anonymous namespace)::Counting:"
                           "\n  state.0.count is missing");
  SGD sgd({a}, 0.1);
  expect_error<ValueError>([&] { sgd.load_state_dict(state); },
                           "param_groups.0.momentum is missing");
  EXPECT_EQ(sgd.misfits(sgd.state_dict()), "");
}

struct SilentOptions : CountingOptions {
  std::unique_ptr<OptimizerOptions> clone() const override {
    return std::make_unique<SilentOptions>(*this);
  }
  optim::Fields fields() override { return OptimizerOptions::fields(); }
};

TEST(OptimizerState, OptionsWithoutFieldsAreRefused) {
  const Tensor a = tensor({1.0}, requires_grad());
  Counting optimizer({a});
  a.mutable_grad() = ones({1});
  expect_error<NotImplementedError>([&] { optimizer.Optimizer::step(); },
                                    "Counting: no step is defined; override step()");
  optimizer.param_groups()[0].set_options(std::make_unique<SilentOptions>());
  expect_error<NotImplementedError>([&] { optimizer.state_dict(); },
                                    "SilentOptions does not list its options; override fields()");
}

}  // namespace
}  // namespace gradus
