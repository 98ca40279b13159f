// The losses of pairs, triples and sequences, and distances, as functions and as modules.
#include <torch/torch.h>

#include <iostream>

namespace F = torch::nn::functional;
using namespace torch::nn;

int main() {
  const auto numbers = [](double first, at::IntArrayRef sizes) {
    const auto count = sizes[0] * (sizes.size() > 1 ? sizes[1] : 1);
    return (torch::arange(count, torch::kDouble) * 0.7 + first).sin().view(sizes);
  };
  auto x = numbers(0.3, {3, 4}).requires_grad_(true);
  const auto y = numbers(1.1, {3, 4}), z = numbers(2.4, {3, 4}), chance = y.abs();
  const auto signs = torch::tensor({{1, -1, 1, 1}, {-1, -1, 1, -1}, {1, 1, -1, 1}});
  const auto sign = torch::tensor({1, -1, 1}), classes = torch::tensor({1, 0, 3});
  const auto weight = torch::tensor({0.5, 2.0, 1.0, 0.25}, torch::kDouble);
  const auto show = [&](torch::Tensor loss) {
    auto grad = torch::autograd::grad({loss.sum()}, {x}, {}, /*retain_graph=*/true)[0];
    std::cout << loss << "\n" << grad * 100 << "\n";
  };

  show(F::smooth_l1_loss(x, y, F::SmoothL1LossFuncOptions(torch::kNone)));
  show(F::smooth_l1_loss(x, y, F::SmoothL1LossFuncOptions(torch::kSum), 0.5));
  show(SmoothL1Loss(SmoothL1LossOptions(torch::kMean).beta(0.25))(x, y));
  show(torch::smooth_l1_loss(x, y, at::Reduction::Sum, 0.5));
  show(HuberLoss(HuberLossOptions(torch::kNone).delta(0.5))(x, y));
  show(F::huber_loss(x, y, F::HuberLossFuncOptions().delta(0.25).reduction(torch::kSum)));
  show(BCELoss(BCELossOptions().weight(weight).reduction(torch::kNone))(x.sigmoid(), chance));
  show(F::binary_cross_entropy(x.sigmoid(), chance, F::BinaryCrossEntropyFuncOptions()));
  show(torch::binary_cross_entropy(x.sigmoid(), chance, weight, at::Reduction::Sum));
  show(KLDivLoss(KLDivLossOptions(torch::kBatchMean))(x.log_softmax(1), y.softmax(1)));
  show(F::kl_div(x.log_softmax(1), y.log_softmax(1),
                 F::KLDivFuncOptions(torch::kSum).log_target(true)));
  show(SoftMarginLoss(SoftMarginLossOptions(torch::kSum))(x, signs));
  show(F::soft_margin_loss(x, signs));
  show(F::hinge_embedding_loss(x, signs, F::HingeEmbeddingLossFuncOptions().margin(0.5)));
  show(torch::hinge_embedding_loss(x, signs, 2, at::Reduction::None));
  show(F::poisson_nll_loss(x, chance * 4, F::PoissonNLLLossFuncOptions().full(true)));
  show(PoissonNLLLoss(PoissonNLLLossOptions().log_input(false).eps(0.1))(x.exp(), chance));
  show(torch::poisson_nll_loss(x, chance, true, false, 1e-8, at::Reduction::Sum));
  show(F::multilabel_soft_margin_loss(
      x, chance, F::MultilabelSoftMarginLossFuncOptions().weight(weight).reduction(torch::kNone)));
  show(MultiLabelSoftMarginLoss()(x, chance));

  show(MarginRankingLoss(MarginRankingLossOptions().margin(0.5))(x, y, signs));
  show(F::margin_ranking_loss(x, y, signs,
                              F::MarginRankingLossFuncOptions().reduction(torch::kSum)));
  show(torch::margin_ranking_loss(x, y, signs, 0.25, at::Reduction::None));
  show(CosineEmbeddingLoss(CosineEmbeddingLossOptions().margin(0.5))(x, y, sign));
  show(torch::cosine_embedding_loss(x, y, sign, 0.25, at::Reduction::None));
  show(TripletMarginLoss(TripletMarginLossOptions().margin(2).p(1).swap(true))(x, y, z));
  show(torch::triplet_margin_loss(x, y, z, 1.0, 2, 1e-6, false, at::Reduction::None));
  const auto distance = [](const torch::Tensor& a, const torch::Tensor& b) {
    return F::pairwise_distance(a, b, F::PairwiseDistanceFuncOptions().p(1));
  };
  show(TripletMarginWithDistanceLoss(
      TripletMarginWithDistanceLossOptions().distance_function(distance).margin(1.5))(x, y, z));
  show(F::triplet_margin_with_distance_loss(
      x, y, z, F::TripletMarginWithDistanceLossFuncOptions().swap(true).reduction(torch::kNone)));

  show(MultiMarginLoss(MultiMarginLossOptions().p(2).margin(0.5).weight(weight))(x, classes));
  show(torch::multi_margin_loss(x, classes, 1, 1, weight, at::Reduction::None));
  const auto sets = torch::tensor({{1, 2, -1, 0}, {3, -1, 0, 0}, {0, 1, 2, 3}});
  show(MultiLabelMarginLoss(MultiLabelMarginLossOptions(torch::kNone))(x, sets));
  show(F::multilabel_margin_loss(x, sets, F::MultilabelMarginLossFuncOptions(torch::kSum)));

  auto logits = x.view({3, 1, 4}).log_softmax(2);
  const auto labels = torch::tensor({{1, 3}});
  show(CTCLoss(CTCLossOptions().reduction(torch::kSum))(logits, labels, torch::tensor({3}),
                                                        torch::tensor({2})));
  show(F::ctc_loss(logits, labels, torch::tensor({2}), torch::tensor({1}),
                   F::CTCLossFuncOptions().blank(2).zero_infinity(true)));
  show(torch::ctc_loss(logits, labels, {3}, {2}, 0, at::Reduction::None));

  show(CosineSimilarity(CosineSimilarityOptions().dim(0))(x, y));
  show(PairwiseDistance(PairwiseDistanceOptions().p(1).keepdim(true))(x, y));
  show(F::pdist(x));
  show(F::pdist(x, 1));

  const auto print = [](const auto&... modules) { ((std::cout << modules << "\n"), ...); };
  print(HingeEmbeddingLoss(HingeEmbeddingLossOptions().margin(4)), CosineEmbeddingLoss(),
        TripletMarginLoss(TripletMarginLossOptions().margin(3).swap(true)),
        TripletMarginWithDistanceLoss(), MarginRankingLoss(), PoissonNLLLoss(), CTCLoss(),
        KLDivLoss(), BCELoss(), SoftMarginLoss(), MultiLabelMarginLoss(),
        MultiLabelSoftMarginLoss(), MultiMarginLoss(), CosineSimilarity(), PairwiseDistance());
  const auto refused = [](const char* name, auto f) {
    try {
      f();
      std::cout << name << ": taken\n";
    } catch (const std::exception&) {
      std::cout << name << ": refused\n";
    }
  };
  refused("beta", [&] { torch::smooth_l1_loss(x, y, at::Reduction::Mean, -1); });
  refused("delta", [&] { torch::huber_loss(x, y, at::Reduction::Mean, 0); });
  refused("probability", [&] { torch::binary_cross_entropy(x * 9, chance); });
  refused("p", [&] { torch::multi_margin_loss(x, classes, 3); });
  refused("ranks", [&] { torch::triplet_margin_loss(x, y, z[0]); });
  refused("blank", [&] { torch::ctc_loss(logits, labels, {3}, {2}, 4); });
  refused("steps", [&] { torch::ctc_loss(logits, labels, {4}, {2}); });
  refused("labels", [&] { torch::ctc_loss(logits, labels, {3}, {3}); });
}
