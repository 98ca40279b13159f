// Recorded changes in place of views and of their bases, and as_strided, which replays any view.
#include "gradus/autograd/engine/as_strided.h"
#include "gradus/autograd/engine/meta.h"
#include "gradus/autograd/tools/gradcheck.h"
#include "gradus/compat/torch/csrc/autograd/variable.h"
#include "gradus/tensor/raw/raw.h"
#include "tests/random.h"
#include "tests/support.h"

namespace gradus {
namespace {

using autograd::gradcheck, autograd::gradgradcheck;
using test::pick;

Tensor doubles(IntArrayRef sizes) { return rand(sizes, dtype(kDouble).requires_grad(true)) + 0.5; }

void expect_differentiable(const autograd::CheckedFunction& f, const Tensors& inputs) {
  EXPECT_TRUE(gradcheck(f, inputs));
  EXPECT_TRUE(gradgradcheck(f, inputs));
}

TEST(ViewInPlace, RewritesTheHistoryOfTheBaseAndOfAllItsViews) {
  const Tensor leaf = tensor({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}, requires_grad());
  const Tensor x = leaf * 1;
  Tensor row = x[0];
  const Tensor column = x.select(1, 1), other = x[1];
  row.mul_(tensor({2.0, 3.0, 4.0}));
  expect_values(x, {2, 6, 12, 4, 5, 6});
  EXPECT_EQ(x.grad_fn()->name(), "torch::autograd::CopySlices");
  for (const Tensor& view : {row, column, other}) {
    EXPECT_EQ(view.grad_fn()->name(), "AsStridedBackward0");
    EXPECT_EQ(view.grad_fn()->next_edge(0).function, x.grad_fn());
  }
  (column.sum() + 10 * other.sum() + 100 * row.sum()).backward();
  expect_values(leaf.grad(), {200, 303, 400, 10, 11, 10});
}

TEST(ViewInPlace, OnTheBaseReachesViewsTakenBefore) {
  const Tensor leaf = tensor({1.0, 2.0, 3.0}, requires_grad());
  Tensor x = leaf * 1;
  const Tensor view = x.narrow(0, 1, 2);
  x.mul_(leaf);
  EXPECT_EQ(view.grad_fn()->name(), "AsStridedBackward0");
  view.sum().backward();
  expect_values(leaf.grad(), {0, 4, 6});
}

TEST(ViewInPlace, MakesAPlainBaseAndItsViewsPartOfTheGraph) {
  const Tensor w = tensor({2.0, 3.0}, requires_grad());
  const Tensor base = ones({2, 2});
  Tensor view = base[1];
  const Tensor before = base.select(1, 0);
  view.copy_(w);
  EXPECT_TRUE(base.requires_grad());
  EXPECT_FALSE(base.is_leaf());
  EXPECT_TRUE(before.requires_grad());
  EXPECT_FALSE(base.grad_fn()->next_edge(0).is_valid());
  (base.sum() + before.sum()).backward();
  expect_values(w.grad(), {2, 1});
}

TEST(ViewInPlace, OverwritingStopsGradientsOfTheOldElements) {
  const Tensor leaf = ones({3}, requires_grad());
  const auto overwritten = [&](auto change) {
    autograd::clear_grad(leaf, true);
    const Tensor x = leaf * 2;
    Tensor part = x.narrow(0, 1, 1);
    change(part);
    EXPECT_TRUE(x.requires_grad());
    (x * 3).sum().backward();
    expect_values(leaf.grad(), {6, 0, 6});
  };
  overwritten([](Tensor& part) { part.zero_(); });
  overwritten([](Tensor& part) { part.fill_(7); });
  overwritten([](Tensor& part) { part.copy_(ones({1})); });
  overwritten([](Tensor& part) { part.uniform_(); });
  overwritten([](Tensor& part) { part.normal_(); });
}

TEST(InPlaceOverwrite, OfAWholeTensorKeepsItInTheGraphWithZeroGradient) {
  const Tensor leaf = ones({2}, requires_grad());
  const auto node_after = [&](auto change) {
    autograd::clear_grad(leaf, true);
    Tensor x = leaf * 2;
    change(x);
    const std::string name = x.grad_fn()->name();
    x.sum().backward();
    expect_values(leaf.grad(), {0, 0});
    return name;
  };
  EXPECT_EQ(node_after([](Tensor& x) { x.zero_(); }), "ZeroBackward0");
  EXPECT_EQ(node_after([](Tensor& x) { x.fill_(3); }), "FillBackward0");
  EXPECT_EQ(node_after([](Tensor& x) { x.copy_(ones({2})); }), "torch::autograd::CopyBackwards");
  EXPECT_EQ(node_after([](Tensor& x) { x.uniform_(); }), "UniformBackward0");
  EXPECT_EQ(node_after([](Tensor& x) { x.normal_(); }), "NormalBackward0");
}

TEST(InPlaceOverwrite, OfAnIntegerTensorRecordsNothing) {
  Tensor x = zeros({2}, kLong);
  x.copy_(ones({2}, requires_grad()));
  EXPECT_FALSE(x.requires_grad());
  expect_values(x, {1, 1});
}

TEST(ViewInPlace, ChainsOfViewsAndChangesHaveTheRightDerivatives) {
  expect_differentiable(
      [](const Tensors& in) {
        const Tensor x = in[0] * 1;
        Tensor corner = x.transpose(0, 1).narrow(0, 1, 2).select(1, 0);
        corner.mul_(in[1]);
        Tensor all = x.view({6});
        all.sin_();
        Tensor last = all.narrow(0, 4, 2);
        last.copy_(in[1] * last.clone());
        return Tensors{x * in[0], corner};
      },
      {doubles({2, 3}), doubles({2})});
}

TEST(ViewInPlace, OfABaseWithStridesOfItsOwn) {
  expect_differentiable(
      [](const Tensors& in) {
        Tensor base = empty({3, 2}, kDouble).transpose(0, 1).detach();
        base.copy_(in[0]);
        Tensor part = base.narrow(1, 1, 2);
        part.mul_(in[0].narrow(1, 0, 2));
        return Tensors{base * base};
      },
      {doubles({2, 3})});
}

// A random program of views and changes in place, and the same with new tensors in their place.
TEST(ViewInPlace, AgreesWithNewTensorsOnRandomPrograms) {
  for (int round = 0; round < 60; ++round) {
    const Tensor leaf = doubles({4, 3}).detach().requires_grad_();
    const Tensor twin = leaf.detach().clone().requires_grad_();
    const Tensor base = leaf * 1;
    Tensor expected = twin * 1;
    std::vector<Tensor> views{base};
    for (int step = 0; step < 5; ++step) {
      const int64_t row = pick(0, 3), length = pick(1, 4 - row);
      Tensor view = base.narrow(0, row, length);
      if (pick(0, 1)) view = view.transpose(0, 1).narrow(1, 0, 1).transpose(0, 1);
      const int64_t rows = view.size(0);
      views.push_back(view);
      const Tensor mask = zeros({4, 1}, kDouble);
      mask.narrow(0, row, rows).fill_(1);
      switch (pick(0, 2)) {
        case 0:
          view.mul_(1.5);
          expected = expected * (1 - mask) + expected * 1.5 * mask;
          break;
        case 1:
          view.sin_();
          expected = expected * (1 - mask) + expected.sin() * mask;
          break;
        default:
          view.zero_();
          expected = expected * (1 - mask);
      }
      if (pick(0, 1)) {
        Tensor whole = base;
        whole.add_(1);
        expected = expected + 1;
      }
    }
    Tensor sum = (base * base).sum();
    for (const Tensor& view : views) sum = sum + view.sum();
    Tensor expected_sum = (expected * expected).sum();
    for (const Tensor& view : views)
      expected_sum = expected_sum +
                     expected.as_strided(view.sizes(), view.strides(), view.storage_offset()).sum();
    sum.backward();
    expected_sum.backward();
    EXPECT_LT((leaf.grad() - twin.grad()).abs().max().item<double>(), 1e-12);
  }
}

TEST(ViewInPlace, IsRefusedOnViewsOfALeafThatRequiresGrad) {
  const Tensor x = ones({2, 2}, requires_grad());
  Tensor row = x[0], all = x.view({4}), leaf = x;
  expect_error<Error>([&] { row.mul_(2); },
                      "a view of a leaf Variable that requires grad is being");
  expect_error<Error>([&] { all.fill_(2); },
                      "a view of a leaf Variable that requires grad is being");
  expect_error<Error>([&] { leaf.mul_(2); }, "a leaf Variable that requires grad is being used");
  expect_values(x, {1, 1, 1, 1});
  EXPECT_EQ(x._version(), 0u);
  const NoGradGuard guard;
  row.mul_(2);
  expect_values(x, {2, 2, 1, 1});
}

TEST(ViewInPlace, IsRefusedOnAViewMadeWithoutGrad) {
  const Tensor w = ones({2}, requires_grad());
  for (const bool tracked : {false, true}) {
    const Tensor base = tracked ? w * ones({2, 2}) : ones({2, 2});
    Tensor view;
    {
      const NoGradGuard guard;
      view = base[0];
    }
    EXPECT_EQ(view.requires_grad(), tracked);
    EXPECT_TRUE(view.is_leaf());
    EXPECT_TRUE(view.is_view());
    expect_error<Error>([&] { view.mul_(w); }, "A view was created in no_grad mode and is being");
    expect_values(base, {1, 1, 1, 1});
    if (!tracked) view.mul_(2);
  }
}

TEST(ViewInPlace, AViewMadeWithoutGradCannotFollowItsBase) {
  const Tensor w = ones({2}, requires_grad());
  Tensor base = ones({2});
  Tensor view;
  {
    const NoGradGuard guard;
    view = base.narrow(0, 0, 1);
  }
  base.mul_(w);
  expect_error<Error>([&] { view * 2; }, "its base or another view of its base has been modified");
}

TEST(ViewInPlace, IsRefusedOnAnOutputOfSeveral) {
  const Tensor w = ones({2}, requires_grad());
  Tensor part = (w * 1).narrow(0, 0, 1);
  part.impl().creation_meta = autograd::CreationMeta::MULTI_OUTPUT_NODE;
  expect_error<Error>([&] { part.mul_(2); },
                      "Output 0 of SliceBackward0 is a view and is being modified inplace");
  // The same holds for a view of it.
  Tensor deeper = part.view({1, 1});
  expect_error<Error>([&] { deeper.mul_(2); }, "returns multiple views");
}

TEST(ViewInPlace, TellsLibtorchsProgramsHowAViewWasMade) {
  const Tensor x = ones({2});
  EXPECT_FALSE(autograd::impl::get_view_autograd_meta(x));
  const NoGradGuard guard;
  const auto meta = autograd::impl::get_view_autograd_meta(x.narrow(0, 0, 1));
  ASSERT_TRUE(meta && meta->has_bw_view());
  EXPECT_EQ(meta->get_creation_meta(), autograd::CreationMeta::NO_GRAD_MODE);
}

TEST(ViewInPlace, DetachIsNoViewAndSharesTheVersion) {
  const Tensor x = ones({2}, requires_grad()) * 1;
  Tensor d = x.detach();
  EXPECT_FALSE(d.is_view());
  Tensor part = d.narrow(0, 0, 1);
  const Tensor w = ones({1}, requires_grad());
  part.mul_(w);
  EXPECT_EQ(x._version(), 1u);
  EXPECT_TRUE(d.requires_grad());
  EXPECT_EQ(x.grad_fn()->name(), "MulBackward0");
  expect_error<Error>([&] { x.narrow(0, 0, 1).detach_(); }, "cannot be detached in place");
  expect_error<Error>([&] { x._base(); }, "is not a view");
  EXPECT_TRUE(part._base().is_same(d));
}

TEST(ViewInPlace, RetainGradMovesToTheChangedTensor) {
  const Tensor x = ones({2}, requires_grad()) * 1;
  Tensor part = x.narrow(0, 0, 1);
  part.retain_grad();
  part.mul_(3);
  (x * 5).sum().backward();
  EXPECT_TRUE(part.retains_grad());
  EXPECT_FALSE(part.grad().defined());  // nobody read the changed view
  Tensor y = ones({1}, requires_grad()) * 1;
  y.retain_grad();
  y.mul_(3);
  (y * 5).sum().backward();
  expect_values(y.grad(), {5});
}

TEST(AsStrided, HasTheRightDerivativesWhereItOverlapsItself) {
  const auto check_both = [](const Tensor& x, Dims size, Dims stride, int64_t offset) {
    expect_differentiable(
        [=](const Tensors& in) {
          return Tensors{(in[0] * 1).as_strided(size, stride, offset).sin()};
        },
        {x});
  };
  check_both(doubles({6}), {2, 2}, {3, 1}, 1);
  check_both(doubles({6}), {3, 3}, {1, 1}, 0);  // overlapping windows
  check_both(doubles({2, 3}), {2, 4}, {1, 0}, 2);
  check_both(doubles({2, 3}), {}, {}, 5);
  check_both(doubles({2, 3}), {0, 3}, {1, 1}, 0);
}

TEST(AsStrided, SharesTheGradientAmongIndicesOfOneElement) {
  // PyTorch's values: the memory of x holds two elements, each seen three times.
  const Tensor x = tensor({1.0, 2.0}).unsqueeze(0).expand({3, 2}).detach().requires_grad_();
  x.as_strided({2}, {1}, 0).mul(tensor({6.0, 9.0})).sum().backward();
  expect_values(x.grad(), {2, 3, 2, 3, 2, 3});
}

TEST(AsStrided, ChecksItsArguments) {
  const Tensor x = ones({6});
  expect_error<ValueError>([&] { x.as_strided({2}, {1, 1}); }, "differ in length");
  expect_error<ValueError>([&] { x.as_strided({2}, {-1}); }, "negative entry");
  expect_error<ValueError>([&] { x.as_strided({2}, {1}, -1); }, "storage_offset -1 is negative");
  expect_error<ValueError>([&] { x.as_strided({3, 2}, {2, 2}); }, "has 6");
  expect_error<ValueError>(
      [&] {
        x.as_strided({1 << 30, 1 << 30}, {1LL << 40, 1LL << 40});
      },
      "has 6");
  EXPECT_EQ(x.narrow(0, 2, 2).as_strided({2}, {1}).storage_offset(), 2);
}

TEST(FillDiagonal, FillsAndForgetsTheOldElements) {
  // PyTorch's values.
  expect_values(zeros({3, 2}).fill_diagonal_(5), {5, 0, 0, 5, 0, 0});
  expect_values(zeros({2, 3}).t().fill_diagonal_(5), {5, 0, 0, 5, 0, 0});
  expect_values(zeros({5, 2}).fill_diagonal_(1, /*wrap=*/true), {1, 0, 0, 1, 0, 0, 1, 0, 0, 1});
  expect_values(zeros({4, 2}).fill_diagonal_(1, true), {1, 0, 0, 1, 0, 0, 1, 0});
  expect_values(zeros({2, 2, 2}).fill_diagonal_(3), {3, 0, 0, 0, 0, 0, 0, 3});
  const Tensor leaf = ones({2, 2}, requires_grad());
  Tensor x = leaf * 2;
  x.fill_diagonal_(7).sum().backward();
  expect_values(leaf.grad(), {0, 2, 2, 0});
  expect_error<ValueError>([] { ones({3}).fill_diagonal_(1); }, "at least two dimensions");
  expect_error<ValueError>([] { ones({2, 2, 3}).fill_diagonal_(1); }, "expected equal sizes");
}

}  // namespace
}  // namespace gradus
