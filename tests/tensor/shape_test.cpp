// The arithmetic of shapes and strides, against walks over every element.
#include "gradus/tensor/raw/strided.h"
#include "tests/random.h"
#include "tests/support.h"

namespace gradus {
namespace {

TEST(Shape, BroadcastsAsEveryPairOfSizesSays) {
  for (int round = 0; round < 200; ++round) {
    const Dims a = test::random_sizes(4, 3), b = test::random_sizes(4, 3);
    Dims expected = Dims::filled(static_cast<int64_t>(std::max(a.size(), b.size())), 1);
    bool fits = true;
    for (size_t i = 0; i < expected.size(); ++i) {  // from the last dimension
      const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
      const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
      fits = fits && (x == y || x == 1 || y == 1);
      expected[expected.size() - 1 - i] = std::max(x, y);
    }
    if (fits) {
      EXPECT_EQ(IntArrayRef(broadcast_shapes("op", a, b)), IntArrayRef(expected));
    } else {
      EXPECT_THROW(broadcast_shapes("op", a, b), ValueError);
    }
  }
  EXPECT_EQ(IntArrayRef(broadcast_shapes("op", {0}, {3, 1})), IntArrayRef({3, 0}));
  expect_error<ValueError>(
      [] {
        broadcast_shapes("add", {2, 3}, {4});
      },
      "add: The size of tensor a (3) must match the size of tensor b (4) at non-singleton "
      "dimension 1: shapes [2, 3] and [4]");
}

TEST(Shape, BroadcastStridesAreZeroWhereElementsRepeat) {
  EXPECT_EQ(IntArrayRef(broadcast_strides("op", {3, 1}, {7, 5}, {2, 3, 4})),
            IntArrayRef({0, 7, 0}));
  EXPECT_EQ(IntArrayRef(broadcast_strides("op", {}, {}, {2})), IntArrayRef({0}));
  expect_error<ValueError>(
      [] {
        broadcast_strides("expand", {3}, {1}, {2, 4});
      },
      "expand: The expanded size of the tensor (4) must match the existing size (3) at "
      "non-singleton dimension 1. Target sizes: [2, 4]. Tensor sizes: [3]");
  expect_error<ValueError>(
      [] {
        broadcast_strides("expand", {1, 3}, {3, 1}, {3});
      },
      "the number of sizes provided (1) must be greater or equal to the number of dimensions in "
      "the tensor (2): [3] for shape [1, 3]");
}

TEST(Shape, OfAnOutputIsThatOfTheResult) {
  check_output_shape("add", "_", {2, 3}, {2, 3});
  expect_error<ValueError>(
      [] {
        check_output_shape("add", "_", {3}, {2, 3});
      },
      "add_: output with shape [3] doesn't match the broadcast shape [2, 3]; use");
}

TEST(Shape, InfersOneSize) {
  EXPECT_EQ(IntArrayRef(infer_size("view", {2, -1}, 6)), IntArrayRef({2, 3}));
  EXPECT_EQ(IntArrayRef(infer_size("view", {-1}, 0)), IntArrayRef({0}));
  EXPECT_EQ(IntArrayRef(infer_size("view", {}, 1)), IntArrayRef());
  expect_error<ValueError>(
      [] {
        infer_size("view", {-1, -1}, 6);
      },
      "view: only one dimension can be inferred");
  expect_error<ValueError>(
      [] {
        infer_size("view", {-2, 3}, 6);
      },
      "invalid shape dimension -2 in [-2, 3]");
  expect_error<ValueError>(
      [] {
        infer_size("view", {4, -1}, 6);
      },
      "view: shape '[4, -1]' is invalid for input of size 6");
  expect_error<ValueError>([] { infer_size("view", {0, -1}, 0); }, "beside a size of 0");
  expect_error<ValueError>(
      [] {
        infer_size("view", {2, 2}, 6);
      },
      "shape '[2, 2]' is invalid for input of size 6");
  expect_error<ValueError>([] { infer_size("view", {int64_t{1} << 62, 4}, 0); }, "int64");
}

TEST(Shape, WrapsDimensions) {
  for (int64_t rank = 0; rank < 5; ++rank) {
    const int64_t range = std::max<int64_t>(rank, 1);
    for (int64_t dim = -range; dim < range; ++dim)
      EXPECT_EQ(wrap_dim("op", dim, rank), (dim + range) % range);
    expect_error<IndexError>([&] { wrap_dim("sum", range, rank); }, "sum: Dimension out of range");
    expect_error<IndexError>([&] { wrap_dim("sum", -range - 1, rank); }, "but got -");
  }
  expect_error<ValueError>(
      [] {
        dim_mask("sum", {0, -2}, 2);
      },
      "sum: dim 0 appears multiple times in the list of dims [0, -2]");
}

TEST(Shape, CountsElements) {
  EXPECT_EQ(checked_numel("empty", {2, 3, 4}), 24);
  EXPECT_EQ(checked_numel("empty", {}), 1);
  EXPECT_EQ(checked_numel("empty", {int64_t{1} << 62, 0, 8}), 0);
  expect_error<ValueError>(
      [] {
        checked_numel("empty", {2, -1});
      },
      "empty: Trying to create tensor with negative dimension -1: [2, -1]");
  expect_error<ValueError>([] { checked_numel("empty", {int64_t{1} << 62, 8}); }, "int64");
  expect_error<ValueError>([] { Dims::filled(17, 1); }, "at most 16");
}

// The offsets of all elements in row-major order: what a shape and strides mean.
std::vector<int64_t> offsets(IntArrayRef sizes, IntArrayRef strides) {
  std::vector<int64_t> out{0};
  for (size_t d = 0; d < sizes.size(); ++d) {
    std::vector<int64_t> next;
    for (int64_t base : out)
      for (int64_t i = 0; i < sizes[d]; ++i) next.push_back(base + i * strides[d]);
    out = next;
  }
  return out;
}

Dims random_split(int64_t numel) {
  Dims out;
  while (numel > 1) {
    std::vector<int64_t> divisors;
    for (int64_t k = 1; k <= numel; ++k)
      if (numel % k == 0) divisors.push_back(k);
    out.push_back(divisors[static_cast<size_t>(
        test::pick(out.size() < 6 ? 0 : static_cast<int64_t>(divisors.size()) - 1,
                   static_cast<int64_t>(divisors.size()) - 1))]);
    numel /= out.back();
  }
  return out;
}

TEST(Shape, ViewStridesReadTheSameElementsInTheSameOrder) {
  int views = 0;
  for (int round = 0; round < 500; ++round) {
    const Dims sizes = test::random_sizes(4, 4);
    const Tensor x = test::random_tensor(sizes, kFloat);
    const Dims shape = random_split(x.numel());
    const auto strides = view_strides(x.sizes(), x.strides(), shape);
    // The strides that a view needs follow from the first step along each dimension.
    const std::vector<int64_t> expected = offsets(x.sizes(), x.strides());
    Dims needed = contiguous_strides(shape);
    for (size_t d = 0; d < shape.size(); ++d)
      needed[d] = shape[d] > 1 ? expected[static_cast<size_t>(needed[d])] : 0;
    EXPECT_EQ(strides.has_value(), offsets(shape, needed) == expected)
        << x.sizes() << x.strides() << IntArrayRef(shape);
    if (strides) {
      EXPECT_EQ(offsets(shape, *strides), expected);
    }
    views += strides.has_value();
  }
  EXPECT_GT(views, 50);
  EXPECT_FALSE(view_strides({2, 3}, {1, 2}, {6}).has_value());
  EXPECT_TRUE(view_strides({2, 1, 3}, {3, 99, 1}, {6}).has_value());
}

TEST(Shape, ContiguousMeansRowMajorWithoutGaps) {
  for (int round = 0; round < 200; ++round) {
    const Tensor x = test::random_tensor(test::random_sizes(4, 3), kFloat);
    std::vector<int64_t> expected(static_cast<size_t>(x.numel()));
    for (size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<int64_t>(i);
    EXPECT_EQ(is_contiguous(x.sizes(), x.strides()), offsets(x.sizes(), x.strides()) == expected);
  }
  EXPECT_TRUE(is_contiguous({0, 3}, {7, 9}));
}

TEST(Collapse, WalksTheSameElementsInTwoTensorsAtOnce) {
  for (int round = 0; round < 300; ++round) {
    const Dims sizes = test::random_sizes(4, 4);
    const Tensor a = test::random_layout(sizes, kFloat), b = test::random_tensor(sizes, kFloat);
    const Strided<2> walk = collapse<2>(sizes, {a.strides(), b.strides()});
    const auto dims = static_cast<size_t>(walk.dims);
    const IntArrayRef merged(walk.size, dims);
    const auto x = offsets(merged, {walk.stride[0], dims}),
               y = offsets(merged, {walk.stride[1], dims});
    const auto u = offsets(a.sizes(), a.strides()), v = offsets(b.sizes(), b.strides());
    std::vector<std::pair<int64_t, int64_t>> got, expected;
    for (size_t i = 0; i < x.size(); ++i) got.emplace_back(x[i], y[i]);
    for (size_t i = 0; i < u.size(); ++i) expected.emplace_back(u[i], v[i]);
    std::sort(got.begin(), got.end()), std::sort(expected.begin(), expected.end());
    EXPECT_EQ(got, expected);
    EXPECT_EQ(walk.numel, a.numel());
  }
}

TEST(Collapse, MergesAllThatLiesEvenly) {
  const Strided<1> whole = collapse<1>({2, 3, 4}, {IntArrayRef({12, 4, 1})});
  EXPECT_EQ(whole.dims, 1);
  EXPECT_EQ(whole.size[0], 24);
  EXPECT_TRUE(whole.contiguous());
  // A transposed tensor that is written in its own order is one run as well.
  const Strided<1> transposed = collapse<1>({4, 3}, {IntArrayRef({1, 4})});
  EXPECT_EQ(transposed.dims, 1);
  EXPECT_TRUE(transposed.contiguous());
  const Strided<2> against = collapse<2>({4, 3}, {IntArrayRef({3, 1}), IntArrayRef({1, 4})});
  EXPECT_EQ(against.dims, 2);
  EXPECT_FALSE(against.contiguous());
  EXPECT_EQ(collapse<1>({1, 1}, {IntArrayRef({5, 7})}).dims, 0);
}

}  // namespace
}  // namespace gradus
