// AdaptiveLogSoftmaxWithLoss: predictions, the loss, the text and the errors. PyTorch's values:
// loss.def.
#include "tests/support.h"

namespace gradus {
namespace {

using AdaptiveOptions = nn::AdaptiveLogSoftmaxWithLossOptions;

nn::AdaptiveLogSoftmaxWithLoss made() {
  manual_seed(3);
  return nn::AdaptiveLogSoftmaxWithLoss(AdaptiveOptions(8, 10, {4, 7}).div_value(2));
}

TEST(AdaptiveLogSoftmaxWithLoss, ProbabilitiesSumToOneAndAgreeWithTheOutput) {
  const nn::AdaptiveLogSoftmaxWithLoss m = made();
  const Tensor x = randn({20, 8}), target = arange(20, kLong) % 10;
  const Tensor logs = m->log_prob(x);
  EXPECT_EQ(logs.sizes(), IntArrayRef({20, 10}));
  EXPECT_TRUE(allclose(logs.exp().sum(1), ones({20})));
  const nn::ASMoutput out = m->forward(x, target);
  EXPECT_TRUE(allclose(out.output, logs.gather(1, target.unsqueeze(1)).squeeze(1)));
  EXPECT_NEAR(out.loss, -out.output.mean().item<double>(), 1e-6);
}

TEST(AdaptiveLogSoftmaxWithLoss, PredictsTheMostProbableClass) {
  const nn::AdaptiveLogSoftmaxWithLoss m = made();
  const Tensor x = randn({200, 8}) * 3, best = m->log_prob(x).argmax(1);
  EXPECT_TRUE(equal(m->predict(x), best));
  for (const auto& [low, high] : {std::pair(0, 4), std::pair(4, 10)}) {
    const Tensor rows = ((best >= low) & (best < high)).nonzero().squeeze(1);
    ASSERT_GT(rows.size(0), 0);
    EXPECT_TRUE(equal(m->predict(x.index_select(0, rows)), best.index_select(0, rows)));
  }
  EXPECT_EQ(m->predict(zeros({0, 8})).sizes(), IntArrayRef({0}));
}

TEST(AdaptiveLogSoftmaxWithLoss, HasTheMembersOfLibtorch) {
  const nn::AdaptiveLogSoftmaxWithLoss m = made();
  EXPECT_EQ(m->cutoffs, (std::vector<int64_t>{4, 7, 10}));
  EXPECT_EQ(m->shortlist_size, 4);
  EXPECT_EQ(m->n_clusters, 2);
  EXPECT_EQ(m->head_size, 6);
  std::ostringstream text;
  text << m;
  EXPECT_EQ(text.str(),
            "gradus::nn::AdaptiveLogSoftmaxWithLoss(\n"
            "  (head): gradus::nn::Linear(in_features=8, out_features=6, bias=false)\n"
            "  (tail): gradus::nn::ModuleList(\n"
            "    (0): gradus::nn::Sequential(\n"
            "      (0): gradus::nn::Linear(in_features=8, out_features=4, bias=false)\n"
            "      (1): gradus::nn::Linear(in_features=4, out_features=3, bias=false)\n"
            "    )\n"
            "    (1): gradus::nn::Sequential(\n"
            "      (0): gradus::nn::Linear(in_features=8, out_features=2, bias=false)\n"
            "      (1): gradus::nn::Linear(in_features=2, out_features=3, bias=false)\n"
            "    )\n"
            "  )\n"
            ")");
  const Tensor before = m->tail->ptr(1)->parameters()[0].clone();
  m->reset_parameters();
  EXPECT_FALSE(equal(m->tail->ptr(1)->parameters()[0], before));
}

TEST(AdaptiveLogSoftmaxWithLoss, SaysWhatIsWrong) {
  for (const std::vector<int64_t>& cutoffs :
       std::vector<std::vector<int64_t>>{{}, {3, 3}, {4, 2}, {0, 2}, {10}})
    expect_error<ValueError>(
        [&] { nn::AdaptiveLogSoftmaxWithLoss(8, 10, cutoffs); },
        "cutoffs should be a sequence of unique, positive integers sorted in an "
        "increasing order, where each value is between 1 and n_classes-1");
  expect_error<ValueError>(
      [] { nn::AdaptiveLogSoftmaxWithLoss(AdaptiveOptions(8, 10, {4}).div_value(0)); },
      "div_value should not be equal to 0");
  expect_error<ValueError>(
      [] {
        nn::AdaptiveLogSoftmaxWithLoss(AdaptiveOptions(8, 10, {4, 7}));
      },
      "cluster 1 has in_features / div_value^2 = 0 features, for 8 and 4; give a smaller "
      "div_value");
  const nn::AdaptiveLogSoftmaxWithLoss m = made();
  const Tensor x = ones({2, 8});
  expect_error<IndexError>(
      [&] {
        m->forward(x, tensor({1, 10}));
      },
      "Target values should be in [0, 9], but values in range [1, 10] were "
      "found; raise n_classes or mend the target");
  expect_error<ValueError>(
      [&] {
        m->forward(x, tensor({1, 1, 1}));
      },
      "Input and target should have the same size in the batch dimension");
  expect_error<TypeError>([&] { m->forward(x, ones({2})); }, "target has dtype float32");
  expect_error<ValueError>(
      [&] {
        m->forward(ones({2, 5}), tensor({1, 1}));
      },
      "input has shape [2, 5], expected (N, 8)");
  expect_error<ValueError>([&] { m->log_prob(Tensor()); }, "input is undefined");
}

}  // namespace
}  // namespace gradus
