// Losses and distances: formulas at their corners, gradients, buffers, texts and errors.
#include "gradus/autograd/tools/gradcheck.h"
#include "gradus/tensor/base/warning.h"
#include "tests/support.h"

namespace gradus {
namespace {

namespace F = nn::functional;

TEST(L1Loss, IsTheDistance) {
  const Tensor x = tensor({1.0, -2.0, 4.0}), y = tensor({2.5, -2.0, 1.0});
  expect_values(nn::L1Loss(nn::L1LossOptions(kNone))(x, y), {1.5, 0, 3});
  expect_values(F::l1_loss(x, y, F::L1LossFuncOptions().reduction(kSum)), {4.5});
  expect_values(l1_loss(x, y), {1.5});
  expect_values(l1_loss(x, y, kSum), {4.5});
  const Tensor leaf = x.clone().requires_grad_();
  l1_loss(leaf, y, kSum).backward();
  expect_values(leaf.grad(), {-1, 0, 1});
}

// The exact losses of numbers whose sigmoid is 0 or 1 in float32.
TEST(BCEWithLogitsLoss, KeepsItsDigitsForLargeLogits) {
  const Tensor x = tensor({40.0f, -40.0f, 1000.0f, -1000.0f, 0.0f});
  const Tensor hit = tensor({1.0f, 0.0f, 1.0f, 0.0f, 1.0f});
  const double tiny = std::exp(-40.0);
  const Tensor right = binary_cross_entropy_with_logits(x, hit, {}, {}, kNone);
  const std::vector<double> got = to_vector(right);
  EXPECT_NEAR(got[0] / tiny, 1, 1e-5);
  EXPECT_NEAR(got[1] / tiny, 1, 1e-5);
  EXPECT_EQ(got[2], 0);
  EXPECT_EQ(got[3], 0);
  EXPECT_NEAR(got[4], std::log(2), 1e-7);
  expect_values(binary_cross_entropy_with_logits(x, 1 - hit, {}, {}, kNone),
                {40, 40, 1000, 1000, std::log(2)});
  const Tensor leaf = x.clone().requires_grad_();
  binary_cross_entropy_with_logits(leaf, 1 - hit, {}, tensor({3.0f}), kSum).backward();
  expect_values(leaf.grad(), {1, -3, 1, -3, 0.5});
}

TEST(BCEWithLogitsLoss, HasTheGradientsOfItsFormula) {
  const Tensor x = tensor({{-1.5, 0.25, 3.0}, {0.5, -0.75, 2.0}}, kDouble).requires_grad_();
  const Tensor y = tensor({{0.0, 1.0, 0.3}, {1.0, 0.6, 0.0}}, kDouble).requires_grad_();
  const Tensor weight = tensor({0.5, 2.0, 1.5}, kDouble),
               pos_weight = tensor({{3.0}, {0.5}}, kDouble);
  for (const Reduction reduction : {kNone, kMean, kSum}) {
    const nn::BCEWithLogitsLoss loss(
        nn::BCEWithLogitsLossOptions().weight(weight).pos_weight(pos_weight).reduction(reduction));
    const auto f = [&](const Tensors& in) { return Tensors{loss(in[0], in[1])}; };
    EXPECT_TRUE(autograd::gradcheck(f, {x, y}));
    EXPECT_TRUE(autograd::gradgradcheck(f, {x, y}));
    const nn::L1Loss l1(reduction);
    EXPECT_TRUE(
        autograd::gradcheck([&](const Tensors& in) { return Tensors{l1(in[0], in[1])}; }, {x, y}));
  }
}

TEST(BCEWithLogitsLoss, ItsWeightsAreBuffersOfTheModuleAlone) {
  const Tensor weight = tensor({1.0f, 3.0f}), pos_weight = tensor({2.0f, 4.0f});
  nn::BCEWithLogitsLoss loss(
      nn::BCEWithLogitsLossOptions().weight(weight).pos_weight(pos_weight).reduction(kNone));
  EXPECT_EQ(loss->named_buffers().keys(), (std::vector<std::string>{"weight", "pos_weight"}));
  EXPECT_EQ(nn::BCEWithLogitsLoss()->buffers().size(), 0u);
  const auto copy = std::dynamic_pointer_cast<nn::BCEWithLogitsLossImpl>(loss->clone());
  copy->pos_weight.fill_(1);
  copy->weight.fill_(1);
  loss->to(kDouble);
  EXPECT_EQ(loss->pos_weight.dtype(), kDouble);
  EXPECT_EQ(pos_weight.dtype(), kFloat);
  const Tensor x = zeros({2}), y = ones({2});
  const double ln2 = std::log(2);
  expect_values(loss(x, y), {2 * ln2, 12 * ln2});
  expect_values(copy->forward(x, y), {ln2, ln2});
  expect_values(weight, {1, 3});
}

// At 0 and 1 the logarithm is cut off, and the gradient's divisor too.
TEST(BCELoss, IsFiniteForCertainAnswers) {
  const Tensor x = tensor({0.0, 1.0, 1.0, 0.0, 0.5}, kDouble).requires_grad_();
  const Tensor y = tensor({0.0, 1.0, 0.0, 1.0, 0.25}, kDouble).requires_grad_();
  const Tensor losses = binary_cross_entropy(x, y, {}, kNone);
  const double ln2 = std::log(2);
  expect_values(losses, {0, 0, 100, 100, ln2});
  losses.sum().backward();
  expect_values(x.grad(), {0, 0, 1e12, -1e12, 1});
  expect_values(y.grad(), {100, -100, -100, 100, 0});

  const Tensor half = tensor({0.0, 1.0}, kDouble).to(kHalf).requires_grad_();
  binary_cross_entropy(half, half.detach(), {}, kNone).sum().backward();
  expect_values(half.grad(), {0, 0});
}

TEST(SmoothL1Loss, TakesBetaFromItsOptionsOrBesideThem) {
  const Tensor x = tensor({0.0, 1.0, 4.0}), y = zeros({3});
  expect_values(smooth_l1_loss(x, y, kNone), {0, 0.5, 3.5});
  expect_values(smooth_l1_loss(x, y, kNone, 2), {0, 0.25, 3});
  expect_values(smooth_l1_loss(x, y, kNone, 0), {0, 1, 4});
  expect_values(F::smooth_l1_loss(x, y, F::SmoothL1LossFuncOptions(kNone), 2), {0, 0.25, 3});
  expect_error<ValueError>(
      [&] { F::smooth_l1_loss(x, y, F::SmoothL1LossFuncOptions().beta(1), 2); },
      "smooth_l1_loss: beta is 2, and the options have one too; leave one out");
}

TEST(KLDivLoss, BatchMeanDividesByTheBatchAndMeanWarnsOnce) {
  const Tensor x = tensor({{-1.0, -2.0}, {-0.5, -1.5}}), y = tensor({{0.5, 0.5}, {0.0, 1.0}});
  const double sum = 2 * 0.5 * std::log(0.5) + 1.5 + 1.5;
  expect_values(nn::KLDivLoss(kBatchMean)(x, y), {sum / 2});
  expect_values(kl_div(x[0][0], y[1][1], kBatchMean), {1});
  const Warning::WarnAlways always;
  struct Notes : WarningHandler {
    void process(const SourceLocation&, const std::string& message, bool) override {
      text += message;
    }
    std::string text;
  } notes;
  Warning::set_warning_handler(&notes);
  kl_div(x, y);
  Warning::set_warning_handler(nullptr);
  EXPECT_EQ(notes.text.find("kl_div: kMean divides by the number of elements; kBatchMean"), 0u);
}

// PyTorch's gradient: that at eps.
TEST(GaussianNLLLoss, PassesTheGradientOfAVarianceBelowEps) {
  const Tensor var = tensor({0.0, 0.25}).requires_grad_(), input = ones({2}, kDouble);
  gaussian_nll_loss(input, zeros_like(input), var, false, 0.5).backward();
  expect_values(var.grad(), {-0.5, -0.5});
}

TEST(GaussianNLLLoss, ExplainsItsArguments) {
  const Tensor x = ones({2, 3}), none;
  expect_error<ValueError>(
      [&] {
        gaussian_nll_loss(x, x, ones({2, 2}));
      },
      "gaussian_nll_loss: var is of incorrect size [2, 2] for an input of "
      "[2, 3]; give it that shape");
  expect_error<ValueError>([&] { gaussian_nll_loss(x, x, ones({3})); },
                           "gaussian_nll_loss: var is of incorrect size [3]");
  expect_error<ValueError>([&] { gaussian_nll_loss(x, x, x - 2); },
                           "gaussian_nll_loss: var has negative entry/entries");
  expect_error<ValueError>([&] { gaussian_nll_loss(x, x, x, false, 0); },
                           "gaussian_nll_loss: eps is 0, expected a variance");
  expect_error<ValueError>([&] { gaussian_nll_loss(x, x, none); },
                           "gaussian_nll_loss: var is undefined, expected a tensor");
  expect_error<ValueError>([&] { gaussian_nll_loss(x, ones({3}), x); },
                           "gaussian_nll_loss: Target size ([3]) must be the same");
}

TEST(TripletMarginWithDistanceLoss, CallsItsDistance) {
  int calls = 0;
  using Options = nn::TripletMarginWithDistanceLossOptions;
  const Options::distance_function_t distance = [&](const Tensor& x, const Tensor& y) {
    ++calls;
    return (x - y).abs().sum(-1);
  };
  const Tensor a = zeros({1, 2}), b = tensor({{3.0f, 0.0f}}), c = tensor({{0.0f, 4.0f}});
  nn::TripletMarginWithDistanceLoss loss(
      Options().distance_function(distance).margin(2).swap(true).reduction(kNone));
  expect_values(loss(a, b, c), {1});
  EXPECT_EQ(calls, 3);
}

TEST(MultiLabelMarginLoss, ReadsARowUpToItsFirstNegativeNumber) {
  const Tensor x = tensor({0.1, 0.2, 0.4, 0.8});
  const double loss =
      0.25 * ((1 - (0.1 - 0.2)) + (1 - (0.1 - 0.4)) + (1 - (0.8 - 0.2)) + (1 - (0.8 - 0.4)));
  expect_values(multilabel_margin_loss(x, tensor({3, 0, -1, 1})), {loss});
  expect_values(multilabel_margin_loss(x, tensor({3, 0, -7, 9})), {loss});
  expect_values(multilabel_margin_loss(x, tensor({-1, 0, 1, 2})), {0});
}

TEST(Losses, PrintTheOptionsThatLibtorchPrints) {
  const auto text = [](const auto& module) {
    std::ostringstream out;
    out << module;
    return out.str();
  };
  EXPECT_EQ(text(nn::SmoothL1Loss()), "gradus::nn::SmoothL1Loss()");
  EXPECT_EQ(text(nn::MarginRankingLoss(nn::MarginRankingLossOptions().margin(2))),
            "gradus::nn::MarginRankingLoss()");
  EXPECT_EQ(text(nn::HingeEmbeddingLoss(nn::HingeEmbeddingLossOptions().margin(4))),
            "gradus::nn::HingeEmbeddingLoss(margin=4)");
  EXPECT_EQ(text(nn::TripletMarginLoss(nn::TripletMarginLossOptions().swap(true))),
            "gradus::nn::TripletMarginLoss(margin=1, p=2, eps=1e-06, swap=true)");
  EXPECT_EQ(text(nn::TripletMarginWithDistanceLoss()),
            "gradus::nn::TripletMarginWithDistanceLoss(margin=1, swap=false)");
  EXPECT_EQ(text(nn::MultiMarginLoss()),
            "gradus::nn::MultiMarginLoss(p=1, margin=1, weight=[ Tensor (undefined) ], "
            "reduction=kMean)");
  EXPECT_EQ(text(nn::CosineSimilarity()), "gradus::nn::CosineSimilarity(dim=1, eps=1e-08)");
  EXPECT_EQ(text(nn::PairwiseDistance()),
            "gradus::nn::PairwiseDistance(p=2, eps=1e-06, keepdim=false)");
}

TEST(Losses, ExplainWhatDoesNotFit) {
  const Tensor x = ones({2, 3});
  expect_error<ValueError>([&] { l1_loss(x, ones({3})); },
                           "l1_loss: Target size ([3]) must be the same as input size ([2, 3])");
  expect_error<ValueError>(
      [&] {
        nn::BCEWithLogitsLoss()(x, ones({3, 2}));
      },
      "binary_cross_entropy_with_logits: Target size ([3, 2]) must be the same as input size");
  expect_error<ValueError>(
      [&] { binary_cross_entropy_with_logits(x, x, ones({2})); },
      "binary_cross_entropy_with_logits: weight has shape [2], which does not broadcast to input's "
      "[2, 3]; reshape it");
  expect_error<ValueError>(
      [&] {
        binary_cross_entropy_with_logits(x, x, {}, ones({4, 2, 3}));
      },
      "pos_weight has shape [4, 2, 3], which does not broadcast");
  const auto unknown = static_cast<Reduction>(7);
  expect_error<ValueError>([&] { l1_loss(x, x, unknown); },
                           "l1_loss: reduction is 7; give kNone, kMean or kSum");
  expect_error<ValueError>([&] { mse_loss(x, x, unknown); }, "mse_loss: reduction is 7");
  expect_error<ValueError>([&] { nll_loss(x, tensor({0, 1}), {}, unknown); }, "reduction is 7");
}

TEST(Losses, ExplainTheirOptions) {
  const Tensor x = ones({2, 3});
  expect_error<ValueError>([&] { smooth_l1_loss(x, x, kMean, -1); },
                           "smooth_l1_loss: beta is -1, expected a distance; give 0 or more");
  expect_error<ValueError>([&] { huber_loss(x, x, kMean, 0); },
                           "huber_loss: delta is 0, expected a distance; give a positive number");
  expect_error<ValueError>(
      [&] {
        multi_margin_loss(x, tensor({0, 1}), 3);
      },
      "multi_margin_loss: p is 3; give 1 or 2");
  expect_error<ValueError>([&] { mse_loss(x, x, kBatchMean); },
                           "mse_loss: reduction is kBatchMean; give kNone, kMean or kSum");
  expect_error<ValueError>([&] { nn::BCELoss()(x * 2, x); },
                           "binary_cross_entropy: input holds numbers outside of [0, 1]");
  expect_error<ValueError>([&] { binary_cross_entropy(x * NAN, x); },
                           "binary_cross_entropy: input holds numbers outside of [0, 1]");
}

// As torch::binary_cross_entropy; the function of nn takes one shape alone.
TEST(Losses, BinaryCrossEntropySqueezesTheTarget) {
  const Tensor p = tensor({0.5, 0.25}), y = tensor({1.0, 0.0});
  for (const Tensor& target : {y, y.view({1, 2})}) {
    const Tensor losses = binary_cross_entropy(p.view({2, 1}), target, {}, kNone);
    EXPECT_EQ(losses.sizes(), IntArrayRef({2, 1}));
    expect_values(losses, {std::log(2.0), -std::log(0.75)});
  }
  expect_error<ValueError>(
      [&] {
        nn::functional::binary_cross_entropy(p.view({2, 1}), y);
      },
      "Target size ([2]) must be the same as input size ([2, 1])");
}

TEST(Losses, ExplainTheirShapes) {
  const Tensor x = ones({2, 3}), row = ones({3}), none;
  for (const auto& [loss, name] :
       std::vector<std::pair<std::function<Tensor(const Tensor&, const Tensor&)>, std::string>>{
           {[](const Tensor&a, const Tensor&b) { return smooth_l1_loss(a, b); }, "smooth_l1_loss"},
           {[](const Tensor&a, const Tensor&b) { return huber_loss(a, b); }, "huber_loss"},
           {[](const Tensor&a, const Tensor&b) { return binary_cross_entropy(a, b); },
            "binary_cross_entropy"},
           {[](const Tensor&a, const Tensor&b) { return multilabel_margin_loss(a, b); },
            "multilabel_margin_loss"}})
    expect_error<ValueError>([&] { loss(x, row); },
                             name + ": Target size ([3]) must be the same as input size ([2, 3])");
  expect_error<ValueError>([&] { nn::KLDivLoss()(x, none); },
                           "kl_div: target is undefined, expected a tensor");
  expect_error<ValueError>([&] { nn::PoissonNLLLoss()(none, x); },
                           "poisson_nll_loss: input is undefined, expected a tensor");
  expect_error<ValueError>([&] { nn::TripletMarginLoss()(x, none, x); },
                           "triplet_margin_loss: positive is undefined, expected a tensor");
  expect_error<ValueError>([&] { triplet_margin_with_distance_loss(x, x, none); },
                           "triplet_margin_with_distance_loss: negative is undefined");
  expect_error<ValueError>(
      [&] { triplet_margin_loss(x, x, row); },
      "triplet_margin_loss: anchor has shape [2, 3], negative [3]; expected as many dimensions");
  expect_error<ValueError>([&] { margin_ranking_loss(x, row, x); },
                           "margin_ranking_loss: input1 has shape [2, 3], input2 [3]");
  expect_error<ValueError>(
      [&] { cosine_embedding_loss(row, row, ones({2})); },
      "cosine_embedding_loss: input1 has shape [3], input2 [3], target [2]; expected (N, D)");
  expect_error<ValueError>([&] { cosine_embedding_loss(x, x, x); },
                           "cosine_embedding_loss: target has shape [2, 3], expected () or (N)");
  expect_error<ValueError>([&] { multilabel_soft_margin_loss(x.sum(), x); },
                           "multilabel_soft_margin_loss: input has no dimensions");
  expect_error<ValueError>([&] { multilabel_soft_margin_loss(x, x, ones({2})); },
                           "multilabel_soft_margin_loss: weight has shape [2], which does not");
  expect_error<ValueError>([&] { nn::CosineSimilarity()(x, none); },
                           "CosineSimilarity: input2 is undefined");
}

TEST(Losses, ExplainTheirClasses) {
  const Tensor x = ones({2, 3}), classes = tensor({0, 1});
  expect_error<TypeError>([&] { multi_margin_loss(x, ones({2})); },
                          "multi_margin_loss: target has dtype float32, expected class numbers");
  expect_error<TypeError>([&] { multilabel_margin_loss(x, x); },
                          "multilabel_margin_loss: target has dtype float32");
  expect_error<ValueError>([&] { multi_margin_loss(x, tensor({0})); },
                           "multi_margin_loss: input has shape [2, 3], target [1], expected a "
                           "class number for each of 2 rows");
  expect_error<ValueError>(
      [&] {
        multi_margin_loss(ones({2, 3, 4}), classes);
      },
      "multi_margin_loss: input has shape [2, 3, 4], expected (N, C) or (C)");
  expect_error<ValueError>([&] { multi_margin_loss(x, classes, 1, 1, ones({2})); },
                           "multi_margin_loss: weight has shape [2], expected [3]");
  expect_error<IndexError>([&] { multi_margin_loss(x, tensor({0, 3})); }, "multi_margin_loss: ");
  expect_error<IndexError>(
      [&] {
        multilabel_margin_loss(x[0], tensor({3, 0, 0}));
      },
      "multilabel_margin_loss: ");
}

TEST(CTCLoss, HasNoGradientWhereATargetNeedsMoreSteps) {
  const Tensor logits = zeros({2, 1, 3}, kDouble).requires_grad_();
  const Tensor labels = tensor({{1, 1}});  // which a blank must part
  const auto loss = [&](bool zero_infinity) {
    return ctc_loss(logits.log_softmax(2), labels, {2}, {2}, 0, kSum, zero_infinity);
  };
  expect_values(loss(false), {INFINITY});
  expect_values(loss(true), {0});
  loss(true).backward();
  expect_values(logits.grad(), {0, 0, 0, 0, 0, 0});
  // A probability of 0 is as good as a missing step.
  const Tensor never = tensor({{{-INFINITY, 0.0f, -INFINITY}}});
  expect_values(ctc_loss(never, tensor({{2}}), {1}, {1}, 0, kSum), {INFINITY});
  expect_values(ctc_loss(never, tensor({{1}}), {1}, {1}, 0, kSum), {0});
  expect_values(ctc_loss(never, tensor({{1}}), tensor({0}), tensor({0}), 0, kSum), {0});
}

TEST(CTCLoss, ExplainsItsArguments) {
  const Tensor logs = zeros({4, 2, 3}).log_softmax(2), labels = tensor({{1, 2}, {2, 1}});
  const auto loss = [&](const Tensor& targets, IntArrayRef steps, IntArrayRef lengths) {
    ctc_loss(logs, targets, steps, lengths);
  };
  expect_error<ValueError>(
      [&] {
        loss(labels, {4, 5}, {2, 2});
      },
      "ctc_loss: input_lengths holds 5, expected a length of 0 to 4");
  expect_error<ValueError>(
      [&] {
        loss(labels, {4, 4}, {2, 3});
      },
      "ctc_loss: target_lengths holds 3, expected a length of 0 to 2");
  expect_error<ValueError>(
      [&] {
        loss(labels, {4}, {2, 2});
      },
      "ctc_loss: input_lengths has shape [1], expected a length for each of 2");
  expect_error<ValueError>(
      [&] {
        loss(tensor({1, 2, 1}), {4, 4}, {2, 2});
      },
      "ctc_loss: target_lengths sum to 4, targets has 3 labels");
  expect_error<ValueError>(
      [&] {
        loss(ones({3, 2}, kLong), {4, 4}, {2, 2});
      },
      "ctc_loss: targets has shape [3, 2], expected (2, S)");
  expect_error<TypeError>(
      [&] {
        loss(ones({2, 2}), {4, 4}, {2, 2});
      },
      "ctc_loss: targets has dtype float32, expected class numbers");
  expect_error<IndexError>(
      [&] {
        loss(labels + 1, {4, 4}, {2, 2});
      },
      "ctc_loss: target 3 is no class, expected 0 <= target < 3");
  expect_error<ValueError>(
      [&] {
        ctc_loss(logs, labels, {4, 4}, {2, 2}, 3);
      },
      "ctc_loss: blank is 3, expected a class, 0 <= blank < 3");
  expect_error<ValueError>(
      [&] {
        ctc_loss(logs[0][0], labels, {4, 4}, {2, 2});
      },
      "ctc_loss: log_probs has shape [3], expected (T, N, C) or (T, C)");
  expect_error<TypeError>(
      [&] {
        ctc_loss(logs, labels, ones({2}), tensor({2, 2}));
      },
      "ctc_loss: input_lengths must be integral, and has dtype float32");
  expect_error<ValueError>(
      [&] {
        nn::CTCLoss()(logs, labels, Tensor(), tensor({2, 2}));
      },
      "ctc_loss: input_lengths is undefined, expected a tensor");
}

}  // namespace
}  // namespace gradus
