// Calls that change several tensors of a module, without memory: all change, or none.
#include "tests/failing_blocks.h"

namespace gradus {
namespace all_or_nothing {

// A module with gradients, in float, and what may change of it.
Attempt attempt_on(const std::function<void(nn::Module&)>& call) {
  nn::Sequential net(nn::Linear(24, 16), nn::BatchNorm1d(16), nn::Linear(16, 24));
  net->forward(ones({3, 24}) + arange(3).unsqueeze(1)).square().sum().backward();
  return {[=] { call(*net); },
          [=] {
            Tensors out = net->parameters();
            for (const Tensor& x : net->parameters())
              if (x.grad().defined()) out.push_back(x.grad());
            for (const Tensor& x : net->buffers()) out.push_back(x);
            return out;
          }};
}

TEST(AllOrNothing, ModulesAreConverted) {
  for (const ScalarType dtype : {kHalf, kBFloat16, kDouble}) {
    SCOPED_TRACE(toString(dtype));
    expect_all_or_nothing([&] { return attempt_on([=](nn::Module& m) { m.to(dtype); }); });
  }
}

TEST(AllOrNothing, ModulesLoad) {
  for (const ScalarType dtype : {kFloat, kHalf, kDouble}) {
    SCOPED_TRACE(toString(dtype));
    nn::Sequential other(nn::Linear(24, 16), nn::BatchNorm1d(16), nn::Linear(16, 24));
    other->to(dtype);
    const auto state = other->state_dict();
    const auto make = [&] { return attempt_on([=](nn::Module& m) { m.load_state_dict(state); }); };
    if (dtype == kFloat)
      make().call();  // which needs no memory
    else
      expect_all_or_nothing(make);
  }
}

TEST(AllOrNothing, GradientsAreClippedAndCleared) {
  expect_all_or_nothing([] {
    return attempt_on([](nn::Module& m) { nn::utils::clip_grad_value_(m.parameters(), 0.1); });
  });
  expect_all_or_nothing([] { return attempt_on([](nn::Module& m) { m.zero_grad(false); }); });
  for (const double type : {1.0, 2.0, 3.0, HUGE_VAL})
    expect_all_or_nothing([=] {
      return attempt_on(
          [=](nn::Module& m) { nn::utils::clip_grad_norm_(m.parameters(), 0.1, type); });
    });
}

TEST(AllOrNothing, AVectorBecomesParameters) {
  expect_all_or_nothing([] {
    return attempt_on([](nn::Module& m) {
      nn::utils::vector_to_parameters(nn::utils::parameters_to_vector(m.parameters()) + 1,
                                      m.parameters());
    });
  });
}

}  // namespace all_or_nothing
}  // namespace gradus
