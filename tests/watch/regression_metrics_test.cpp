// MeanSquaredError, MeanAbsoluteError, R2Score: the values of torchmetrics' manual, and batches.
#include "tests/support.h"

namespace gradus {
namespace {

using metrics::MeanAbsoluteError, metrics::MeanSquaredError, metrics::MeanSquaredErrorOptions;
using metrics::R2Score;

TEST(RegressionMetrics, HaveTheValuesOfTorchmetrics) {
  const Tensor target = tensor({3.0, -0.5, 2.0, 7.0}), preds = tensor({2.5, 0.0, 2.0, 8.0});
  for (const Device device : cpu_and_cuda()) {
    const auto value = [&](auto metric) {
      for (const int64_t begin : {0, 1})  // batches of 1 and 3 rows
        metric.update(preds.slice(0, begin, begin == 0 ? 1 : 4).to(device),
                      target.slice(0, begin, begin == 0 ? 1 : 4).to(device));
      return metric.compute();
    };
    expect_values(value(MeanSquaredError()), {0.375}, 1e-12);
    expect_values(value(MeanSquaredError(MeanSquaredErrorOptions().squared(false))),
                  {std::sqrt(0.375)}, 1e-12);
    expect_values(value(MeanAbsoluteError()), {0.5}, 1e-12);
    expect_values(value(R2Score()), {0.9486081370449679}, 1e-12);
  }
  R2Score outputs;
  outputs.update(tensor({{0.0, 2.0}, {-1.0, 2.0}, {8.0, -5.0}}),
                 tensor({{0.5, 1.0}, {-1.0, 1.0}, {7.0, -6.0}}));
  expect_values(outputs.compute(), {(0.9654377880184332 + 0.9081632653061225) / 2}, 1e-12);
}

TEST(RegressionMetrics, AreThoseOfAllBatchesAtOnce) {
  manual_seed(3);
  const Tensor preds = randn({50, 3}, kDouble) + 1e6, target = preds + randn({50, 3}, kDouble) / 2;
  const auto expect_same = [&](auto whole, auto parts) {
    whole.update(preds, target);
    for (int64_t begin = 0, end; begin < 50; begin = end)
      end = std::min<int64_t>(50, begin + 1 + begin % 7),
      parts.update(preds.slice(0, begin, end), target.slice(0, begin, end));
    expect_values(parts.compute(), to_vector(whole.compute()), 1e-9);
    parts.reset();
    expect_error<Error>([&] { parts.compute(); }, "nothing was counted; call update() first");
  };
  expect_same(MeanSquaredError(), MeanSquaredError());
  expect_same(MeanAbsoluteError(), MeanAbsoluteError());
  expect_same(R2Score(), R2Score());
}

TEST(RegressionMetrics, OfEqualTargets) {
  R2Score right, wrong;
  right.update(ones({3}), ones({3}));
  wrong.update(zeros({3}), ones({3}));
  expect_values(right.compute(), {1});
  expect_values(wrong.compute(), {0});
}

TEST(RegressionMetrics, RecordNoGraphAndTakeIntegers) {
  MeanAbsoluteError error;
  error.update(ones({2}, requires_grad()), tensor({1, 4}));
  EXPECT_FALSE(error.compute().requires_grad());
  expect_values(error.compute(), {1.5});
}

TEST(RegressionMetrics, SayWhatIsWrong) {
  MeanSquaredError squared;
  MeanAbsoluteError absolute;
  R2Score score;
  expect_error<ValueError>(
      [&] {
        squared.update(ones({3, 1}), ones({3}));
      },
      "MeanSquaredError.update: preds has the shape [3, 1] and target [3]; "
      "expected one shape: call squeeze(1)");
  expect_error<ValueError>([&] { absolute.update(Tensor(), ones({3})); }, "preds is undefined");
  expect_error<TypeError>([&] { absolute.update(ones({3}, kComplexFloat), ones({3})); },
                          "preds holds complex numbers, expected real ones");
  expect_error<ValueError>(
      [&] {
        score.update(ones({3, 1, 1}), ones({3, 1, 1}));
      },
      "expected (N) or (N, outputs)");
  score.update(ones({1, 2}), ones({1, 2}));
  expect_error<ValueError>([&] { score.update(ones({4}), ones({4})); },
                           "target has 1 outputs, and earlier batches had 2");
  expect_error<Error>([&] { score.compute(); }, "one target has no variance");
}

}  // namespace
}  // namespace gradus
