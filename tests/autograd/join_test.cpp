// Properties of cat, split and similar functions beside their values: views, nodes, changes in
// place.
#include "tests/random.h"
#include "tests/support.h"

namespace gradus {
namespace {

TEST(Split, PiecesAreViewsWithOneNode) {
  const Tensor leaf = arange(12, dtype(kDouble).requires_grad(true)).view({6, 2});
  const auto expect_node = [&](const Tensors& pieces, const std::string& name) {
    for (size_t i = 0; i < pieces.size(); ++i) {
      EXPECT_TRUE(pieces[i].is_view() && pieces[i].is_alias_of(leaf));
      EXPECT_EQ(pieces[i].grad_fn(), pieces[0].grad_fn());
      EXPECT_EQ(pieces[i].output_nr(), i);
    }
    EXPECT_EQ(pieces[0].grad_fn()->name(), name);
  };
  expect_node(leaf.split(2), "SplitBackward0");
  expect_node(leaf.chunk(3), "SplitBackward0");
  expect_node(leaf.split({1, 5}), "SplitWithSizesBackward0");
  expect_node(leaf.unbind(), "UnbindBackward0");
  EXPECT_EQ(leaf.tensor_split(3)[1].grad_fn()->name(), "SliceBackward0");
  EXPECT_EQ(cat({leaf, leaf}).grad_fn()->name(), "CatBackward0");
  EXPECT_EQ(stack({leaf, leaf}).grad_fn()->name(), "StackBackward0");
}

TEST(Split, PiecesAreNotChangedInPlaceWhereThatIsRecorded) {
  const Tensor leaf = ones({4}, requires_grad()), x = leaf * 1, plain = ones({4});
  for (Tensor piece : {x.split(2)[1], x.chunk(2)[0], x.split({1, 3})[0], x.unbind()[2]}) {
    expect_error<Error>([&] { piece.mul_(2); }, "a function that returns multiple views");
    expect_error<Error>([&] { piece.unsqueeze_(0); }, "a function that returns multiple views");
  }
  expect_error<Error>([&] { plain.unbind()[0].mul_(leaf[0]); }, "multiple views");
  plain.unbind()[0].mul_(2);
  expect_values(plain, {2, 1, 1, 1}, 0);
  x.tensor_split(2)[1].mul_(3);
  x.sum().backward();
  expect_values(leaf.grad(), {1, 1, 3, 3}, 0);
}

TEST(Split, TakesItsBordersFromATensor) {
  const Tensor x = arange(5.0);
  expect_values(x.tensor_split(tensor({1, 3}))[1], {1, 2}, 0);
  EXPECT_EQ(x.tensor_split(tensor(2)).size(), 2u);
  EXPECT_EQ(x.tensor_split(tensor({1, 9, 3}).narrow(0, 0, 2))[2].numel(), 0);
  expect_error<TypeError>([&] { x.tensor_split(tensor(2.0)); }, "has dtype float32");
  expect_error<ValueError>([&] { x.tensor_split(ones({1, 1}, kLong)); }, "has 2 dimensions");
}

TEST(Split, PiecesWithoutGradientCountAsZero) {
  for (const bool create_graph : {false, true}) {
    const Tensor leaf = ones({5}, dtype(kDouble).requires_grad(true));
    (leaf.split(2)[1] * leaf.unbind()[4]).sum().backward({}, create_graph, create_graph);
    expect_values(leaf.grad(), {0, 0, 1, 1, 2}, 0);
    leaf.mutable_grad().reset();  // with its graph, it owns the leaf
  }
}

TEST(Cat, LeavesOutInputsThatNeedNoGradient) {
  const Tensor a = ones({2, 2}, requires_grad()), b = ones({1, 2}),
               none = zeros({0}, requires_grad());
  cat({b, a, none, b}).mul(arange(8.0).view({4, 2})).sum().backward();
  expect_values(a.grad(), {2, 3, 4, 5}, 0);
  EXPECT_FALSE(b.grad().defined());
  EXPECT_EQ(none.grad().sizes(), IntArrayRef({0}));
  Tensor out = empty({0});
  expect_error<Error>([&] { cat_out(out, {a, a}); }, "out=");
}

// Large and strided parts are copied by other code than small ones; many rows go in blocks.
TEST(Cat, JoinsRowsOfFewBytes) {
  for (const ScalarType dtype : {kBool, kByte, kHalf, kFloat, kDouble})
    for (const int64_t width : {1, 2, 3, 4, 9}) {
      const Tensor x = (rand({700, width}) > 0.5).to(dtype), y = (rand({700, 2}) > 0.5).to(dtype);
      const Tensor both = cat({x, y, x}, 1);
      EXPECT_TRUE(both.narrow(1, 0, width).equal(x));
      EXPECT_TRUE(both.narrow(1, width, 2).equal(y));
      EXPECT_TRUE(both.narrow(1, width + 2, width).equal(x));
    }
}

TEST(Cat, JoinsPartsOfAnySizeAndLayout) {
  for (int i = 0; i < 30; ++i) {
    const int64_t rows = i % 3 == 1 ? test::pick(64, 1000) : test::pick(0, 3),
                  inner = i % 3 == 0 ? test::pick(20'000, 40'000) : test::pick(0, 5);
    Tensors parts;
    std::vector<double> expected;
    for (int64_t p = test::pick(1, 4); p > 0; --p) {
      const Dims sizes{rows, test::pick(0, 3), inner};
      parts.push_back(test::pick(0, 1) ? test::random_tensor(sizes, kFloat) : rand(sizes));
    }
    const Tensor joined = cat(parts, -2);
    for (int64_t row = 0; row < rows; ++row)
      for (const Tensor& part : parts)
        for (double v : to_vector(part[row])) expected.push_back(v);
    EXPECT_EQ(to_vector(joined), expected);
    int64_t start = 0;
    for (const Tensor& part : parts) {
      EXPECT_TRUE(equal(joined.narrow(1, start, part.size(1)), part));
      start += part.size(1);
    }
    for (size_t p = 0; p < parts.size(); ++p) {
      std::vector<int64_t> sizes;
      for (const Tensor& part : parts) sizes.push_back(part.size(1));
      EXPECT_TRUE(equal(joined.split(sizes, 1)[p], parts[p]));
    }
  }
}

TEST(InPlaceShape, ChangesTheTensorItself) {
  Tensor x = arange(6.0).view({1, 2, 3}).clone();
  const Tensor same = x;
  x.squeeze_(0).t_();
  EXPECT_EQ(same.sizes(), IntArrayRef({3, 2}));
  expect_values(same, {0, 3, 1, 4, 2, 5}, 0);
  EXPECT_FALSE(same.is_contiguous());
  EXPECT_EQ(x.unsqueeze_(-1).transpose_(0, 2).sizes(), IntArrayRef({1, 2, 3}));
  EXPECT_EQ(x.swapaxes_(0, 1).squeeze_().swapdims_(0, 1).sizes(), IntArrayRef({3, 2}));
  EXPECT_EQ(zeros({1, 2, 1}).squeeze_({0, 1}).sizes(), IntArrayRef({2, 1}));
  expect_error<IndexError>([&] { x.unsqueeze_(9); },
                           "unsqueeze: Dimension out of range (expected to be in range of [-3, 2], "
                           "but got 9)");
}

TEST(InPlaceShape, KeepsTheHistory) {
  const Tensor leaf = ones({2, 3}, dtype(kDouble).requires_grad(true));
  Tensor x = leaf * 2;
  const uint32_t version = x._version();
  x.transpose_(0, 1).unsqueeze_(0);
  EXPECT_EQ(x.grad_fn()->name(), "UnsqueezeBackward0");
  EXPECT_EQ(x._version(), version + 2);
  x.backward(arange(6, kDouble).view({1, 3, 2}));
  expect_values(leaf.grad(), {0, 4, 8, 2, 6, 10}, 0);
  Tensor itself = leaf;
  expect_error<Error>([&] { itself.t_(); }, "leaf Variable that requires grad");
  expect_error<Error>([&] { leaf.view({3, 2}).t_(); }, "view of a leaf Variable");
  // A view changes its own shape only: the base and other views keep theirs.
  const Tensor base = leaf * 3, row = base[0];
  Tensor all = base.view({3, 2});
  all.t_();
  EXPECT_EQ(base.sizes(), IntArrayRef({2, 3}));
  const Tensor weights = arange(6, kDouble).view({2, 3});
  const auto by_leaf = [&](const Tensor& y) { return autograd::grad({y}, {leaf})[0]; };
  expect_values(by_leaf((all * weights).sum() + row.sum()), {3, 12, 6, 12, 6, 15}, 0);
  // The saved tensor has another shape then.
  Tensor y = leaf * 1;
  const Tensor z = y.exp() * y;
  y.t_();
  expect_error<Error>([&] { z.sum().backward(); }, "modified by an inplace operation");
}

// Parts that agree on a format give a result of this format, along every dimension.
TEST(Cat, KeepsChannelsLast) {
  const Tensor x = randn({2, 3, 4, 5}), none = empty({0});
  const Tensor volume = randn({2, 3, 2, 2, 2});
  for (const auto& [of, format] :
       {std::pair(x, MemoryFormat::ChannelsLast), std::pair(volume, MemoryFormat::ChannelsLast3d)})
    for (int64_t d = 0; d < of.dim(); ++d) {
      const Tensor last = of.contiguous(format), expected = cat({of, of}, d);
      EXPECT_TRUE(cat({last, last}, d).is_contiguous(format)) << d;
      EXPECT_TRUE(cat({last, none, last}, d).equal(expected)) << d;
      EXPECT_TRUE(cat({last, none, of}, d).is_contiguous()) << d;
      const Tensor leaf = last.detach().set_requires_grad(true);
      (cat({leaf, leaf}, d) * expected).sum().backward();
      EXPECT_TRUE(leaf.grad().allclose(2 * of)) << d;
    }
}

}  // namespace
}  // namespace gradus
