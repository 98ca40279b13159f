// Sorting, searching and counting against the standard library, on random lists with ties.
#include <map>

#include "gradus/gradus.h"
#include "tests/random.h"
#include "tests/support.h"

namespace gradus {
namespace {

// Whole numbers of a small range.
Tensor random_list(int64_t n, ScalarType dtype) {
  return test::random_tensor({n}, dtype, -4, 4).to(kLong).to(dtype);
}

TEST(Order, TopkIsTheHeadOfTheSortedList) {
  for (int round = 0; round < 20; ++round) {
    const int64_t n = test::pick(1, 40), k = test::pick(0, n);
    const Tensor x = random_list(n, kFloat);
    std::vector<double> expected = to_vector(x);
    const bool largest = test::pick(0, 1);
    std::sort(expected.begin(), expected.end());
    if (largest) std::reverse(expected.begin(), expected.end());
    expected.resize(static_cast<size_t>(k));
    const auto [values, indices] = x.topk(k, 0, largest);
    expect_values(values, expected, 0);
    expect_values(x.index_select(0, indices), expected, 0);
  }
}

TEST(Order, UniqueCountsWhatAMapCounts) {
  for (const ScalarType dtype : {kLong, kFloat, kByte, kBool}) {
    const int64_t n = test::pick(1, 200);
    const Tensor x = dtype == kBool ? random_list(n, dtype) : random_list(n, dtype).abs();
    std::map<double, double> counted;
    for (double value : to_vector(x)) ++counted[value];
    std::vector<double> values, counts;
    for (const auto& [value, count] : counted) values.push_back(value), counts.push_back(count);
    const auto [got, inverse, got_counts] = _unique2(x, true, true, true);
    EXPECT_EQ(got.dtype(), dtype);
    expect_values(got, values, 0);
    expect_values(got_counts, counts, 0);
    expect_values(got.index_select(0, inverse), to_vector(x), 0);
  }
}

TEST(Order, UniqueSlicesAreInLexicographicOrder) {
  const Tensor x = random_list(90, kLong).reshape({30, 3});
  std::map<std::vector<double>, double> counted;
  for (int64_t i = 0; i < 30; ++i) ++counted[to_vector(x[i])];
  std::vector<double> values, counts;
  for (const auto& [row, count] : counted) {
    values.insert(values.end(), row.begin(), row.end());
    counts.push_back(count);
  }
  const auto [got, inverse, got_counts] = unique_dim(x, 0, true, true, true);
  expect_values(got, values, 0);
  expect_values(got_counts, counts, 0);
  expect_values(got.index_select(0, inverse), to_vector(x), 0);
}

TEST(Order, SearchsortedCountsAsTheStandardLibraryDoes) {
  for (int round = 0; round < 30; ++round) {
    const Tensor list = std::get<0>(random_list(test::pick(0, 70), kDouble).sort());
    const Tensor wanted = test::random_tensor({5, 3}, kDouble, -5, 5);
    const std::vector<double> sequence = to_vector(list);
    std::vector<double> lower, upper;
    for (double value : to_vector(wanted)) {
      const auto begin = sequence.begin(), end = sequence.end();
      lower.push_back(static_cast<double>(std::lower_bound(begin, end, value) - begin));
      upper.push_back(static_cast<double>(std::upper_bound(begin, end, value) - begin));
    }
    expect_values(searchsorted(list, wanted), lower, 0);
    expect_values(bucketize(wanted, list, false, true), upper, 0);
  }
}

TEST(Order, SearchRefusesContradictions) {
  const Tensor list = arange(3), x = tensor({1, 2});
  expect_error<ValueError>([&] { searchsorted(list, x, false, true, "left"); }, "right is true");
  expect_error<ValueError>([&] { searchsorted(list, x, false, false, "middle"); }, "left or right");
  expect_error<ValueError>([&] { searchsorted(list, x, false, false, {}, arange(2)); }, "sorter");
}

TEST(Order, ModeIsTheSmallestOfTheMostFrequent) {
  for (int round = 0; round < 20; ++round) {
    const Tensor x = random_list(test::pick(1, 30), kLong);
    std::map<double, int> counted;
    for (double value : to_vector(x)) ++counted[value];
    double best = counted.begin()->first;
    for (const auto& [value, count] : counted)
      if (count > counted[best]) best = value;
    const auto [value, index] = x.mode();
    expect_values(value, {best}, 0);
    expect_values(x[index.item<int64_t>()], {best}, 0);
  }
}

TEST(Order, MedianIsTheLowerOneOfTheMiddleElements) {
  for (int64_t n = 1; n < 8; ++n) {
    const Tensor x = randperm(n).to(kFloat);
    const auto middle = static_cast<double>((n - 1) / 2);
    expect_values(x.median(), {middle}, 0);
    const auto [value, index] = x.median(0);
    expect_values(value, {middle}, 0);
    expect_values(x[index.item<int64_t>()], {middle}, 0);
  }
}

TEST(Order, HistogramCountsEveryElementOnce) {
  manual_seed(3);
  const Tensor x = randn({1000});
  const Tensor counts = histc(x, 17);
  expect_values(counts.sum(), {1000}, 0);
  EXPECT_EQ(counts.dtype(), kFloat);
  // An edge belongs to the bin above it, the last edge to the last bin.
  expect_values(histc(tensor({0.0, 1.0, 2.0, 3.0}), 3, 0, 3), {1, 1, 2}, 0);
}

TEST(Order, HistogramCountsWhatLiesBetweenItsEdges) {
  manual_seed(4);
  const Tensor x = randn({20, 50});
  const auto [hist, edges] = histogram(x, 13);
  expect_values(hist.sum(), {1000}, 0);
  EXPECT_EQ(edges.sizes(), IntArrayRef({14}));
  const auto [again, same] = histogram(x, edges);
  EXPECT_TRUE(equal(again, hist) && equal(same, edges) && !same.is_alias_of(edges));
  EXPECT_NEAR((std::get<0>(histogram(x, 13, std::nullopt, std::nullopt, true)) * edges.diff())
                  .sum()
                  .item<double>(),
              1, 1e-6);
  // NaN belongs to no bin.
  const Tensor some = tensor({double{NAN}, 0.0, 0.5, 1.0, 1.5, HUGE_VAL});
  expect_values(std::get<0>(histogram(some, tensor({0.0, 1.0, 2.0}))), {2, 2}, 0);
  expect_values(std::get<0>(histogram(some, tensor({0.0, 1.0, 2.0}), full({6}, 0.25))), {0.5, 0.5},
                0);
  EXPECT_FALSE(std::get<0>(histogram(x.clone().requires_grad_(), 3)).requires_grad());
}

}  // namespace
}  // namespace gradus
