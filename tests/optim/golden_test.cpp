// Steps of every optimizer against PyTorch's (tests/conformance/golden/make.py).
#include "tests/conformance/golden/golden.h"

namespace gradus::test {
namespace {

const Golden& golden() {
  static const Golden read(
#include "tests/conformance/golden/optim.inc"
  );
  return read;
}

// sgd DTYPE LR MOMENTUM DAMPENING WEIGHT_DECAY NESTEROV MAXIMIZE, on sum((p - target)^4).
Tensor sgd(const Words& w) {
  const ScalarType dtype = w[1] == "float32" ? kFloat : kDouble;
  const Tensor p = golden()["start"].to(dtype).clone().requires_grad_();
  const Tensor target = golden()["target"].to(dtype);
  optim::SGD optimizer({p}, optim::SGDOptions(std::stod(w[2]))
                                .momentum(std::stod(w[3]))
                                .dampening(std::stod(w[4]))
                                .weight_decay(std::stod(w[5]))
                                .nesterov(w[6] == "1")
                                .maximize(w[7] == "1"));
  Tensor steps = empty({5, p.size(0)}, dtype);
  for (int64_t i = 0; i < 5; ++i) {
    optimizer.zero_grad();
    (p - target).square().square().sum().backward();
    optimizer.step();
    steps[i].copy_(p.detach());
  }
  return steps;
}

// adam[w] DTYPE LR BETA1 BETA2 EPS WEIGHT_DECAY AMSGRAD, on the same sum; the second half of the
// elements is a group of its own.
template <class Optimizer, class Options>
Tensor adam(const Words& w) {
  const ScalarType dtype = w[1] == "float32" ? kFloat : kDouble;
  const Tensor goal = golden()["goal"].to(dtype);
  Tensors halves;
  for (const Tensor& half : golden()["begin"].to(dtype).chunk(2))
    halves.push_back(half.clone().requires_grad_());
  const double lr = std::stod(w[2]);
  const Options options = Options(lr)
                              .betas({std::stod(w[3]), std::stod(w[4])})
                              .eps(std::stod(w[5]))
                              .weight_decay(std::stod(w[6]))
                              .amsgrad(w[7] == "1");
  std::vector<optim::OptimizerParamGroup> groups;
  groups.emplace_back(Tensors{halves[0]});
  groups.emplace_back(Tensors{halves[1]},
                      std::make_unique<Options>(Options(options).lr(lr / 2).amsgrad(false)));
  Optimizer optimizer(std::move(groups), options);
  Tensor steps = empty({10, goal.size(0)}, dtype);
  for (int64_t i = 0; i < 100; ++i) {
    optimizer.zero_grad();
    (cat(halves) - goal).square().square().sum().backward();
    optimizer.step();
    if (i % 10 == 9) steps[i / 10].copy_(cat(halves).detach());
  }
  return steps;
}

TEST(OptimGolden, MatchesPyTorch) {
  check_golden(golden(), {{"sgd", {sgd, 64}},
                          {"adam", {adam<optim::Adam, optim::AdamOptions>, 1000}},
                          {"adamw", {adam<optim::AdamW, optim::AdamWOptions>, 1000}}});
}

}  // namespace
}  // namespace gradus::test
