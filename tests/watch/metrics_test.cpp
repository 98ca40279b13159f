// AUROC, Perplexity, MeanMetric and RunningMean: scikit-learn's values, and formulas.
#include "tests/support.h"

namespace gradus {
namespace {

using metrics::AUROC, metrics::AUROCOptions, metrics::Average, metrics::MeanMetric;
using metrics::Perplexity, metrics::PerplexityOptions, metrics::RunningMean;

Tensor numbers(const std::vector<int64_t>& list) { return tensor(list, kLong); }

TEST(AUROC, OfTwoClassesIsThatOfScikitLearn) {
  const Tensor scores = tensor({.1, .8, .4, .35, .4, .5, .9, .7}, kDouble);
  const Tensor targets = numbers({0, 1, 1, 0, 1, 0, 1, 1});
  for (const Device device : cpu_and_cuda()) {
    AUROC auroc;
    for (const int64_t first : {0, 5}) {  // two batches
      const int64_t count = first == 0 ? 5 : 3;
      auroc.update(scores.narrow(0, first, count).to(device),
                   targets.narrow(0, first, count).to(device));
    }
    expect_values(auroc.compute(), {0.8666666666666667}, 1e-14);
  }
}

TEST(AUROC, OfSeveralClassesIsThatOfScikitLearn) {
  const Tensor scores =
      tensor({.6, .3, .1, .2, .5, .3, .3, .3, .4, .5, .2, .3, .4, .35, .25, .45, .45, .1}, kDouble)
          .view({6, 3});
  const Tensor targets = numbers({0, 1, 2, 2, 1, 0});
  const auto area = [&](Average average) {
    AUROC auroc(AUROCOptions(3).average(average));
    auroc.update(scores, targets);
    return auroc.compute();
  };
  expect_values(area(Average::None), {0.875, 0.875, 0.9375}, 1e-14);
  expect_values(area(Average::Macro), {0.8958333333333334}, 1e-14);
  expect_values(area(Average::Weighted), {0.8958333333333334}, 1e-14);
}

TEST(AUROC, IsTheChanceOfARightOrder) {
  manual_seed(6);
  const Tensor scores = randint(12, {60}).to(kDouble) / 12;  // with equal ones
  const Tensor targets = randint(2, {60});
  double right = 0, pairs = 0;
  for (int64_t i = 0; i < 60; ++i)
    for (int64_t j = 0; j < 60; ++j) {
      if (targets[i].item<int64_t>() != 1 || targets[j].item<int64_t>() != 0) continue;
      const double a = scores[i].item<double>(), b = scores[j].item<double>();
      right += a > b ? 1 : a == b ? 0.5 : 0;
      ++pairs;
    }
  AUROC auroc;
  auroc.update(scores, targets);
  EXPECT_NEAR(auroc.compute().item<double>(), right / pairs, 1e-14);
}

TEST(AUROC, OfOneClassAloneIsNaN) {
  AUROC two, three(3);
  two.update(rand({4}), numbers({1, 1, 1, 1}));
  EXPECT_TRUE(std::isnan(two.compute().item<double>()));
  three.update(tensor({.9, .1, .0, .2, .8, .0}).view({2, 3}), numbers({0, 1}));
  expect_values(three.compute(), {1});  // class 2 is left out
}

TEST(AUROC, SaysWhatIsWrong) {
  AUROC two, three(3);
  expect_error<TypeError>(
      [&] {
        two.update(numbers({1, 0}), numbers({1, 0}));
      },
      "AUROC.update: preds has dtype int64, expected scores");
  expect_error<ValueError>(
      [&] {
        three.update(rand({2}), numbers({1, 0}));
      },
      "preds has the shape [2] for 3 classes");
  expect_error<IndexError>(
      [&] {
        two.update(rand({2}), numbers({1, 2}));
      },
      "target holds the class 2; expected 0 to 1");
  expect_error<Error>([&] { two.compute(); }, "AUROC.compute: nothing was counted");
  two.update(tensor({0.5, double{NAN}}), numbers({1, 0}));
  expect_error<ValueError>([&] { two.compute(); }, "AUROC.compute: a score is NaN");
  expect_error<ValueError>([] { AUROC micro(AUROCOptions(3).average(Average::Micro)); },
                           "expected Average::Macro, Weighted or None");
}

TEST(Perplexity, IsTheInverseOfTheGeometricMeanOfTheChances) {
  const Tensor scores = tensor({.5, .25, .25, .1, .6, .3}, kDouble).log().view({1, 2, 3}) + 7;
  for (const Device device : cpu_and_cuda()) {
    Perplexity perplexity;
    perplexity.update(scores.to(device), numbers({0, 2}).view({1, 2}).to(device));
    expect_values(perplexity.compute(), {1 / std::sqrt(.5 * .3)}, 1e-12);
    perplexity.reset();
    perplexity.update(zeros({2, 3, 4}, device), zeros({2, 3}, TensorOptions(kLong).device(device)));
    perplexity.update(zeros({1, 4}, device), numbers({3}).to(device));
    expect_values(perplexity.compute(), {4});
  }
}

TEST(Perplexity, IsTheExponentialOfTheLossOverAllBatches) {
  manual_seed(8);
  const Tensor scores = randn({6, 5, 7}), targets = randint(7, {6, 5});
  const Tensor loss = nn::functional::cross_entropy(scores.reshape({-1, 7}), targets.reshape({-1}));
  Perplexity perplexity;
  perplexity.update(scores.narrow(0, 0, 2), targets.narrow(0, 0, 2));
  perplexity.update(scores.narrow(0, 2, 4), targets.narrow(0, 2, 4));
  expect_values(perplexity.compute(), {std::exp(loss.item<double>())}, 1e-6);
}

TEST(Perplexity, LeavesOutPadding) {
  manual_seed(8);
  const Tensor scores = randn({4, 7});
  Perplexity padded(PerplexityOptions().ignore_index(-1)), plain;
  padded.update(scores, numbers({3, -1, 5, -1}));
  plain.update(scores.index_select(0, numbers({0, 2})), numbers({3, 5}));
  expect_values(padded.compute(), to_vector(plain.compute()));
  expect_error<IndexError>(
      [&] {
        plain.update(scores, numbers({3, -1, 5, -1}));
      },
      "Perplexity.update: target holds the class -1; expected 0 to 6");
  expect_error<ValueError>(
      [&] {
        plain.update(scores, numbers({3, 1}));
      },
      "preds has the shape [4, 7] and target [2]; expected scores (..., words)");
}

TEST(MeanMetric, WeighsItsValues) {
  for (const Device device : cpu_and_cuda()) {
    MeanMetric mean;
    mean.update(tensor({2.0}).to(device).sum(), 3);
    mean.update(5.0);
    mean.update(tensor({1.0, 3.0}).to(device));
    expect_values(mean.compute(), {(2 * 3 + 5 + 1 + 3) / 6.0});
    mean.reset();
    expect_error<Error>([&] { mean.compute(); }, "MeanMetric.compute: nothing was counted");
  }
}

TEST(MeanMetric, KeepsNoGraphOfALoss) {
  const Tensor w = ones({3}).requires_grad_();
  MeanMetric mean;
  mean.update((w * w).sum());
  EXPECT_FALSE(mean.compute().requires_grad());
  expect_values(mean.compute(), {3});
}

TEST(RunningMean, IsThatOfTheLastValues) {
  RunningMean mean(3);
  expect_error<Error>([&] { mean.compute(); }, "nothing was counted");
  const std::vector<double> expected = {1, 1.5, 2, 3, 4};
  for (int i = 0; i < 5; ++i) {
    mean.update(i + 1.0);
    expect_values(mean.compute(), {expected[static_cast<size_t>(i)]});
  }
  expect_error<ValueError>([] { RunningMean none(0); }, "window is 0, expected 1 or more");
}

}  // namespace
}  // namespace gradus
