// Every view against index arithmetic on random shapes and layouts; views share memory.
#include "tests/random.h"
#include "tests/support.h"

namespace gradus {
namespace {

// Numbers every element differently, so that a value says which element it is.
Tensor numbered(IntArrayRef sizes) {
  Tensor x = test::random_layout(sizes, kDouble);
  for (int64_t i = 0; i < x.numel(); ++i) test::set(x, i, static_cast<double>(i));
  return x;
}

Dims index_of(IntArrayRef sizes, int64_t i) {
  Dims out = Dims::filled(static_cast<int64_t>(sizes.size()), 0);
  for (size_t d = sizes.size(); d-- > 0; i /= sizes[d]) out[d] = i % sizes[d];
  return out;
}
double number_at(IntArrayRef sizes, const Dims& index) {
  int64_t out = 0;
  for (size_t d = 0; d < sizes.size(); ++d) out = out * sizes[d] + index[d];
  return static_cast<double>(out);
}

// Element `index` of the view is the element `source(index)` of x, and lies in x's memory.
template <class F>
void expect_view(const Tensor& x, const Tensor& view, IntArrayRef sizes, F source) {
  ASSERT_EQ(view.sizes(), sizes);
  EXPECT_EQ(view.impl().storage, x.impl().storage);
  EXPECT_TRUE(view.is_view());
  for (int64_t i = 0; i < view.numel(); ++i)
    EXPECT_EQ(test::get(view, i), number_at(x.sizes(), source(index_of(sizes, i))));
}

class Views : public ::testing::TestWithParam<int> {
 protected:
  static Dims random_shape() {
    for (int i = 0; i < GetParam(); ++i) test::rng()();  // another shape for each repetition
    Dims out = test::random_sizes(3, 4);
    out.push_back(test::pick(1, 4));
    return out;
  }
  Tensor x = numbered(random_shape());
  Dims sizes = x.impl().sizes;
  int64_t dim = test::pick(0, x.dim() - 1);
};

TEST_P(Views, Permute) {
  std::vector<int64_t> order(sizes.size());
  for (size_t d = 0; d < order.size(); ++d) order[d] = static_cast<int64_t>(d);
  std::shuffle(order.begin(), order.end(), test::rng());
  Dims permuted;
  for (int64_t d : order) permuted.push_back(sizes[d]);
  std::vector<int64_t> given = order;
  if (test::pick(0, 1)) given[0] -= x.dim();
  expect_view(x, x.permute(given), permuted, [&](const Dims& index) {
    Dims from = index;
    for (size_t d = 0; d < order.size(); ++d) from[order[d]] = index[d];
    return from;
  });
}

TEST_P(Views, Transpose) {
  const int64_t other = test::pick(0, x.dim() - 1);
  Dims swapped = sizes;
  std::swap(swapped[dim], swapped[other]);
  expect_view(x, x.transpose(dim - x.dim(), other), swapped, [&](Dims index) {
    std::swap(index[dim], index[other]);
    return index;
  });
}

TEST_P(Views, Narrow) {
  const int64_t start = test::pick(0, sizes[dim]), length = test::pick(0, sizes[dim] - start);
  Dims narrowed = sizes;
  narrowed[dim] = length;
  expect_view(x, x.narrow(dim, start, length), narrowed, [&](Dims index) {
    index[dim] += start;
    return index;
  });
}

TEST_P(Views, Select) {
  const int64_t at = test::pick(0, sizes[dim] - 1);
  Dims selected = sizes;
  selected.erase(dim);
  expect_view(x, x.select(dim, test::pick(0, 1) ? at : at - sizes[dim]), selected, [&](Dims index) {
    index.insert(dim, at);
    return index;
  });
}

TEST_P(Views, UnsqueezeAndSqueeze) {
  const int64_t at = test::pick(0, x.dim());
  Dims longer = sizes;
  longer.insert(at, 1);
  const auto without = [&](Dims index) {
    index.erase(at);
    return index;
  };
  expect_view(x, x.unsqueeze(at), longer, without);
  expect_view(x, x.unsqueeze(at - x.dim() - 1), longer, without);
  expect_view(x, x.unsqueeze(at).squeeze(at), sizes, [](const Dims& index) { return index; });
  Dims squeezed;
  for (int64_t size : sizes)
    if (size != 1) squeezed.push_back(size);
  EXPECT_EQ(x.squeeze().sizes(), IntArrayRef(squeezed));
  EXPECT_EQ(to_vector(x.squeeze()), to_vector(x));
}

TEST_P(Views, Expand) {
  const Tensor thin = x.narrow(dim, 0, 1);
  Dims wide = sizes;
  wide[dim] = 5;
  wide.insert(0, 2);
  Dims asked = wide;
  for (int64_t d = 0; d < x.dim(); ++d)
    if (d != dim && test::pick(0, 1)) asked[d + 1] = -1;
  expect_view(x, thin.expand(asked), wide, [&](Dims index) {
    index.erase(0);
    index[dim] = 0;
    return index;
  });
}

TEST_P(Views, ViewAndReshapeAndFlattenKeepTheOrder) {
  std::vector<double> order(static_cast<size_t>(x.numel()));
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<double>(i);
  const int64_t last = sizes.back();
  EXPECT_EQ(to_vector(x.reshape({-1})), order);
  EXPECT_EQ(to_vector(x.reshape({last, -1})), order);
  EXPECT_EQ(to_vector(x.transpose(0, dim).contiguous().view({-1})), to_vector(x.transpose(0, dim)));
  EXPECT_EQ(x.flatten().sizes(), IntArrayRef({x.numel()}));
  EXPECT_EQ(to_vector(x.flatten(0, dim)), order);
  if (x.is_contiguous()) {
    EXPECT_EQ(x.view({-1}).impl().storage, x.impl().storage);
  }
}

TEST_P(Views, WritesAreSeenThroughEveryView) {
  const Tensor t = x.transpose(0, dim);
  Tensor part = t.narrow(0, 0, 1);
  part.fill_(-7);
  for (int64_t i = 0; i < x.numel(); ++i) {
    const bool inside = index_of(sizes, i)[dim] == 0;
    EXPECT_EQ(test::get(x, i), inside ? -7 : static_cast<double>(i));
  }
  EXPECT_EQ(x._version(), part._version());
}

INSTANTIATE_TEST_SUITE_P(Random, Views, ::testing::Range(0, 20));

TEST(ViewErrors, NameTheOperationAndTheArgument) {
  const Tensor x = zeros({2, 3});
  expect_error<ValueError>([&] { x.t().view({6}); }, "use reshape(), which copies if it must");
  expect_error<ValueError>([&] { x.view({4}); },
                           "view: shape '[4]' is invalid for input of size 6");
  expect_error<ValueError>(
      [&] {
        x.reshape({4, -1});
      },
      "reshape: shape '[4, -1]' is invalid for input of size 6");
  expect_error<ValueError>([&] { x.permute({0}); },
                           "input.dim() = 2 is not equal to len(dims) = 1");
  expect_error<ValueError>(
      [&] {
        x.permute({0, 0});
      },
      "permute: duplicate dims are not allowed, and [0, 0] lists dimension 0");
  expect_error<IndexError>(
      [&] { x.transpose(0, 2); },
      "transpose: Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  expect_error<IndexError>([&] { x.unsqueeze(4); },
                           "unsqueeze: Dimension out of range (expected to be in range of [-3, 2], "
                           "but got 4)");
  expect_error<IndexError>([&] { x.squeeze(2); },
                           "squeeze: Dimension out of range (expected to be in range of [-2, 1], "
                           "but got 2)");
  expect_error<ValueError>(
      [&] {
        x.expand({2, 4});
      },
      "expand: The expanded size of the tensor (4) must match the existing "
      "size (3) at non-singleton dimension 1");
  expect_error<ValueError>([&] { x.expand({3}); },
                           "expand: the number of sizes provided (1) must be greater or equal to "
                           "the number of dimensions in the tensor (2)");
  expect_error<ValueError>(
      [&] {
        x.expand({-1, 2, 3});
      },
      "(-1) isn't allowed in a leading, non-existing dimension 0");
  expect_error<IndexError>([&] { x.select(0, 2); },
                           "select: index 2 out of range for tensor of size");
  expect_error<IndexError>([&] { x[0][0][0]; },
                           "select: select() cannot be applied to a 0-dim tensor");
  expect_error<IndexError>([&] { x.narrow(1, 2, 2); },
                           "narrow: start (2) + length (2) exceeds dimension size (3).");
  expect_error<IndexError>([&] { x.narrow(1, 4, 0); }, "narrow: start 4 is out of range");
  expect_error<ValueError>([&] { x.flatten(1, 0); }, "flatten: start_dim 1 comes after end_dim 0");
  expect_error<ValueError>(
      [] {
        zeros({1, 1, 1}).t();
      },
      "t() expects a tensor with <= 2 dimensions, but self is 3D");
  expect_error<IndexError>([&] { x.size(2); },
                           "size: Dimension out of range (expected to be in range of [-2, 1], but "
                           "got 2)");
}

TEST(ViewErrors, SumsAndProductsOfSizesDoNotWrapAround) {
  expect_error<IndexError>([] { zeros({4}).narrow(0, 1, INT64_MAX); },
                           "narrow: start (1) + length (9223372036854775807) exceeds");
  const Tensor x = zeros({2}, kDouble);
  for (const int64_t size : {int64_t{1} << 60, int64_t{1} << 61})
    expect_error<ValueError>([&] { x.resize_({size}); }, "has more bytes than an int64 counts");
  EXPECT_EQ(x.sizes(), IntArrayRef({2}));
}

TEST(ViewErrors, FlipChecksTheDimensionsOfEmptyTensors) {
  expect_error<IndexError>([] { zeros({0, 2}).flip(5); }, "flip: Dimension out of range");
  EXPECT_EQ(zeros({0, 2}).flip({0, 1}).sizes(), IntArrayRef({0, 2}));
}

TEST(ViewErrors, SayWhatToGive) {
  const Tensor x = zeros({1, 4, 2});
  expect_error<ValueError>([&] { channel_shuffle(x[0], 2); }, "; expected (N, C, ...)");
  expect_error<ValueError>([&] { channel_shuffle(x, 0); }, "groups:0; give 1 or more");
  expect_error<ValueError>([&] { channel_shuffle(x, 3); }, "3 groups. Give a divisor of 4");
  expect_error<ValueError>([&] { x.repeat({1, 1, -2}); }, "negative number -2; give 0 or more");
  expect_error<ValueError>([&] { combinations(x[0][0], -1); }, "is negative; give 0 or more");
  expect_error<ValueError>([&] { pad(x, {1, 1}, "reflect", 3); }, "value is 3; leave it out");
  expect_error<ValueError>([&] { histogram(x, 0); }, "but got 0; give 1 or more");
  expect_error<ValueError>([&] { histogram(x, x); }, "shape [1, 4, 2]; flatten() it");
}

}  // namespace
}  // namespace gradus
