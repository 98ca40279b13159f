// Accuracy, ConfusionMatrix, Precision, Recall, F1Score and FBetaScore: scikit-learn's values.
#include "tests/support.h"

namespace gradus {
namespace {

using metrics::Accuracy, metrics::AccuracyOptions, metrics::Average;
using metrics::ClassMetricOptions, metrics::ConfusionMatrix, metrics::ConfusionMatrixOptions;
using metrics::F1Score, metrics::FBetaScore, metrics::Precision, metrics::Recall;

const std::vector<int64_t> kTargets = {0, 1, 2, 2, 1, 0, 2, 1, 0, 2};
const std::vector<int64_t> kPredictions = {0, 2, 2, 1, 1, 0, 2, 0, 0, 2};

Tensor classes(const std::vector<int64_t>& numbers, Device device = kCPU) {
  return tensor(numbers, TensorOptions(kLong).device(device));
}

// In two batches, the first as class numbers and the second as scores.
template <class M>
void update_all(M& metric, Device device) {
  const Tensor predictions = classes(kPredictions, device), targets = classes(kTargets, device);
  metric.update(predictions.narrow(0, 0, 4), targets.narrow(0, 0, 4));
  const Tensor scores = one_hot(predictions.narrow(0, 4, 6), 3).to(kFloat) * 2 - 1;
  metric.update(scores, targets.narrow(0, 4, 6));
}

TEST(ClassMetrics, AreThoseOfScikitLearn) {
  for (const Device device : cpu_and_cuda()) {
    ConfusionMatrix matrix(3);
    update_all(matrix, device);
    EXPECT_EQ(matrix.compute().scalar_type(), kLong);
    expect_values(matrix.compute(), {3, 0, 0, 1, 1, 1, 0, 1, 3});
    Accuracy accuracy;
    update_all(accuracy, device);
    expect_values(accuracy.compute(), {0.7});
    EXPECT_EQ(accuracy.compute().device(), Device(kCPU));

    struct Row {
      Average average;
      std::vector<double> precision, recall, f1, f2;
    };
    const std::vector<Row> rows = {
        {Average::Micro, {0.7}, {0.7}, {0.7}, {0.7}},
        {Average::Macro,
         {0.6666666666666666},
         {0.6944444444444443},
         {0.669047619047619},
         {0.6815476190476191}},
        {Average::Weighted, {0.675}, {0.7}, {0.6771428571428572}, {0.6883928571428571}},
        {Average::None,
         {0.75, 0.5, 0.75},
         {1, 1.0 / 3, 0.75},
         {6.0 / 7, 0.4, 0.75},
         {0.9375, 5.0 / 14, 0.75}}};
    for (const Row& row : rows) {
      const auto options = ClassMetricOptions(3).average(row.average);
      Precision precision(options);
      Recall recall(options);
      F1Score f1(options);
      FBetaScore f2(2, options);
      update_all(precision, device), update_all(recall, device);
      update_all(f1, device), update_all(f2, device);
      expect_values(precision.compute(), row.precision, 1e-14);
      expect_values(recall.compute(), row.recall, 1e-14);
      expect_values(f1.compute(), row.f1, 1e-14);
      expect_values(f2.compute(), row.f2, 1e-14);
    }
  }
}

TEST(ClassMetrics, OfTwoClassesTakeProbabilities) {
  const Tensor probabilities = tensor({.1, .8, .4, .35, .4, .5, .9, .7}, kFloat);
  const Tensor targets = classes({0, 1, 1, 0, 1, 0, 1, 1});
  const auto options = ClassMetricOptions(2).average(Average::Binary);
  Precision precision(options);
  Recall recall(options);
  F1Score f1(options);
  for (metrics::ClassMetric* metric :
       {static_cast<metrics::ClassMetric*>(&precision), static_cast<metrics::ClassMetric*>(&recall),
        static_cast<metrics::ClassMetric*>(&f1)})
    metric->update(probabilities, targets);
  expect_values(precision.compute(), {1});
  expect_values(recall.compute(), {0.6});
  expect_values(f1.compute(), {0.75});
  Accuracy strict(AccuracyOptions().threshold(0.85));
  strict.update(probabilities, targets.to(kBool));
  expect_values(strict.compute(), {0.5});
}

TEST(ClassMetrics, LeaveOutClassesThatNobodyMet) {
  const auto targets = classes({0, 0, 1, 1}), predictions = classes({0, 1, 1, 1});
  F1Score mean(3), each(ClassMetricOptions(3).average(Average::None));
  mean.update(predictions, targets), each.update(predictions, targets);
  expect_values(mean.compute(), {0.7333333333333334}, 1e-14);
  expect_values(each.compute(), {2.0 / 3, 0.8, 0}, 1e-14);
}

TEST(Accuracy, OfTheFirstK) {
  const Tensor scores = tensor({.1, .5, .4, .6, .3, .1, .2, .3, .5, .4, .35, .25}).view({4, 3});
  for (const Device device : cpu_and_cuda()) {
    const Tensor targets = classes({2, 0, 0, 1}, device);
    const std::vector<double> expected = {0.25, 0.75, 1};
    for (int64_t k = 1; k <= 3; ++k) {
      Accuracy accuracy(AccuracyOptions().top_k(k));
      accuracy.update(scores.to(device), targets);
      expect_values(accuracy.compute(), {expected[static_cast<size_t>(k - 1)]});
    }
  }
}

TEST(Accuracy, OfManyPlacesIsThatOfTheirList) {
  manual_seed(4);
  const Tensor scores = randn({3, 5, 2, 4}), targets = randint(5, {3, 2, 4});
  Accuracy places, list, top_places(AccuracyOptions().top_k(2)),
      top_list(AccuracyOptions().top_k(2));
  places.update(scores, targets), top_places.update(scores, targets);
  const Tensor rows = scores.movedim(1, -1).reshape({-1, 5});
  list.update(rows, targets.reshape({-1})), top_list.update(rows, targets.reshape({-1}));
  EXPECT_EQ(places.compute().item<double>(), list.compute().item<double>());
  EXPECT_EQ(top_places.compute().item<double>(), top_list.compute().item<double>());
}

TEST(ClassMetrics, LeaveOutTheIgnoredIndex) {
  const auto targets = classes({0, -100, 1, -100, 1}), predictions = classes({0, 1, 1, 0, 0});
  Accuracy accuracy(AccuracyOptions().ignore_index(-100));
  ConfusionMatrix matrix(ConfusionMatrixOptions(2).ignore_index(-100));
  accuracy.update(predictions, targets), matrix.update(predictions, targets);
  expect_values(accuracy.compute(), {2.0 / 3});
  expect_values(matrix.compute(), {1, 0, 1, 1});
  accuracy.reset();
  accuracy.update(predictions.narrow(0, 1, 1), targets.narrow(0, 1, 1));
  expect_error<Error>([&] { accuracy.compute(); }, "nothing was counted");
}

TEST(ClassMetrics, ForgetAtReset) {
  Accuracy accuracy;
  ConfusionMatrix matrix(3);
  update_all(accuracy, kCPU), update_all(matrix, kCPU);
  accuracy.reset(), matrix.reset();
  expect_error<Error>([&] { accuracy.compute(); },
                      "Accuracy.compute: nothing was counted; call update() first");
  accuracy.update(classes({1}), classes({1})), matrix.update(classes({1}), classes({1}));
  expect_values(accuracy.compute(), {1});
  EXPECT_EQ(matrix.compute().sum().item<int64_t>(), 1);
}

TEST(ClassMetrics, RecordNoGraph) {
  const Tensor scores = randn({4, 3}).requires_grad_();
  Accuracy accuracy;
  F1Score f1(3);
  accuracy.update(scores, classes({0, 1, 2, 0})), f1.update(scores, classes({0, 1, 2, 0}));
  EXPECT_FALSE(accuracy.compute().requires_grad());
  EXPECT_FALSE(f1.compute().requires_grad());
}

TEST(ClassMetrics, SayWhatIsWrong) {
  Accuracy accuracy;
  ConfusionMatrix matrix(3);
  accuracy.update(classes({0, 1}), classes({0, 0}));
  expect_error<ValueError>(
      [&] {
        accuracy.update(randn({4, 3}), classes({1, 2}));
      },
      "Accuracy.update: preds has the shape [4, 3] and target [2]; expected scores (N, C, ...) for "
      "targets (N, ...), or one prediction for each target");
  expect_error<TypeError>([&] { accuracy.update(randn({2}), randn({2})); },
                          "Accuracy.update: target has dtype float32, expected class numbers; "
                          "convert it with .to(kLong)");
  expect_error<IndexError>(
      [&] {
        accuracy.update(randn({2, 3}), classes({0, 3}));
      },
      "Accuracy.update: target holds the class 3; expected 0 to 2");
  expect_error<IndexError>(
      [&] {
        matrix.update(classes({0, -1}), classes({0, 1}));
      },
      "ConfusionMatrix.update: preds holds the class -1; expected 0 to 2");
  expect_error<ValueError>(
      [&] {
        matrix.update(randn({2, 4}), classes({0, 1}));
      },
      "preds has 4 classes, expected the 3 of num_classes");
  expect_error<ValueError>([] { Accuracy zero(AccuracyOptions().top_k(0)); }, "top_k is 0");
  expect_error<ValueError>(
      [] {
        Accuracy four(AccuracyOptions().top_k(4));
        four.update(randn({2, 3}), classes({0, 1}));
      },
      "top_k is 4 and preds has 3 classes");
  expect_error<ValueError>([] { ConfusionMatrix one(1); }, "num_classes is 1, expected 2 or more");
  expect_error<ValueError>([] { F1Score f1(ClassMetricOptions(3).average(Average::Binary)); },
                           "F1Score: Average::Binary is for 2 classes, and num_classes is 3");
  expect_error<ValueError>([] { FBetaScore f(0, 3); }, "FBetaScore: beta is 0");
  Recall recall(3);
  expect_error<IndexError>([&] { recall.update(classes({0}), classes({3})); },
                           "Recall.update: target holds the class 3");
  expect_error<Error>([&] { recall.compute(); }, "Recall.compute: nothing was counted");
  expect_error<ValueError>([] { Precision one(1); }, "Precision: num_classes is 1");
  expect_values(accuracy.compute(), {0.5});  // as before the errors
}

}  // namespace
}  // namespace gradus
