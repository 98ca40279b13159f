// L1Loss and BCEWithLogitsLoss: formulas, gradients, buffers and errors.
#include "gradus/autograd/tools/gradcheck.h"
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

TEST(NewLosses, ExplainWhatDoesNotFit) {
  const Tensor x = ones({2, 3});
  expect_error<ValueError>([&] { l1_loss(x, ones({3})); },
                           "l1_loss: input has shape [2, 3], target [3]; they must agree");
  expect_error<ValueError>(
      [&] {
        nn::BCEWithLogitsLoss()(x, ones({3, 2}));
      },
      "binary_cross_entropy_with_logits: input has shape [2, 3], target [3, 2]");
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
                           "l1_loss: reduction is 7, expected kNone, kMean or kSum");
  expect_error<ValueError>([&] { mse_loss(x, x, unknown); }, "mse_loss: reduction is 7");
  expect_error<ValueError>([&] { nll_loss(x, tensor({0, 1}), {}, unknown); }, "reduction is 7");
}

}  // namespace
}  // namespace gradus
