// Python's x[...]: views, assignments by an index, masks, errors and derivatives.
#include "gradus/autograd/tools/gradcheck.h"
#include "tests/random.h"
#include "tests/support.h"

namespace gradus {
namespace {

using namespace indexing;

TEST(Index, AtChangesACopy) {
  const Tensor x = arange(12, kDouble).view({3, 4}).requires_grad_();
  const Tensor y = tensor({7., 8., 9.}, kDouble).requires_grad_();
  const auto part = x.at({Slice(), 1});
  EXPECT_TRUE(part.get().equal(x.select(1, 1)));
  const Tensor set = part.set(y), added = part.add(2 * y);
  expect_values(x, to_vector(arange(12, kDouble)));
  expect_values(set, {0, 7, 2, 3, 4, 8, 6, 7, 8, 9, 10, 11});
  expect_values(added, {0, 15, 2, 3, 4, 21, 6, 7, 8, 27, 10, 11});
  (set * set).sum().backward();
  expect_values(x.grad(), {0, 0, 4, 6, 8, 0, 12, 14, 16, 0, 20, 22});
  expect_values(y.grad(), {14, 16, 18});
  const Tensor of_y = autograd::grad({added.sum()}, {y})[0];
  expect_values(of_y, {2, 2, 2});
  expect_values(x.at({1}).set(5).detach()[1], {5, 5, 5, 5});
  expect_values(x.at({tensor({0, 0}), 3}).add(1).select(1, 3), {5, 7, 11});
  expect_values(x.at({x > 9}).set(-1).detach()[2], {8, 9, -1, -1});
  expect_error<ValueError>([&] { x.at({0}).set(y); }, "The size of tensor a (4)");
  expect_error<Error>([&] { Tensor().at({0}); }, "at");
}

// --- Views and assignments

TEST(Index, OfBasicIndicesIsAView) {
  const Tensor x = arange(24, kDouble).view({2, 3, 4});
  for (const std::vector<TensorIndex>& indices : {std::vector<TensorIndex>{0},
                                                  {Ellipsis},
                                                  {Slice(1), None, -1},
                                                  {tensor(1), Slice(0, 3, 2)}}) {
    const Tensor y = x.index(indices);
    EXPECT_TRUE(y.is_view());
    EXPECT_FALSE(y.is_same(x));
    EXPECT_EQ(y.impl().storage, x.impl().storage);
  }
  EXPECT_FALSE(x.index({tensor({0, 1})}).is_view());
  EXPECT_FALSE(x.index({true}).impl().storage == x.impl().storage);
}

TEST(Index, AssignmentToAnExpressionWritesThroughIt) {
  Tensor x = zeros({2, 3});
  x[0] = 1;
  x[1][2] = tensor(5.0);
  x.index({1, Slice(0, 2)}) = tensor({7, 8});
  expect_values(x, {1, 1, 1, 7, 8, 5}, 0);
  x.t()[0] = x[0].slice(0, 0, 2);
  expect_values(x, {1, 1, 1, 1, 8, 5}, 0);
  Tensor row = x[1];
  row = zeros({3});  // another tensor under the name; x stays
  expect_values(x, {1, 1, 1, 1, 8, 5}, 0);
}

TEST(Index, SquareBracketsTakeNumbersAndTensorsWithoutDimensions) {
  const Tensor x = tensor({3, 4, 5});
  EXPECT_EQ(x[tensor(2)].item<int64_t>(), 5);
  EXPECT_EQ(x[Scalar(-1)].item<int64_t>(), 5);
  expect_error<IndexError>([&] { x[Scalar(1.5)]; }, "whole number");
  expect_error<IndexError>([&] { x[x > 3]; },
                           "operator[]: the index is bool of shape [3], expected a tensor without "
                           "dimensions; x.index({i}) takes masks and lists");
  expect_error<IndexError>([&] { x[tensor(true)]; }, "whole number");
  expect_error<Error>([&] { x[Tensor()]; }, "operator[]: index is undefined");
}

TEST(Index, RefusesSlicesAndTextsThatPythonDoes) {
  expect_error<ValueError>([] { Slice(0, 3, 0); }, "step cannot be zero");
  expect_error<ValueError>([] { zeros({2}).index({Slice(None, None, -1)}); }, "slice: step is -1");
  expect_error<ValueError>([] { TensorIndex("1"); }, "Expected \"...\"");
  expect_error<IndexError>([] { zeros({2}).index({Tensor()}); }, "undefined");
}

TEST(Index, TakesMasksOfBytesAndNarrowIndices) {
  const Tensor x = tensor({3, 4, 5});
  expect_values(x.index({tensor({1, 0, 7}, kByte)}), {3, 5}, 0);
  expect_values(x.index({tensor({2, 0}, kInt)}), {5, 3}, 0);
  expect_values(where(tensor({1, 0, 7}, kByte), x, 0), {3, 0, 5}, 0);
  expect_values(x.masked_fill(tensor({1, 0, 7}, kByte), 9), {9, 4, 9}, 0);
}

TEST(Index, PutFitsValuesAsCopiesDo) {
  Tensor x = zeros({2, 3});
  x.index_put_({0}, tensor({{1, 2, 3}}));  // converted, without the leading dimension
  x.index_put_({1, Slice(1)}, 4.5);
  x.index_put_({1}, 1, /*accumulate=*/true);
  expect_values(x, {1, 2, 3, 1, 5.5, 5.5}, 0);
  x.index_put_({x > 2}, 0);
  expect_values(x, {1, 2, 0, 1, 0, 0}, 0);
  x.index_put_({Slice(), tensor({2, 0})}, tensor({{{8.0, 9.0}}}));
  expect_values(x, {9, 2, 8, 9, 0, 8}, 0);
}

// --- In place

TEST(InPlaceIndexing, ReadsOperandsThatShareItsMemoryBeforeItWrites) {
  const auto fresh = [] { return arange(6, kLong); };
  Tensor x = fresh();
  x.index_put_({tensor({1, 2, 3})}, x.slice(0, 0, 3));
  expect_values(x, {0, 0, 1, 2, 4, 5}, 0);
  x = fresh();
  x.index_put_({x.slice(0, 1, 4)}, tensor({9, 8, 7}));  // its own numbers are the index
  expect_values(x, {0, 9, 8, 7, 4, 5}, 0);
  x = fresh();
  x.scatter_(0, tensor({1, 2, 3}), x);
  expect_values(x, {0, 0, 1, 2, 4, 5}, 0);
  x = fresh();
  x.scatter_add_(0, x, x);
  expect_values(x, {0, 2, 4, 6, 8, 10}, 0);
  x = fresh();
  x.masked_fill_(x > 2, x[1]);
  expect_values(x, {0, 1, 2, 1, 1, 1}, 0);
  Tensor mask = tensor({{true, false}, {true, true}});
  mask.masked_fill_(mask.t(), false);
  expect_values(mask, {0, 0, 1, 0}, 0);
}

TEST(InPlaceIndexing, ChangesTheVersionAndNothingAfterAnError) {
  Tensor x = zeros({3});
  const auto refused = [&](auto f) {
    expect_error<IndexError>(f, "out of bounds");
    expect_values(x, {0, 0, 0}, 0);
    EXPECT_EQ(x._version(), 0u);
  };
  refused([&] { x.index_put_({tensor({0, 3})}, 1); });
  refused([&] { x.scatter_(0, tensor({0, 3}), 1); });
  refused([&] { x.scatter_add_(0, tensor({0, -1}), ones({2})); });
  refused([&] { x.index_fill_(0, tensor({0, 3}), 1); });
  refused([&] { x.index_copy_(0, tensor({0, 3}), ones({2})); });
  refused([&] { x.put_(tensor({0, 3}), ones({2})); });
  x.index_put_({0}, 1);
  EXPECT_EQ(x._version(), 1u);
  x.masked_fill_(x > 0, 2);
  EXPECT_EQ(x._version(), 2u);
}

TEST(InPlaceIndexing, IsRefusedForLeavesAndOverlappingMemory) {
  Tensor leaf = zeros({3}, requires_grad());
  expect_error<Error>([&] { leaf.index_put_({tensor({0})}, 1); }, "leaf Variable");
  expect_error<Error>([&] { leaf.scatter_(0, tensor({0}), 1); }, "leaf Variable");
  expect_error<Error>([&] { leaf.masked_fill_(leaf > 0, 1); }, "leaf Variable");
  expect_error<Error>([&] { leaf[0] = 1; }, "view of a leaf Variable");
  Tensor spread = zeros({1}).expand({3});
  expect_error<ValueError>([&] { spread.index_put_({tensor({0})}, 1); },
                           "index_put_: more than one element of the written-to tensor refers to");
  expect_error<ValueError>(
      [&] {
        spread.masked_fill_(tensor({true, false, false}), 1);
      },
      "masked_fill_: more than one element of the written-to tensor refers to");
}

// Checks the gradients of x and of the values for y = x after each change.
TEST(InPlaceIndexing, OfViewsIsRecorded) {
  const auto changed = [](const std::function<void(Tensor&, const Tensor&)>& change) {
    return [change](const Tensors& in) {
      Tensor y = in[0] * 1;
      change(y, in[1]);
      return Tensors{y * y};
    };
  };
  const TensorOptions options = dtype(kDouble).requires_grad(true);
  const Tensor x = randn({3, 4}, options), two = randn({2}, options), one = randn({}, options);
  const auto prove = [&](const Tensor& values, auto change) {
    EXPECT_TRUE(autograd::gradcheck(changed(change), {x, values}));
    EXPECT_TRUE(autograd::gradgradcheck(changed(change), {x, values}));
  };
  prove(two, [](Tensor& y, const Tensor& v) { y.index_put_({1, Slice(1, 3)}, v); });
  prove(two, [](Tensor& y, const Tensor& v) { y.index_put_({1, tensor({0, 2})}, v); });
  prove(two, [](Tensor& y, const Tensor& v) { y.index_put_({2, tensor({0, 0})}, v, true); });
  prove(two, [](Tensor& y, const Tensor& v) { y[0].slice(0, 2) = v; });
  prove(one, [](Tensor& y, const Tensor& v) { y[0][1] = v; });
  prove(one, [](Tensor& y, const Tensor& v) { y[1].masked_fill_(y[1] > 0, v); });
  prove(two, [](Tensor& y, const Tensor& v) { y.t()[3].scatter_add_(0, tensor({1, 1}), v); });
  prove(two, [](Tensor& y, const Tensor& v) {
    const Tensor row = y[1];  // sees the change of its base
    y.index_put_({1, Slice(0, 2)}, v);
    y[0] = row * 2;
  });
}

TEST(InPlaceIndexing, KeepsShapesThatTheOtherFormsWouldBroadcast) {
  Tensor x = zeros({1});
  expect_error<ValueError>(
      [&] {
        x.masked_fill_(tensor({true, false}), 1);
      },
      "masked_fill_: output with shape [1] doesn't match the broadcast shape [2]");
  EXPECT_EQ(x.masked_fill(tensor({true, false}), 1).sizes(), IntArrayRef({2}));
}

TEST(IndexErrors, NameTheFunctionThatWasCalled) {
  const Tensor x = zeros({2, 3}), far = tensor({0, 5}), two = tensor({0, 1});
  for (const char* word : {"prod", "mean", "amax", "amin"})
    for (const bool include_self : {true, false})
      expect_error<IndexError>([&] { x.index_reduce(0, far, x, word, include_self); },
                               "index_reduce: index 5 is out of bounds");
  expect_error<ValueError>([&] { x[0].scatter_reduce(0, two, x[0], "most"); },
                           "scatter_reduce: reduce is \"most\"");
}

// --- Filling

TEST(Fill, KeepsTheLayoutAndGivesGradients) {
  const Tensor x = randn({2, 3}).t().requires_grad_(), number = tensor(2.0).requires_grad_();
  EXPECT_EQ(fill(x.detach(), 3).strides(), x.strides());
  expect_values(fill(x.detach(), 3), {3, 3, 3, 3, 3, 3}, 0);
  (fill(x, 3).sum() + fill(x, number).sum()).backward();
  expect_values(x.grad(), {0, 0, 0, 0, 0, 0}, 0);
  expect_values(number.grad(), {6}, 0);
  fill(ones({2}), number).sum().backward();
  expect_values(number.grad(), {8}, 0);
}

// --- Gradients that samples of random numbers do not show

TEST(IndexGradients, OfPlacesThatAreReadSeveralTimesAdd) {
  const Tensor x = tensor({1.0, 2.0, 3.0}, dtype(kDouble).requires_grad(true));
  x.index({tensor({0, 2, 0, 0})}).backward(tensor({1.0, 10.0, 100.0, 1000.0}, kDouble));
  expect_values(x.grad(), {1101, 0, 10}, 0);
}

TEST(IndexGradients, OfProductsWithZeros) {
  const Tensor index = tensor({0, 0, 1, 1, 2});
  const Tensor x = tensor({2.0, 3.0, 0.0}, dtype(kDouble).requires_grad(true));
  const Tensor src = tensor({0.0, 5.0, 0.0, 0.0, 7.0}, dtype(kDouble).requires_grad(true));
  const Tensor y = x.scatter_reduce(0, index, src, "prod");
  expect_values(y, {0, 0, 0}, 0);
  y.sum().backward();
  expect_values(x.grad(), {0, 0, 7}, 0);
  expect_values(src.grad(), {10, 0, 0, 0, 0}, 0);
}

TEST(IndexGradients, OfEqualExtremesAreShared) {
  const Tensor x = tensor({2.0, 3.0}, dtype(kDouble).requires_grad(true));
  const Tensor src = tensor({2.0, 2.0, 1.0}, dtype(kDouble).requires_grad(true));
  x.scatter_reduce(0, tensor({0, 0, 1}), src, "amax").backward(tensor({3.0, 5.0}, kDouble));
  expect_values(x.grad(), {1, 5}, 1e-12);
  expect_values(src.grad(), {1, 1, 0}, 1e-12);
}

TEST(IndexGradients, OfScalarsBesideListsOfOne) {
  const Tensor zero = tensor({0}), scalar_zero = zero.squeeze(0);
  for (const bool x_is_scalar : {false, true})
    for (const bool index_is_scalar : {false, true})
      for (const bool src_is_scalar : {false, true}) {
        const auto one = [](double value, bool is_scalar) {
          const Tensor list = tensor({value}, kDouble);
          return (is_scalar ? list.squeeze(0) : list).detach().requires_grad_();
        };
        const Tensor x = one(2, x_is_scalar), src = one(3, src_is_scalar);
        const Tensor& index = index_is_scalar ? scalar_zero : zero;
        x.scatter_add(0, index, src).sum().backward();
        expect_values(x.grad(), {1}), expect_values(src.grad(), {1});
        x.scatter_reduce(0, index, src, "prod").sum().backward();
        expect_values(x.grad(), {4}), expect_values(src.grad(), {3});
        EXPECT_EQ(src.grad().dim(), src.dim());
      }
}

TEST(IndexGradients, OfWhatIsNotChosenAreZeroBesideNaN) {
  const Tensor x = tensor({-1.0, 4.0}, dtype(kDouble).requires_grad(true));
  where(x > 0, x.sqrt(), 0).sum().backward();
  EXPECT_TRUE(std::isnan(to_vector(x.grad())[0]));  // 0 times an infinite slope, as in PyTorch
  EXPECT_EQ(to_vector(x.grad())[1], 0.25);
  const Tensor y = tensor({std::nan(""), 4.0}, dtype(kDouble).requires_grad(true));
  y.masked_fill(y != y, 0).sum().backward();
  expect_values(y.grad(), {0, 1}, 0);
}

TEST(TriangleIndices, AreThoseThatTheTrianglesKeep) {
  for (int64_t row : {0, 1, 4})
    for (int64_t col : {0, 3, 5})
      for (int64_t offset : {-2, 0, 1, 9}) {
        const Tensor kept = ones({row, col}).tril(offset).nonzero().t();
        EXPECT_EQ(to_vector(tril_indices(row, col, offset)), to_vector(kept));
        EXPECT_EQ(tril_indices(row, col, offset).sizes(), kept.sizes());
        EXPECT_EQ(to_vector(triu_indices(row, col, offset)),
                  to_vector(ones({row, col}).triu(offset).nonzero().t()));
      }
  EXPECT_EQ(tril_indices(3, 3, 0, kInt).dtype(), kInt);
  EXPECT_TRUE(triu_indices(3, 3).is_contiguous());
  expect_error<ValueError>([] { tril_indices(-1, 2); }, "row is -1");
  expect_error<TypeError>([] { triu_indices(1, 2, 0, kFloat); }, "float32");
}

TEST(Masks, AreOfBoolsOrBytes) {
  const Tensor x = zeros({2}), numbers = tensor({1, 0});
  expect_error<TypeError>([&] { x.masked_fill(numbers, 1); }, "mask has dtype int64");
  expect_error<TypeError>([&] { x.masked_select(numbers); }, "mask has dtype int64");
  expect_error<TypeError>([&] { where(numbers, x, x); }, "condition has dtype int64");
}

}  // namespace
}  // namespace gradus
