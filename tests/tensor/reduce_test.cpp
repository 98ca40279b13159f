// Reductions over every subset of dimensions, against loops over all elements in float64.
#include <numeric>

#include "tests/random.h"
#include "tests/support.h"

namespace gradus {
namespace {

// The values behind each element of the reduced tensor (of size 1 in the reduced dimensions).
std::vector<std::vector<double>> groups(const Tensor& x, const std::vector<bool>& reduced) {
  int64_t count = 1;
  for (int64_t d = 0; d < x.dim(); ++d) count *= reduced[static_cast<size_t>(d)] ? 1 : x.size(d);
  std::vector<std::vector<double>> out(static_cast<size_t>(count));
  for (int64_t i = 0; i < x.numel(); ++i) {
    int64_t rest = i, group = 0, step = 1;
    for (int64_t d = x.dim(); d-- > 0; rest /= x.size(d)) {
      if (reduced[static_cast<size_t>(d)]) continue;
      group += rest % x.size(d) * step;
      step *= x.size(d);
    }
    out[static_cast<size_t>(group)].push_back(test::get(x, i));
  }
  return out;
}

double sum_of(const std::vector<double>& v) { return std::accumulate(v.begin(), v.end(), 0.0); }
double largest(const std::vector<double>& v) { return *std::max_element(v.begin(), v.end()); }
double smallest(const std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); }

TEST(Reductions, OverEverySubsetOfDims) {
  for (int round = 0; round < 40; ++round) {
    const ScalarType dtype = test::pick(0, 1) ? kFloat : kDouble;
    const Tensor x = test::random_tensor(test::random_sizes(4, 5), dtype);
    for (int64_t subset = 0; subset < int64_t{1} << x.dim(); ++subset) {
      std::vector<int64_t> dims;
      std::vector<bool> reduced;
      Dims kept, dropped;
      for (int64_t d = 0; d < x.dim(); ++d) {
        reduced.push_back(subset >> d & 1);
        if (reduced.back()) dims.push_back(test::pick(0, 1) ? d : d - x.dim());
        kept.push_back(reduced.back() ? 1 : x.size(d));
        if (!reduced.back()) dropped.push_back(x.size(d));
      }
      if (dims.empty()) {  // an empty list means every dimension
        reduced.assign(reduced.size(), true);
        kept = Dims::filled(x.dim(), 1), dropped = {};
      }
      std::vector<double> sum, mean, most, least;
      for (const auto& values : groups(x, reduced)) {
        sum.push_back(sum_of(values));
        mean.push_back(sum.back() / static_cast<double>(values.size()));
        most.push_back(largest(values)), least.push_back(smallest(values));
      }
      const double tolerance = dtype == kFloat ? 1e-4 : 1e-12;
      for (bool keepdim : {false, true}) {
        EXPECT_EQ(x.sum(dims, keepdim).sizes(), IntArrayRef(keepdim ? kept : dropped));
        expect_values(x.sum(dims, keepdim), sum, tolerance);
        expect_values(x.mean(dims, keepdim), mean, tolerance);
        expect_values(x.amax(dims, keepdim), most, 0);
        expect_values(x.amin(dims, keepdim), least, 0);
      }
    }
  }
}

TEST(Reductions, AlongOneDimGiveTheFirstExtreme) {
  for (int round = 0; round < 60; ++round) {
    Dims sizes = test::random_sizes(3, 6);
    sizes.push_back(test::pick(1, 9));
    // Few different numbers, so that many are equal.
    const Tensor x = test::random_tensor(sizes, test::pick(0, 1) ? kLong : kDouble, -2, 3);
    const Tensor rounded = x.to(kLong).to(x.dtype());
    const int64_t dim = test::pick(0, x.dim() - 1);
    std::vector<bool> reduced(sizes.size(), false);
    reduced[static_cast<size_t>(dim)] = true;
    std::vector<double> values, indices, low, low_indices;
    for (const auto& group : groups(rounded, reduced)) {
      values.push_back(largest(group)), low.push_back(smallest(group));
      const auto first = [&](double v) {
        return static_cast<double>(std::find(group.begin(), group.end(), v) - group.begin());
      };
      indices.push_back(first(values.back())), low_indices.push_back(first(low.back()));
    }
    const auto [most, at] = rounded.max(dim);
    const auto [least, low_at] = rounded.min(dim - x.dim(), true);
    expect_values(most, values, 0);
    expect_values(at, indices, 0);
    expect_values(least, low, 0);
    expect_values(low_at, low_indices, 0);
    expect_values(rounded.argmax(dim), indices, 0);
    expect_values(rounded.argmin(dim, true), low_indices, 0);
    EXPECT_EQ(at.dtype(), kLong);
  }
}

TEST(Reductions, OfNothing) {
  expect_values(zeros({0}).sum(), {0}, 0);
  expect_values(zeros({2, 0, 3}).sum(1), std::vector<double>(6, 0), 0);
  EXPECT_TRUE(std::isnan(zeros({0}).mean().item<double>()));
  EXPECT_EQ(zeros({2, 0, 3}).sum(0).sizes(), IntArrayRef({0, 3}));
  EXPECT_EQ(zeros({2, 0, 3}).amax(0).sizes(), IntArrayRef({0, 3}));
  expect_error<IndexError>(
      [] {
        zeros({2, 0}).amax(1);
      },
      "amax: Expected reduction dim 1 to have non-zero size: shape [2, 0]");
  expect_error<IndexError>([] { zeros({0}).max(0); },
                           "max: Expected reduction dim 0 to have non-zero size: shape [0]");
  expect_error<IndexError>([] { zeros({0}).max(); },
                           "max: Expected reduction dim to be specified for input.numel() == 0");
  expect_error<IndexError>([] { zeros({0}).min(); },
                           "min: Expected reduction dim to be specified for input.numel() == 0");
  expect_error<IndexError>([] { zeros({0}).argmax(); },
                           "argmax: Expected reduction dim to be specified for input.numel() == 0");
  expect_error<IndexError>(
      [] {
        zeros({2, 0}).amin(IntArrayRef());
      },
      "amin: Expected reduction dim to be specified for input.numel() == 0");
}

// As PyTorch: of a list without dimensions, each element's own truth.
TEST(Reductions, AnyAndAllOverNoDimensions) {
  const OptionalIntArrayRef none{IntArrayRef()};
  for (const auto& of : {any(tensor({0., -2., 0.}), none), all(tensor({0., -2., 0.}), none)}) {
    EXPECT_EQ(of.dtype(), kBool);
    expect_values(of, {0, 1, 0}, 0);
  }
  EXPECT_EQ(any(zeros({2}, kByte), none).dtype(), kByte);
}

TEST(Reductions, LongSumsStayAccurate) {
  // One float32 accumulator would stall at 2^24.
  const int64_t n = (1 << 24) + 1000;
  EXPECT_EQ(ones({n}).sum().item<double>(), static_cast<double>(n));
  const Tensor tenth = full({2000000}, 0.1f);
  EXPECT_NEAR(tenth.sum().item<double>(), 2000000 * static_cast<double>(0.1f), 0.5);
}

TEST(Reductions, CountInInt64AndConvertFirst) {
  EXPECT_EQ(tensor({true, true, false}).sum().item<int64_t>(), 2);
  EXPECT_EQ(tensor({true}).sum().dtype(), kLong);
  EXPECT_EQ(tensor({0.6, 0.7}).sum(kLong).item<int64_t>(), 0);
  EXPECT_EQ(tensor({0.6, 0.0}).sum(kBool).item<bool>(), true);
  EXPECT_EQ(tensor({1, 2}).mean(kDouble).item<double>(), 1.5);
  expect_error<TypeError>(
      [] {
        tensor({1, 2}).mean();
      },
      "mean: could not infer output dtype. Input dtype must be either a floating "
      "point or complex dtype. Got: Long");
  expect_error<TypeError>([] { ones({2}).mean(kLong); }, "Optional dtype must be either");
}

TEST(Reductions, RefuseDimensionsThatAreNotThere) {
  const Tensor x = zeros({2, 3});
  expect_error<IndexError>(
      [&] { x.sum(2); },
      "sum: Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  expect_error<ValueError>(
      [&] {
        x.sum({0, -2});
      },
      "sum: dim 0 appears multiple times in the list of dims [0, -2]");
  expect_error<IndexError>([&] { x.max(-3); },
                           "max: Dimension out of range (expected to be in range of [-2, 1], but "
                           "got -3)");
  expect_error<ValueError>([&] { x.sum_to_size({4}); }, "sum_to_size");
}

TEST(Reductions, SumToSizeIsTheAdjointOfExpand) {
  const Tensor x = arange(12).view({2, 2, 3});
  expect_values(x.sum_to_size({3}), {18, 22, 26}, 0);
  expect_values(x.sum_to_size({2, 1}), {24, 42}, 0);
  expect_values(x.sum_to_size({}), {66}, 0);
  EXPECT_TRUE(x.sum_to_size({2, 2, 3}).is_same(x));
}

}  // namespace
}  // namespace gradus
