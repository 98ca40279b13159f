// gather and scatter_add against index-by-index loops, and what they refuse.
#include "tests/random.h"
#include "tests/support.h"

namespace gradus {
namespace {

// The row-major position in `sizes` of element i of a tensor shaped like index, with `at` in dim.
int64_t moved(IntArrayRef index_sizes, int64_t i, int64_t dim, int64_t at, IntArrayRef sizes) {
  int64_t out = 0, step = 1;
  for (int64_t d = static_cast<int64_t>(sizes.size()); d-- > 0; i /= index_sizes[d]) {
    out += (d == dim ? at : i % index_sizes[d]) * step;
    step *= sizes[d];
  }
  return out;
}

struct Drawn {
  Tensor x, index;
  int64_t dim;
  Drawn() {
    Dims sizes = test::random_sizes(3, 5);
    sizes.push_back(test::pick(1, 5));
    x = test::random_tensor(sizes, kDouble).contiguous();
    dim = test::pick(0, x.dim() - 1);
    Dims index_sizes = sizes;
    for (int64_t d = 0; d < x.dim(); ++d)
      index_sizes[d] = d == dim ? test::pick(0, 6) : test::pick(1, sizes[d]);
    index = test::random_tensor(index_sizes, kLong, 0, static_cast<double>(sizes[dim]));
  }
};

TEST(Indexing, GatherReadsWhatTheIndexSays) {
  for (int round = 0; round < 100; ++round) {
    const Drawn c;
    const Tensor y = c.x.gather(c.dim, c.index);
    ASSERT_EQ(y.sizes(), c.index.sizes());
    for (int64_t i = 0; i < y.numel(); ++i) {
      const auto at = static_cast<int64_t>(test::get(c.index, i));
      EXPECT_EQ(test::get(y, i), test::get(c.x, moved(c.index.sizes(), i, c.dim, at, c.x.sizes())));
    }
  }
}

TEST(Indexing, ScatterAddAddsWhereTheIndexSays) {
  for (int round = 0; round < 100; ++round) {
    const Drawn c;
    Dims larger = c.index.impl().sizes;
    for (int64_t& size : larger) size += test::pick(0, 2);
    const Tensor src = test::random_tensor(larger, kDouble);
    std::vector<double> expected = to_vector(c.x);
    for (int64_t i = 0; i < c.index.numel(); ++i) {
      const auto at = static_cast<int64_t>(test::get(c.index, i));
      const int64_t from =
          moved(c.index.sizes(), i, 0, c.index.dim() ? i / (c.index.numel() / c.index.size(0)) : 0,
                src.sizes());
      expected[static_cast<size_t>(moved(c.index.sizes(), i, c.dim, at, c.x.sizes()))] +=
          test::get(src, from);
    }
    const std::vector<double> before = to_vector(c.x);
    expect_values(c.x.scatter_add(c.dim, c.index, src), expected, 1e-12);
    EXPECT_EQ(to_vector(c.x), before);
  }
}

TEST(Indexing, RefusesIndicesOutOfRangeAndChangesNothing) {
  const Tensor x = zeros({2, 3});
  for (int64_t bad : {-1, 2, 1000}) {
    const Tensor index = tensor({{0, static_cast<int>(bad), 1}});
    expect_error<IndexError>([&] { x.gather(0, index); }, "gather");
    expect_error<IndexError>([&] { x.scatter_add(0, index, ones({1, 3})); }, "scatter_add");
  }
  expect_values(x, std::vector<double>(6, 0), 0);
  expect_error<IndexError>(
      [&] {
        zeros({2, 0}).gather(1, zeros({2, 1}, kLong));
      },
      "gather: index 0 is out of bounds for dimension 1 with size 0, which has "
      "no place; give an empty index");
}

TEST(Indexing, RefusesShapesAndDtypesThatDoNotFit) {
  const Tensor x = zeros({2, 3}), index = zeros({2, 2}, kLong);
  expect_error<TypeError>(
      [&] {
        x.gather(0, zeros({2, 2}));
      },
      "gather: Expected dtype int64 for index, not float32");
  expect_error<ValueError>([&] { x.gather(0, zeros({2}, kLong)); },
                           "gather: Index tensor must have the same number of dimensions as input "
                           "tensor, and has 1, not 2");
  expect_error<ValueError>([&] { x.gather(1, zeros({3, 1}, kLong)); }, "larger than self");
  expect_error<IndexError>(
      [&] { x.gather(2, index); },
      "gather: Dimension out of range (expected to be in range of [-2, 1], but "
      "got 2)");
  expect_error<TypeError>([&] { x.scatter_add(0, index, zeros({2, 2}, kLong)); }, "src has dtype");
  expect_error<ValueError>([&] { x.scatter_add(0, index, zeros({1, 2})); }, "larger than src");
  expect_error<ValueError>([&] { x.scatter_add(0, index, zeros({2})); }, "src has shape [2]");
}

TEST(Indexing, OfScalarsAndOfNothing) {
  expect_values(tensor(3.5).gather(0, tensor(0)), {3.5}, 0);
  EXPECT_EQ(zeros({2, 3}).gather(1, zeros({2, 0}, kLong)).sizes(), IntArrayRef({2, 0}));
  expect_values(ones({2}).scatter_add(0, zeros({0}, kLong), zeros({0})), {1, 1}, 0);
}

}  // namespace
}  // namespace gradus
