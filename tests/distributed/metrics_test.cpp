// Metric::sync: ranks that counted parts of a data set have the figure of all of it.
#include "tests/support.h"

namespace gradus {
namespace {

namespace dist = distributed;

// Every metric with its update on rows of scores and targets, and an empty rank among three.
template <class Metric, class Update>
void expect_common(const Metric& fresh, const Update& update) {
  const Tensor scores = (arange(40, kFloat) * 2.3).sin().view({10, 4});
  const Tensor targets = (arange(10) * 7).remainder(4);
  Metric whole = fresh;
  update(whole, scores, targets);
  dist::spawn_threads(3, [&](int rank) {
    Metric mine = fresh;
    const int64_t begin = rank == 0 ? 0 : 3, end = rank == 0 ? 3 : 10;
    if (rank != 1) update(mine, scores.slice(0, begin, end), targets.slice(0, begin, end));
    mine.sync(dist::Group());
    EXPECT_TRUE(allclose(mine.compute(), whole.compute(), 1e-12, 1e-12, true))
        << mine.compute() << whole.compute();
    mine.reset();
    EXPECT_THROW(mine.compute(), Error);
  });
}

TEST(MetricsOfRanks, AreThoseOfAllThatWasCounted) {
  const auto plain = [](auto& metric, const Tensor& x, const Tensor& t) { metric.update(x, t); };
  using metrics::Average;
  expect_common(metrics::Accuracy(), plain);
  expect_common(metrics::Accuracy(metrics::AccuracyOptions().top_k(2)), plain);
  expect_common(metrics::ConfusionMatrix(4), plain);
  expect_common(metrics::Precision(4), plain);
  expect_common(metrics::Recall(metrics::ClassMetricOptions(4).average(Average::None)), plain);
  expect_common(metrics::F1Score(4), plain);
  expect_common(metrics::AUROC(4), plain);
  expect_common(metrics::AUROC(2), [](auto& metric, const Tensor& x, const Tensor& t) {
    metric.update(x.select(1, 0), t.remainder(2));
  });
  expect_common(metrics::Perplexity(), plain);
  const auto regression = [](auto& metric, const Tensor& x, const Tensor& t) {
    metric.update(x, stack({t, t + 1, t * 2, t - 3}, 1));
  };
  expect_common(metrics::MeanSquaredError(), regression);
  expect_common(metrics::MeanAbsoluteError(), regression);
  expect_common(metrics::R2Score(), regression);
  expect_common(metrics::MeanMetric(), [](auto& metric, const Tensor& x, const Tensor& t) {
    metric.update(x);
    for (const double number : to_vector(t)) metric.update(number, 3);
  });
}

TEST(MetricsOfRanks, ThatDoNotAddUpSaySo) {
  dist::spawn_threads(1, [](int) {
    metrics::RunningMean mean;
    mean.update(1.0);
    expect_error<NotImplementedError>([&] { mean.sync(dist::Group()); },
                                      "sync: this metric has no figure of several ranks");
    expect_values(mean.compute(), {1});
  });
}

}  // namespace
}  // namespace gradus
