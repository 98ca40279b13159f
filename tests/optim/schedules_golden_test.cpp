// Learning rates of every schedule against PyTorch's (tests/conformance/golden/schedules.py).
#include "tests/conformance/golden/golden.h"
#include "tests/support.h"

namespace gradus::test {
namespace {

namespace o = optim;

const Golden& golden_schedules() {
  static const Golden read(recorded("golden/schedules.txt"));
  return read;
}

std::vector<double> values_of(const o::SGD& sgd, bool momenta) {
  std::vector<double> out;
  for (const auto& group : sgd.param_groups()) out.push_back(group.options().get_lr());
  if (momenta)
    for (const auto& group : sgd.param_groups())
      out.push_back(static_cast<const o::SGDOptions&>(group.options()).momentum());
  return out;
}

// The rates of both groups, and their momenta, at first and after each of 40 steps.
template <class Make, class Step>
Tensor rates(const Make& make, bool momenta, const Step& step) {
  std::vector<o::OptimizerParamGroup> groups;
  groups.emplace_back(Tensors{zeros({1}, requires_grad())});
  groups.emplace_back(Tensors{zeros({1}, requires_grad())},
                      std::make_unique<o::SGDOptions>(o::SGDOptions(0.1).momentum(0.5)));
  o::SGD sgd(std::move(groups), o::SGDOptions(0.4).momentum(0.5));
  auto scheduler = make(sgd);
  Tensors kept = {tensor(values_of(sgd, momenta), kDouble)};
  for (int64_t i = 0; i < 40; ++i) {
    step(scheduler, i);
    kept.push_back(tensor(values_of(sgd, momenta), kDouble));
  }
  return stack(kept);
}
template <class Make>
Tensor rates(const Make& make, bool momenta = false) {
  return rates(make, momenta, [](auto& scheduler, int64_t) { scheduler.step(); });
}

double number(const Words& w, size_t i) { return std::stod(w[i]); }
int64_t integer(const Words& w, size_t i) { return std::stoll(w[i]); }

// libtorch's is one step behind Python's.
Tensor step_lr(const Words& w) {
  const Tensor late = rates([&](o::SGD& sgd) {
    return o::StepLR(sgd, static_cast<unsigned>(integer(w, 1)), number(w, 2));
  });
  return cat({late.slice(0, 1), late.slice(0, 40) * (41 % integer(w, 1) ? 1 : number(w, 2))});
}

Tensor multi_step(const Words& w) {
  std::vector<int64_t> milestones;
  for (size_t i = 2; i < w.size(); ++i) milestones.push_back(integer(w, i));
  return rates([&](o::SGD& sgd) { return o::MultiStepLR(sgd, milestones, number(w, 1)); });
}

Tensor lambda(const Words& w) {
  return rates([&](o::SGD& sgd) {
    if (w[1] == "one") return o::LambdaLR(sgd, [](int64_t step) { return std::pow(0.95, step); });
    return o::LambdaLR(sgd, {[](int64_t step) { return 1.0 / static_cast<double>(1 + step); },
                             [](int64_t step) { return static_cast<double>(step) / 8; }});
  });
}

Tensor sequential(const Words& w) {
  return rates([&](o::SGD& sgd) {
    if (w[1] == "warm")
      return o::SequentialLR(sgd, {o::LinearLR(sgd, 0.1, 1, 5), o::CosineAnnealingLR(sgd, 35)},
                             {5});
    return o::SequentialLR(
        sgd,
        {o::ConstantLR(sgd, 0.1, 60), o::ExponentialLR(sgd, 0.9), o::MultiStepLR(sgd, {4, 8}, 0.5)},
        {7, 20});
  });
}

Tensor one_cycle(const Words& w) {
  return rates(
      [&](o::SGD& sgd) {
        return o::OneCycleLR(sgd, o::OneCycleLROptions({0.5, 0.25}, integer(w, 1))
                                      .pct_start(number(w, 2))
                                      .anneal_strategy(w[3])
                                      .cycle_momentum(w[4] == "1")
                                      .base_momentum(number(w, 5))
                                      .max_momentum(number(w, 6))
                                      .div_factor(number(w, 7))
                                      .final_div_factor(number(w, 8))
                                      .three_phase(w[9] == "1"));
      },
      true);
}

Tensor cyclic_lr(const Words& w) {
  return rates(
      [&](o::SGD& sgd) {
        auto options = o::CyclicLROptions({0.1, 0.02}, {0.5, 0.25})
                           .step_size_up(integer(w, 1))
                           .mode(w[3])
                           .gamma(number(w, 4))
                           .cycle_momentum(w[5] == "1")
                           .base_momentum(number(w, 6))
                           .max_momentum(number(w, 7));
        if (w[2] != "0") options.step_size_down(integer(w, 2));
        return o::CyclicLR(sgd, options);
      },
      true);
}

Tensor chained(const Words& w) {
  return rates([&](o::SGD& sgd) {
    if (w[1] == "two")
      return o::ChainedScheduler(sgd, {o::ConstantLR(sgd, 0.1, 4), o::ExponentialLR(sgd, 0.9)});
    return o::ChainedScheduler(sgd, {o::LinearLR(sgd, 0.25, 1, 5), o::MultiStepLR(sgd, {6, 9}, 0.5),
                                     o::CosineAnnealingLR(sgd, 50)});
  });
}

struct Later {
  explicit Later(o::SGD& sgd) : first(sgd, 0.9), swa(sgd, 0.05, 8) {}
  o::ExponentialLR first;
  o::SWALR swa;
};

Tensor swa_lr(const Words& w) {
  if (w[1] == "later")
    return rates([](o::SGD& sgd) { return Later(sgd); }, false,
                 [](Later& both, int64_t i) { i < 15 ? both.first.step() : both.swa.step(); });
  return rates([&](o::SGD& sgd) {
    return o::SWALR(sgd, std::vector<double>{0.05, 0.2}, integer(w, 1), w[2]);
  });
}

Tensor plateau(const Words& w) {
  using Plateau = o::ReduceLROnPlateauScheduler;
  const auto least = static_cast<float>(number(w, 7));
  return rates(
      [&](o::SGD& sgd) {
        return Plateau(sgd, w[1] == "min" ? Plateau::min : Plateau::max, number(w, 2),
                       std::stoi(w[3]), number(w, 4), w[5] == "rel" ? Plateau::rel : Plateau::abs,
                       std::stoi(w[6]), {least, least}, number(w, 8));
      },
      false,
      [](Plateau& scheduler, int64_t i) {
        scheduler.step(golden_schedules()["metrics"][i].item<double>());
      });
}

// Where PyTorch multiplies the rate of the step before, its rounding adds up: 1e3 units of 2^-52.
TEST(Schedules, MatchPyTorch) {
  const auto of = [](auto make) {
    return GoldenKind{
        [=](const Words& w) { return rates([&](o::SGD& sgd) { return make(sgd, w); }); }, 1e3};
  };
  check_golden(
      golden_schedules(),
      {{"StepLR", {step_lr, 1e3}},
       {"MultiStepLR", {multi_step, 1e3}},
       {"LambdaLR", {lambda, 1e3}},
       {"SequentialLR", {sequential, 1e3}},
       {"OneCycleLR", {one_cycle, 1e3}},
       {"CyclicLR", {cyclic_lr, 1e3}},
       {"ChainedScheduler", {chained, 1e3}},
       {"SWALR", {swa_lr, 1e3}},
       {"ReduceLROnPlateau", {plateau, 1e3}},
       {"ConstantLR", of([](o::SGD& sgd, const Words& w) {
          return o::ConstantLR(sgd, number(w, 1), integer(w, 2));
        })},
       {"LinearLR", of([](o::SGD& sgd, const Words& w) {
          return o::LinearLR(sgd, number(w, 1), number(w, 2), integer(w, 3));
        })},
       {"ExponentialLR",
        of([](o::SGD& sgd, const Words& w) { return o::ExponentialLR(sgd, number(w, 1)); })},
       {"PolynomialLR", of([](o::SGD& sgd, const Words& w) {
          return o::PolynomialLR(sgd, integer(w, 1), number(w, 2));
        })},
       {"CosineAnnealingLR", of([](o::SGD& sgd, const Words& w) {
          return o::CosineAnnealingLR(sgd, integer(w, 1), number(w, 2));
        })},
       {"CosineAnnealingWarmRestarts", of([](o::SGD& sgd, const Words& w) {
          return o::CosineAnnealingWarmRestarts(sgd, integer(w, 1), integer(w, 2), number(w, 3));
        })}});
}

TEST(Schedules, OfCyclesTakeAHeightOfOnesOwn) {
  o::SGD sgd({zeros({1}, requires_grad())}, o::SGDOptions(1).momentum(0.5));
  const auto options = o::CyclicLROptions(0.0, 1.0).step_size_up(1).cycle_momentum(false);
  for (const char* mode : {"cycle", "iterations"}) {
    auto own = options;
    own.scale_fn([](double x) { return x * x; }).scale_mode(mode);
    o::CyclicLR schedule(sgd, own);
    std::vector<double> got;
    for (int i = 0; i < 4; ++i) schedule.step(), got.push_back(schedule.get_last_lr()[0]);
    EXPECT_EQ(got,
              *mode == 'c' ? (std::vector<double>{1, 0, 4, 0}) : (std::vector<double>{1, 0, 9, 0}));
  }
}

TEST(Schedules, OfCyclesRefuseOptionsOutOfRange) {
  o::SGD sgd({zeros({1}, requires_grad())}, o::SGDOptions(1).momentum(0.5));
  const auto refused = [&](const o::CyclicLROptions& options, const std::string& part) {
    expect_error<ValueError>([&] { o::CyclicLR(sgd, options); }, part);
  };
  const o::CyclicLROptions good(0.1, 1.0);
  refused(o::CyclicLROptions({1, 2}, {3}), "base_lr has 2 rates for 1 parameter groups");
  refused(o::CyclicLROptions(good).step_size_up(0), "expected 1 or more");
  refused(o::CyclicLROptions(good).mode("square"), "mode is \"square\"");
  refused(o::CyclicLROptions(good).scale_mode("x"), "scale_mode is \"x\"");
  expect_error<ValueError>([&] { o::SWALR(sgd, {1, 2}); }, "swa_lr has 2 rates for 1");
  expect_error<ValueError>([&] { o::SWALR(sgd, 1, -1); }, "anneal_epochs is -1");
  expect_error<ValueError>([&] { o::SWALR(sgd, 1, 2, "fast"); }, "anneal_strategy is \"fast\"");
  o::Adagrad adagrad({zeros({1}, requires_grad())}, o::AdagradOptions(1));
  expect_error<ValueError>([&] { o::CyclicLR(adagrad, good); }, "set cycle_momentum to false");
}

}  // namespace
}  // namespace gradus::test
