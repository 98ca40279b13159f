// Every optimizer by every floating point dtype; and steps whose allocations fail.
#include "tests/failing_blocks.h"

namespace gradus {
namespace every_step {

using namespace optim;

struct Maker {
  const char* name;
  std::function<std::unique_ptr<Optimizer>(const Tensors&)> make;
};
template <class O, class Options>
Maker maker(const char* name, const Options& options) {
  return {name, [options](const Tensors& p) { return std::make_unique<O>(p, options); }};
}
const std::vector<Maker>& makers() {
  static const std::vector<Maker> all = {
      maker<SGD>("SGD", SGDOptions(0.02)),
      maker<SGD>("SGD with momentum", SGDOptions(0.02).momentum(0.5)),
      maker<Adam>("Adam", AdamOptions(0.05)),
      maker<Adam>("Adam, amsgrad", AdamOptions(0.05).amsgrad(true)),
      maker<AdamW>("AdamW", AdamWOptions(0.05)),
      maker<Adagrad>("Adagrad", AdagradOptions(0.2)),
      maker<RMSprop>("RMSprop", RMSpropOptions(0.02).momentum(0.5).centered(true)),
      maker<Lion>("Lion", LionOptions(0.02)),
      maker<Adadelta>("Adadelta", AdadeltaOptions()),
      maker<Adamax>("Adamax", AdamaxOptions(0.05)),
      maker<NAdam>("NAdam", NAdamOptions(0.05)),
      maker<RAdam>("RAdam", RAdamOptions(0.05)),
      maker<LBFGS>("LBFGS", LBFGSOptions(0.1).max_iter(3)),
      maker<LBFGS>("LBFGS with a line search",
                   LBFGSOptions().max_iter(3).line_search_fn(std::string("strong_wolfe"))),
      maker<Muon>("Muon", MuonOptions(0.05))};
  return all;
}

Tensors leaves(Device device, const std::vector<ScalarType>& dtypes) {
  Tensors out;
  for (const ScalarType dtype : dtypes)
    out.push_back(
        linspace(-1, 1, 24 * 16, kDouble).view({24, 16}).to(device, dtype).requires_grad_());
  return out;
}
Tensor descend(Optimizer& optimizer, const Tensors& p) {
  return optimizer.step([&] {
    optimizer.zero_grad();
    Tensor loss;
    for (const Tensor& one : p) {
      const Tensor part = (one.to(kDouble) - 0.25).square().mean();
      loss = loss.defined() ? loss + part : part;
    }
    loss.backward();
    return loss;
  });
}

void expect_steps(Device device, const std::vector<ScalarType>& dtypes, int steps) {
  for (const Maker& maker : makers())
    for (const ScalarType dtype : dtypes) {
      SCOPED_TRACE(std::string(maker.name) + " of " + toString(dtype));
      const Tensors p = leaves(device, {dtype});
      const auto optimizer = maker.make(p);
      const double before = descend(*optimizer, p).item<double>();
      for (int i = 0; i < steps; ++i) descend(*optimizer, p);
      const double after = descend(*optimizer, p).item<double>();
      // Without a line search its curvature is that of the rounding, once steps are as short.
      const bool may_rise = std::string(maker.name) == "LBFGS" && element_size(dtype) == 2;
      EXPECT_TRUE(may_rise ? std::isfinite(after) : after < before) << after;
      EXPECT_EQ(p[0].dtype(), dtype);
      const auto again = maker.make(p);
      again->load_state_dict(optimizer->state_dict());
      descend(*again, p);
    }
}
TEST(EveryOptimizer, StepsEveryDtype) {
  expect_steps(kCPU, {kHalf, kBFloat16, kFloat, kDouble}, 4);
}
TEST(EveryOptimizer, StepsEveryDtypeOnAGpu) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  expect_steps(kCUDA, {kHalf, kBFloat16}, 0);
}

TEST(EveryOptimizer, SaysWhyItRefusesComplexParameters) {
  for (const Maker& maker : makers()) {
    SCOPED_TRACE(maker.name);
    const Tensor z = ones({2, 2}, kComplexFloat).requires_grad_();
    const auto optimizer = maker.make({z});
    const auto step = [&] {
      optimizer->step([&] {
        const Tensor loss = z.abs().square().sum();
        loss.backward();
        return loss;
      });
    };
    expect_error<TypeError>(
        step,
        ": a parameter of shape [2, 2] is complex64, and parameters are real; "
        "give view_as_real() of it, and compute with view_as_complex() of that");
    EXPECT_TRUE(z.detach().equal(ones({2, 2}, kComplexFloat)));
  }
}

TEST(EveryOptimizer, RefusesToStepNothing) {
  for (const Maker& maker : makers()) {
    SCOPED_TRACE(maker.name);
    const auto optimizer = maker.make(Tensors{});
    expect_error<ValueError>([&] { optimizer->step([] { return ones({}); }); },
                             "the list of parameters is empty");
  }
}

Attempt attempt_with(const Maker& maker,
                     const std::function<void(Optimizer&, const Tensors&)>& call) {
  auto p = std::make_shared<Tensors>(leaves(kCPU, {kFloat, kFloat}));
  std::shared_ptr<Optimizer> optimizer = maker.make(*p);
  descend(*optimizer, *p);
  return {[=] { call(*optimizer, *p); },
          [=] {
            Tensors out = *p;
            for (const auto& item : optimizer->state_dict()) out.push_back(item.value());
            return out;
          }};
}

TEST(EveryOptimizer, AStepWithoutMemoryChangesNothing) {
  for (const Maker& maker : makers()) {
    SCOPED_TRACE(maker.name);
    expect_all_or_nothing([&] { return attempt_with(maker, descend); });
  }
}

TEST(EveryOptimizer, LoadingWithoutMemoryChangesNothing) {
  for (const Maker& maker : makers()) {
    SCOPED_TRACE(maker.name);
    expect_all_or_nothing([&] {
      const Tensors other = leaves(kCPU, {kFloat, kFloat});
      const auto donor = maker.make(other);
      for (int i = 0; i < 3; ++i) descend(*donor, other);
      const auto state = donor->state_dict();
      return attempt_with(maker,
                          [state](Optimizer& o, const Tensors&) { o.load_state_dict(state); });
    });
  }
}

}  // namespace every_step
}  // namespace gradus
