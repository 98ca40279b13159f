// Schedules of learning rates: how they are used, and what they refuse.
#include "tests/support.h"

namespace gradus {
namespace {

using namespace optim;

double rate(const Optimizer& optimizer, size_t group = 0) {
  return optimizer.param_groups()[group].options().get_lr();
}
SGD one_group(double lr) { return SGD({ones({1}, requires_grad())}, lr); }

// What a program for libtorch derives.
struct Halved : LRScheduler {
  using LRScheduler::LRScheduler;
  std::vector<double> get_lrs() override {
    std::vector<double> rates = get_current_lrs();
    for (double& r : rates) r *= step_count_ == 0 ? 1 : 0.5;
    return rates;
  }
};
struct OneRate : LRScheduler {
  using LRScheduler::LRScheduler;
  std::vector<double> get_lrs() override { return {1}; }
};

TEST(Schedules, MayBeDerived) {
  SGD sgd = one_group(1);
  Halved halved(sgd);
  halved.step();
  EXPECT_EQ(rate(sgd), 1);
  halved.step(), halved.step();
  EXPECT_EQ(rate(sgd), 0.25);
  sgd.add_param_group({Tensors{ones({1}, requires_grad())}});
  OneRate wrong(sgd);
  expect_error<ValueError>([&] { wrong.step(); },
                           "OneRate: there are 1 learning rates for 2 parameter groups");
  EXPECT_EQ(rate(sgd), 0.25);
}

TEST(Schedules, FindTheirPlaceAgain) {
  SGD sgd = one_group(1);
  CosineAnnealingLR first(sgd, 10);
  for (int i = 0; i < 4; ++i) first.step();
  EXPECT_EQ(first.last_epoch(), 4);
  EXPECT_EQ(first.get_last_lr(), std::vector<double>{rate(sgd)});
  SGD resumed = one_group(1);
  CosineAnnealingLR second(resumed, 10);
  second.step(4);
  EXPECT_EQ(rate(resumed), rate(sgd));
  first.step(), second.step();
  EXPECT_EQ(rate(resumed), rate(sgd));
  expect_error<ValueError>([&] { second.step(-1); }, "CosineAnnealingLR: the step is -1");
}

// A schedule by its number, of an optimizer with momentum.
std::unique_ptr<LRScheduler> made(int kind, Optimizer& sgd) {
  switch (kind) {
    case 0:
      return std::make_unique<StepLR>(sgd, 3, 0.5);
    case 1:
      return std::make_unique<ConstantLR>(sgd, 0.5, 4);
    case 2:
      return std::make_unique<LinearLR>(sgd, 0.25, 1, 8);
    case 3:
      return std::make_unique<ExponentialLR>(sgd, 0.9);
    case 4:
      return std::make_unique<MultiStepLR>(sgd, std::vector<int64_t>{2, 6}, 0.1);
    case 5:
      return std::make_unique<PolynomialLR>(sgd, 9, 2);
    case 6:
      return std::make_unique<LambdaLR>(sgd, [](int64_t step) { return std::pow(0.7, step); });
    case 7:
      return std::make_unique<CosineAnnealingLR>(sgd, 6, 0.01);
    case 8:
      return std::make_unique<CosineAnnealingWarmRestarts>(sgd, 2, 2);
    case 9:
      return std::make_unique<OneCycleLR>(sgd, OneCycleLROptions(2, 12));
    default:
      return std::make_unique<SequentialLR>(
          sgd, std::vector<ClosedFormLR>{LinearLR(sgd, 0.1, 1, 4), ExponentialLR(sgd, 0.5)},
          std::vector<int64_t>{4});
  }
}

SGD two_groups() {
  std::vector<OptimizerParamGroup> groups;
  groups.emplace_back(Tensors{ones({1}, requires_grad())});
  groups.emplace_back(Tensors{ones({1}, requires_grad())},
                      std::make_unique<SGDOptions>(SGDOptions(0.25).momentum(0.5)));
  return SGD(std::move(groups), SGDOptions(1).momentum(0.9));
}

TEST(Schedules, GoOnFromTheirStateDict) {
  for (int kind = 0; kind <= 10; ++kind)
    for (const int at : {0, 1, 5}) {
      SGD first = two_groups(), second = two_groups();
      const auto one = made(kind, first);
      for (int i = 0; i < at; ++i) one->step();
      // The rates are in the optimizer's state, from which a schedule must not take the first ones.
      second.load_state_dict(first.state_dict());
      const auto other = made(kind, second);
      second.load_state_dict(first.state_dict());
      other->load_state_dict(one->state_dict());
      for (int i = 0; i < 5; ++i) {
        one->step(), other->step();
        for (const size_t g : {0, 1}) EXPECT_EQ(rate(first, g), rate(second, g)) << kind << at;
        const auto a = first.state_dict(), b = second.state_dict();
        for (const auto& item : a) EXPECT_TRUE(equal(item.value(), b[item.key()])) << item.key();
      }
    }
}

TEST(Schedules, ThatWaitForAMetricGoOnFromTheirStateDict) {
  using Plateau = ReduceLROnPlateauScheduler;
  const auto plateau = [](SGD& sgd) {
    return Plateau(sgd, Plateau::min, 0.5, /*patience=*/1, 1e-4, Plateau::rel, /*cooldown=*/2);
  };
  const std::vector<double> metrics = {3, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1};
  for (size_t at = 0; at < metrics.size(); ++at) {
    SGD a = one_group(1), b = one_group(1);
    Plateau one = plateau(a), other = plateau(b);
    for (size_t i = 0; i < metrics.size(); ++i) {
      if (i == at) {
        other.load_state_dict(one.state_dict());
        b.load_state_dict(a.state_dict());
      }
      one.step(metrics[i]);
      if (i < at) continue;
      other.step(metrics[i]);
      EXPECT_EQ(rate(a), rate(b)) << at << " " << i;
    }
    EXPECT_LT(rate(a), 0.5);
  }
}

TEST(Schedules, RefuseAStateThatDoesNotFit) {
  SGD sgd = one_group(1), more = two_groups();
  ExponentialLR scheduler(sgd, 0.5), wide(more, 0.5);
  scheduler.step();
  auto state = scheduler.state_dict();
  state.insert("gamma", ones({}));
  expect_error<ValueError>([&] { scheduler.load_state_dict(state); },
                           "ExponentialLR: load_state_dict: the values do not fit:\n  gamma is "
                           "unknown");
  expect_error<ValueError>([&] { scheduler.load_state_dict({}); }, "\n  last_epoch is missing");
  expect_error<ValueError>([&] { scheduler.load_state_dict(wide.state_dict()); },
                           "base_lrs is float64 of shape [2], expected float64 of shape [1]");
  EXPECT_EQ(scheduler.last_epoch(), 1);
  ReduceLROnPlateauScheduler plateau(sgd);
  expect_error<ValueError>([&] { plateau.load_state_dict(scheduler.state_dict()); },
                           "best is missing");
}

TEST(Schedules, AGroupThatJoinsLaterBeginsWithItsOwnRate) {
  SGD sgd = one_group(1);
  ExponentialLR scheduler(sgd, 0.5);
  scheduler.step();
  sgd.add_param_group({Tensors{ones({1}, requires_grad())}, std::make_unique<SGDOptions>(0.1)});
  scheduler.step();
  EXPECT_EQ(rate(sgd), 0.25);
  EXPECT_EQ(rate(sgd, 1), 0.025);
}

// As in Python: what must be given needs no options.
TEST(Schedules, TakeTheirBoundsAlone) {
  const Tensor p = ones({1}).requires_grad_();
  const auto rates = [&](auto make) {
    SGD sgd({p}, SGDOptions(0.1).momentum(0.9));
    auto schedule = make(sgd);
    std::vector<double> out;
    for (int i = 0; i < 5; ++i) {
      out.push_back(sgd.param_groups()[0].options().get_lr());
      sgd.step();
      schedule.step();
    }
    return out;
  };
  EXPECT_EQ(rates([](Optimizer& sgd) { return OneCycleLR(sgd, 0.5, 10); }),
            rates([](Optimizer& sgd) { return OneCycleLR(sgd, OneCycleLROptions(0.5, 10)); }));
  EXPECT_EQ(rates([](Optimizer& sgd) { return CyclicLR(sgd, 0.1, 0.5); }),
            rates([](Optimizer& sgd) { return CyclicLR(sgd, CyclicLROptions(0.1, 0.5)); }));
}

TEST(Schedules, OneCycleChangesBeta1OfAdam) {
  Adam adam({ones({1}, requires_grad())});
  OneCycleLR scheduler(adam, {1, 10});
  const auto& options = static_cast<const AdamOptions&>(adam.param_groups()[0].options());
  EXPECT_NEAR(options.lr(), 0.04, 1e-15);
  EXPECT_EQ(options.betas(), std::make_tuple(0.95, 0.999));
  scheduler.step(2);
  EXPECT_EQ(options.lr(), 1);
  EXPECT_EQ(options.betas(), std::make_tuple(0.85, 0.999));
  scheduler.step(10);
  expect_error<ValueError>(
      [&] { scheduler.step(); },
      "OneCycleLR: Tried to step 11 times. The specified number of total steps is 10");
  EXPECT_EQ(scheduler.last_epoch(), 10);
}

TEST(Schedules, RefuseWhatMakesNoSense) {
  SGD sgd = one_group(1);
  const auto refuses = [&](const auto& make, const char* why) {
    expect_error<ValueError>(make, why);
    EXPECT_EQ(rate(sgd), 1);
  };
  refuses([&] { StepLR(sgd, 0); }, "StepLR: step_size is 0, expected 1 or more");
  refuses([&] { ConstantLR(sgd, 1.5); }, "ConstantLR: factor is 1.5, expected a number from 0 to");
  refuses([&] { LinearLR(sgd, 0.0); }, "LinearLR: start_factor is 0, expected a number above 0");
  refuses([&] { LinearLR(sgd, 0.5, NAN); }, "LinearLR: end_factor is nan, expected a number from");
  refuses([&] { LinearLR(sgd, 0.5, 1, 0); }, "LinearLR: total_iters is 0, expected 1 or more");
  refuses([&] { PolynomialLR(sgd, 0); }, "PolynomialLR: total_iters is 0, expected 1 or more");
  refuses([&] { LambdaLR(sgd, std::vector<LambdaLR::Lambda>(2)); },
          "LambdaLR: there are 2 functions for 1 parameter groups; give one for each");
  refuses([&] { CosineAnnealingLR(sgd, 0); }, "CosineAnnealingLR: T_max is 0, expected 1 or more");
  refuses([&] { CosineAnnealingWarmRestarts(sgd, 0); }, "WarmRestarts: T_0 is 0, expected 1");
  refuses([&] { CosineAnnealingWarmRestarts(sgd, 1, 0); }, "WarmRestarts: T_mult is 0, expected 1");
  refuses([&] { SequentialLR(sgd, {ExponentialLR(sgd, 0.5)}, {3}); },
          "SequentialLR: there are 1 schedulers and 1 milestones, expected one scheduler more");
  const OneCycleLROptions fine(1, 10);
  const auto cycle = [&](const OneCycleLROptions& options, const char* why) {
    refuses([&] { OneCycleLR(sgd, options); }, why);
  };
  cycle({1, 0}, "OneCycleLR: total_steps is 0, expected 1 or more");
  cycle({{1, 2}, 10}, "OneCycleLR: max_lr has 2 rates for 1 parameter groups; give one for each");
  cycle(OneCycleLROptions(fine).pct_start(1.5), "OneCycleLR: pct_start is 1.5, expected a number");
  cycle(OneCycleLROptions(fine).anneal_strategy("up"),
        "anneal_strategy is \"up\", expected \"cos\"");
  Adagrad adagrad({ones({1}, requires_grad())}, 1);
  expect_error<ValueError>([&] { OneCycleLR(adagrad, fine); },
                           "Adagrad has neither momentum nor betas, which this schedule changes; "
                           "set cycle_momentum to false");
  EXPECT_EQ(rate(adagrad), 1);
  using Plateau = ReduceLROnPlateauScheduler;
  refuses([&] { Plateau(sgd, Plateau::min, 1.5); }, "Factor should be < 1.0, got 1.5");
  refuses(
      [&] {
        Plateau(sgd, Plateau::min, 0.1, 10, 1e-4, Plateau::rel, 0, {0.1f, 0.1f});
      },
      "min_lr has 2 numbers, expected 1, one for each parameter group");
}

TEST(Schedules, OneCycleMayHaveAnEmptyPhase) {
  for (const double part : {0.1, 1.0}) {
    SGD sgd = one_group(1);
    OneCycleLR scheduler(
        sgd,
        OneCycleLROptions(1, 10).pct_start(part).anneal_strategy("linear").cycle_momentum(false));
    if (part == 0.1) {
      EXPECT_EQ(rate(sgd), 1);  // the way up is over
    }
    for (int i = 0; i < 10; ++i) {
      EXPECT_TRUE(std::isfinite(rate(sgd))) << i;
      scheduler.step();
    }
    EXPECT_TRUE(std::isfinite(rate(sgd)));
  }
}

TEST(Schedules, RefuseFactorsOfACycleThatAreNotPositive) {
  SGD sgd = one_group(1);
  const OneCycleLROptions fine(1, 10);
  for (const double factor : {0.0, -1.0, static_cast<double>(NAN)}) {
    expect_error<ValueError>([&] { OneCycleLR(sgd, OneCycleLROptions(fine).div_factor(factor)); },
                             "OneCycleLR: div_factor is ");
    expect_error<ValueError>(
        [&] { OneCycleLR(sgd, OneCycleLROptions(fine).final_div_factor(factor)); },
        "OneCycleLR: final_div_factor is ");
  }
  EXPECT_EQ(rate(sgd), 1);
}

TEST(Schedules, RefuseANumberOfStepsThatIsNone) {
  SGD sgd = one_group(1);
  ExponentialLR scheduler(sgd, 0.5);
  scheduler.step();
  for (const int64_t steps : {int64_t{-1}, int64_t{1} << 32}) {
    auto state = scheduler.state_dict();
    state["last_epoch"] = full({}, steps, kLong);
    state["base_lrs"] = full({1}, 8, kDouble);
    expect_error<ValueError>([&] { scheduler.load_state_dict(state); },
                             "ExponentialLR: load_state_dict: last_epoch is " +
                                 std::to_string(steps) + ", expected a number from 0 to");
  }
  EXPECT_EQ(scheduler.last_epoch(), 1);
  EXPECT_EQ(sgd.param_groups()[0].initial_lr(), 1);
}

}  // namespace
}  // namespace gradus
