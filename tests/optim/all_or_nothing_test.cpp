// Steps of parameters of several dtypes without memory: all change, or none.
#include "tests/failing_blocks.h"

namespace gradus {
namespace {

template <class Optimizer, class Options>
void expect_steps(const Options& options, bool warm) {
  expect_all_or_nothing([=] {
    Tensors all;
    for (const ScalarType dtype : {kFloat, kHalf, kDouble, kBFloat16})
      all.push_back((arange(12).reshape({3, 4}) / 4).to(dtype).t().requires_grad_());
    for (const Tensor& x : all) x.mutable_grad() = x.detach() + 1;
    const auto optimizer = std::make_shared<Optimizer>(all, options);
    if (warm) optimizer->step();
    return Attempt{[=] { optimizer->step(); }, [=] { return all; }};
  });
}

TEST(AllOrNothing, ParametersOfSeveralDtypesStep) {
  for (const bool warm : {false, true}) {
    expect_steps<optim::SGD>(optim::SGDOptions(0.5).momentum(0.5), warm);
    expect_steps<optim::AdamW>(optim::AdamWOptions(0.5), warm);
    expect_steps<optim::Adagrad>(optim::AdagradOptions(0.5), warm);
  }
}

}  // namespace
}  // namespace gradus
