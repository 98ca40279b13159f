// Steps of optimizers on the CPU against their formulas, element by element in double.
#include <gtest/gtest.h>

#include <functional>

#include "tests/random.h"

namespace gradus::test {
namespace {

// One element's step: changes p and what is kept of it.
template <UpdateOp op>
using Formula = std::function<void(const UpdateCoefficients<op, double>& c, double& p, double g,
                                   std::array<double, kMostStates>& s)>;

// Four steps of n elements; `coefficients` takes the number of the step.
template <UpdateOp op, class F>
void run(int states, ScalarType dtype, int64_t n, F&& coefficients, const Formula<op>& formula) {
  const auto drawn = [&] {
    std::vector<double> values(static_cast<size_t>(n));
    for (double& value : values) value = static_cast<float>(real(-1, 1));
    return values;
  };
  std::vector<double> want = drawn();
  std::vector<std::array<double, kMostStates>> kept(want.size());
  UpdatedParameter one;
  one.parameter = tensor({n}, want, dtype);
  for (size_t k = 0; k < static_cast<size_t>(states); ++k) {
    one.states[k] = empty({n}, dtype);
    cpu_backend().fill(one.states[k], std::nan(""));  // unread in the first step
    one.fresh |= 1u << k;
  }
  for (int step = 1; step <= 4; ++step) {
    const std::vector<double> g = drawn();
    const UpdateCoefficients<op, double> c = coefficients(step);
    one.gradient = tensor({n}, g, dtype);
    one.coefficients = list_of<op>(c);
    cpu_backend().update(op, states, one);
    one.fresh = 0;
    for (size_t i = 0; i < want.size(); ++i) formula(c, want[i], g[i], kept[i]);
  }
  const double tolerance = dtype == kFloat ? 2e-6 : 1e-14;
  for (int64_t i = 0; i < n; ++i) {
    ASSERT_NEAR(get(one.parameter, i), want[static_cast<size_t>(i)], tolerance);
    for (size_t k = 0; k < static_cast<size_t>(states); ++k)
      ASSERT_NEAR(get(one.states[k], i), kept[static_cast<size_t>(i)][k], tolerance) << k;
  }
}

void expect_sgd(double momentum, double dampening, double weight_decay, bool nesterov,
                bool maximize) {
  for (const ScalarType dtype : {kFloat, kDouble})
    for (const int64_t n : {1, 13, 70'000})
      run<UpdateOp::sgd>(
          momentum != 0, dtype, n,
          [&](int step) -> UpdateCoefficients<UpdateOp::sgd, double> {
            return {.lr = 0.1,
                    .momentum = momentum,
                    .share = step == 1 ? 1 : 1 - dampening,
                    .weight_decay = weight_decay,
                    .sign = maximize ? -1.0 : 1.0,
                    .nesterov = nesterov ? 1.0 : 0.0};
          },
          [&](const auto& c, double& p, double g, auto& s) {
            double d = maximize ? -g : g;
            d += weight_decay * p;
            if (momentum != 0) {
              s[0] = momentum * s[0] + c.share * d;
              d = nesterov ? d + momentum * s[0] : s[0];
            }
            p -= 0.1 * d;
          });
}

TEST(CpuUpdate, SgdFollowsItsFormula) {
  expect_sgd(0, 0, 0, false, false);
  expect_sgd(0, 0, 0.3, false, true);
  expect_sgd(0.9, 0, 0, false, false);
  expect_sgd(0.9, 0.4, 0.2, false, false);
  expect_sgd(0.9, 0, 0.2, true, false);
  expect_sgd(0.9, 0, 0.2, true, true);
}

void expect_adam(int states, double weight_decay) {
  for (const ScalarType dtype : {kFloat, kDouble})
    for (const int64_t n : {1, 13, 70'000})
      run<UpdateOp::adam>(
          states, dtype, n,
          [&](int) -> UpdateCoefficients<UpdateOp::adam, double> {
            return {.decay = 0.75,
                    .weight_decay = weight_decay,
                    .beta1 = 0.8,
                    .one_minus_beta1 = 0.2,
                    .beta2 = 0.5,
                    .one_minus_beta2 = 0.4,
                    .step_size = 0.1,
                    .scale = 1.5,
                    .eps = 0.5,
                    .lr = 0,
                    .step = 0};
          },
          [&](const auto&, double& p, double g, auto& s) {
            p *= 0.75;
            g += weight_decay * p;
            s[0] = 0.8 * s[0] + 0.2 * g;
            s[1] = 0.5 * s[1] + 0.4 * g * g;
            if (states == 3) s[2] = std::max(s[1], s[2]);
            p -= 0.1 * s[0] / (1.5 * std::sqrt(states == 3 ? s[2] : s[1]) + 0.5);
          });
}

TEST(CpuUpdate, AdamFollowsItsFormula) {
  expect_adam(2, 0);
  expect_adam(2, 0.3);
  expect_adam(3, 0.3);
}

TEST(CpuUpdate, EveryParameterHasItsOwnCoefficients) {
  UpdatedParameter a, b;
  a.parameter = tensor({1}, {1}), a.gradient = tensor({1}, {2});
  b.parameter = tensor({2}, {1, 2}), b.gradient = tensor({2}, {1, 1});
  a.coefficients = list_of<UpdateOp::sgd>({0.5, 0, 0, 0, 1, 0});
  b.coefficients = list_of<UpdateOp::sgd>({0.25, 0, 0, 1, 1, 0});
  cpu_backend().update(UpdateOp::sgd, 0, std::vector<UpdatedParameter>{a, b});
  EXPECT_EQ(get(a.parameter, 0), 0);
  EXPECT_EQ(get(b.parameter, 0), 0.5);
  EXPECT_EQ(get(b.parameter, 1), 1.25);
}

}  // namespace
}  // namespace gradus::test
