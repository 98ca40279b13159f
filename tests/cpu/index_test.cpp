// gather, scatter and indices out of range on the CPU.
#include <gtest/gtest.h>

#include "tests/random.h"

namespace gradus::test {
namespace {

// The row-major index in `into` of the element that position i of index, with dim replaced by
// `chosen`, stands for.
int64_t chosen_index(const Tensor& index, const Tensor& into, int64_t dim, int64_t i,
                     int64_t chosen) {
  int64_t out = 0, scale = 1;
  for (int64_t d = index.dim(); d-- > 0; i /= index.sizes()[d], scale *= into.sizes()[d])
    out += (d == dim ? chosen : i % index.sizes()[d]) * scale;
  return out;
}

struct Case {
  Tensor x, index;
  int64_t dim;
};
Case random_case(ScalarType dtype) {
  Dims sizes = random_sizes(3, 7);
  if (sizes.empty()) sizes.push_back(3);
  const int64_t dim = pick(0, static_cast<int64_t>(sizes.size()) - 1);
  Dims index_sizes = sizes;
  for (int64_t& size : index_sizes) size = pick(1, size);
  index_sizes[dim] = pick(1, 9);
  return {random_tensor(sizes, dtype),
          random_tensor(index_sizes, kLong, 0, static_cast<double>(sizes[dim])), dim};
}

IndexRule rule_of(const char* op, const Tensor& x, int64_t dim) { return {op, dim, x.size(dim)}; }

TEST(CpuGather, RandomCases) {
  for (ScalarType dtype : {kBool, kLong, kFloat, kDouble})
    for (int round = 0; round < 30; ++round) {
      const auto [x, index, dim] = random_case(dtype);
      const Tensor out = random_layout(index.sizes(), dtype);
      cpu_backend().gather(rule_of("gather", x, dim), x, dim, index, out);
      for (int64_t i = 0; i < out.numel(); ++i) {
        const int64_t chosen = static_cast<int64_t>(get(index, i));
        ASSERT_EQ(get(out, i), get(x, chosen_index(index, x, dim, i, chosen)));
      }
    }
}

double put_to(ScatterOp op, double there, double fresh) {
  switch (op) {
    case ScatterOp::sum:
      return there + fresh;
    case ScatterOp::prod:
      return there * fresh;
    case ScatterOp::amax:
      return std::max(there, fresh);
    case ScatterOp::amin:
      return std::min(there, fresh);
    default:
      return fresh;
  }
}
constexpr ScatterOp kAllOps[] = {ScatterOp::set, ScatterOp::sum, ScatterOp::prod, ScatterOp::amax,
                                 ScatterOp::amin};

void check_scatter(ScatterOp op, const Case& drawn, ScalarType dtype) {
  const auto& [x, index, dim] = drawn;
  const Tensor out = random_layout(x.sizes(), dtype);
  const Tensor src = pick(0, 2) ? random_tensor(index.sizes(), dtype)
                                : raw::expand(random_tensor({}, dtype), index.sizes());
  cpu_backend().copy(x, out);
  std::vector<double> want;
  for (int64_t i = 0; i < x.numel(); ++i) want.push_back(get(x, i));
  for (int64_t i = 0; i < index.numel(); ++i) {
    const int64_t chosen = static_cast<int64_t>(get(index, i));
    double& there = want[static_cast<size_t>(chosen_index(index, x, dim, i, chosen))];
    there = put_to(op, there, get(src, i));
  }
  cpu_backend().scatter(op, rule_of("scatter", out, dim), dim, index, src, out);
  for (int64_t i = 0; i < x.numel(); ++i) {
    const double expected = want[static_cast<size_t>(i)];
    ASSERT_NEAR(get(out, i), expected, 1e-5 * std::max(1.0, std::abs(expected)));
  }
}

TEST(CpuScatter, RandomCases) {
  for (const ScatterOp op : kAllOps)
    for (const ScalarType dtype : {kLong, kFloat, kDouble})
      for (int round = 0; round < 30; ++round) check_scatter(op, random_case(dtype), dtype);
  for (const ScalarType dtype : {kBool, kShort, kInt})  // are moved
    for (int round = 0; round < 10; ++round)
      check_scatter(ScatterOp::set, random_case(dtype), dtype);
}

// One number of the index for each row of src, or column, which may be one number too.
TEST(CpuScatter, WholeRowsAndColumns) {
  for (const ScatterOp op : kAllOps)
    for (int round = 0; round < 60; ++round) {
      const int64_t rows = pick(1, 9), columns = pick(1, 40), dim = pick(0, 1), count = pick(1, 9);
      const Dims list = dim == 0 ? Dims{count, 1} : Dims{1, count};
      const Dims sizes = dim == 0 ? Dims{count, columns} : Dims{rows, count};
      const Tensor places = empty(list, kLong);
      for (int64_t i = 0; i < count; ++i)
        set(places, i, static_cast<double>(pick(0, (dim == 0 ? rows : columns) - 1)));
      const Case drawn{random_tensor({rows, columns}, kFloat), raw::expand(places, sizes), dim};
      check_scatter(op, drawn, kFloat);
    }
}

// More lines than one thread takes, in either order of memory, and with one index for all lines.
TEST(CpuScatter, SharesLinesAmongThreads) {
  for (const Dims& sizes : {Dims{3, 70'000}, Dims{70'000, 3}, Dims{400, 300}})
    for (const int64_t dim : {0, 1})
      for (const bool one_index : {false, true}) {
        Dims index_sizes = sizes;
        index_sizes[dim] = 5;
        Dims stored = index_sizes;
        if (one_index) stored[1 - dim] = 1;
        const Tensor index = raw::expand(
            random_tensor(stored, kLong, 0, static_cast<double>(sizes[dim])), index_sizes);
        check_scatter(ScatterOp::sum, {random_tensor(sizes, kDouble), index, dim}, kDouble);
      }
}

TEST(CpuScatter, PutsInTheOrderOfTheIndex) {
  // (1e8 + 1) - 1e8 is 0 in float32, and (1e8 - 1e8) + 1 is 1.
  const Tensor out = empty({2}), index = tensor({6}, {0, 0, 0, 1, 1, 1}, kLong);
  const Tensor src = tensor({6}, {1e8, 1, -1e8, 1e8, -1e8, 1});
  cpu_backend().fill(out, 0);
  cpu_backend().scatter(ScatterOp::sum, {"scatter", 0, 2}, 0, index, src, out);
  EXPECT_EQ(get(out, 0), 0);
  EXPECT_EQ(get(out, 1), 1);
  cpu_backend().scatter(ScatterOp::set, {"scatter", 0, 2}, 0, index, src, out);
  EXPECT_EQ(get(out, 0), static_cast<double>(-1e8f));
  EXPECT_EQ(get(out, 1), 1);
}

TEST(CpuIndex, OutOfRangeWritesNothing) {
  const Tensor x = tensor({2, 2}, {1, 2, 3, 4}), out = tensor({2, 2}, {5, 6, 7, 8});
  for (const bool wraps : {false, true})
    for (const double bad : {2.0, wraps ? -3.0 : -1.0}) {
      const Tensor index = tensor({2, 2}, {0, 1, 0, bad}, kLong);
      const std::string text = "op: index " + std::to_string(static_cast<int>(bad)) +
                               " is out of bounds for dimension 7 with size 2; expected " +
                               (wraps ? "-2" : "0") + " <= index < 2";
      const auto message = [&](const auto& call) -> std::string {
        try {
          call();
        } catch (const IndexError& error) {
          return error.msg();
        }
        return "no IndexError";
      };
      const IndexRule rule{"op", 7, 2, wraps};
      const Tensor unused = empty({2, 2});
      EXPECT_EQ(message([&] { cpu_backend().gather(rule, x, 0, index, unused); }), text);
      for (const ScatterOp op : kAllOps)
        EXPECT_EQ(message([&] { cpu_backend().scatter(op, rule, 0, index, x, out); }), text);
      for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(get(out, i), static_cast<double>(i + 5));
    }
}

TEST(CpuScatter, SeesTheFarthestNumbersAmongMany) {
  constexpr int64_t n = 1000, least = std::numeric_limits<int64_t>::min();
  const Tensor src = tensor({n}, std::vector<double>(n, 1)), index = empty({n}, kLong);
  int64_t* const numbers = index.data_ptr<int64_t>();
  for (const bool wraps : {false, true})
    for (const int64_t bad : {n, -n - 1, least, least + 1, -(least + 1), least + n,
                              int64_t{1} << 62, wraps ? -n - 2 : -1}) {
      for (int64_t i = 0; i < n; ++i) numbers[i] = wraps && i % 3 == 0 ? -n + i : i;
      const Tensor out = tensor({n}, std::vector<double>(n, 2));
      const IndexRule rule{"op", 0, n, wraps};
      cpu_backend().scatter(ScatterOp::sum, rule, 0, index, src, out);
      for (int64_t i = 0; i < n; ++i) ASSERT_EQ(get(out, i), 3);
      numbers[pick(0, n - 1)] = bad;
      EXPECT_THROW(cpu_backend().scatter(ScatterOp::sum, rule, 0, index, src, out), IndexError)
          << bad;
      for (int64_t i = 0; i < n; ++i) ASSERT_EQ(get(out, i), 3);
    }
}

TEST(CpuIndex, NegativeNumbersCountFromTheEndWhereTheRuleSaysSo) {
  const IndexRule rule{"op", 0, 3, true};
  const Tensor x = tensor({3}, {1, 2, 3}), index = tensor({3}, {-1, 0, -3}, kLong);
  const Tensor out = empty({3});
  cpu_backend().gather(rule, x, 0, index, out);
  EXPECT_EQ((std::vector{get(out, 0), get(out, 1), get(out, 2)}), (std::vector{3.0, 1.0, 1.0}));
  cpu_backend().scatter(ScatterOp::sum, rule, 0, index, x, out);
  EXPECT_EQ((std::vector{get(out, 0), get(out, 1), get(out, 2)}), (std::vector{8.0, 1.0, 2.0}));
  const Tensor offsets = tensor({3}, {100, 200, 300}, kLong);
  cpu_backend().add_offsets(rule, 10, index, offsets);
  EXPECT_EQ((std::vector{get(offsets, 0), get(offsets, 1), get(offsets, 2)}),
            (std::vector{120.0, 200.0, 300.0}));
}

TEST(CpuWhere, RandomCases) {
  for (const ScalarType dtype : {kBool, kShort, kInt, kFloat, kDouble})
    for (int round = 0; round < 40; ++round) {
      const Dims sizes = random_sizes(3, 9);
      const Tensor condition = random_tensor(sizes, kBool), x = random_tensor(sizes, dtype);
      const Tensor y =
          round % 2 ? random_tensor(sizes, dtype) : raw::expand(random_tensor({}, dtype), sizes);
      const Tensor out = random_layout(sizes, dtype);
      const bool swapped = round % 3 == 0;
      cpu_backend().where(condition, swapped ? y : x, swapped ? x : y, out);
      for (int64_t i = 0; i < out.numel(); ++i)
        ASSERT_EQ(get(out, i), get((get(condition, i) != 0) != swapped ? x : y, i));
    }
}

}  // namespace
}  // namespace gradus::test
