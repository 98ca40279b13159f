// Five steps of every kind of SGD against PyTorch's (tests/conformance/golden/make.py).
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

TEST(OptimGolden, MatchesPyTorch) { check_golden(golden(), {{"sgd", {sgd, 64}}}); }

}  // namespace
}  // namespace gradus::test
