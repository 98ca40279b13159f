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

TEST(CpuGather, RandomCases) {
  for (ScalarType dtype : {kBool, kLong, kFloat, kDouble})
    for (int round = 0; round < 30; ++round) {
      const auto [x, index, dim] = random_case(dtype);
      const Tensor out = random_layout(index.sizes(), dtype);
      cpu_backend().gather(x, dim, index, out);
      for (int64_t i = 0; i < out.numel(); ++i) {
        const int64_t chosen = static_cast<int64_t>(get(index, i));
        ASSERT_EQ(get(out, i), get(x, chosen_index(index, x, dim, i, chosen)));
      }
    }
}

TEST(CpuScatterAdd, RandomCases) {
  for (ScalarType dtype : {kLong, kFloat, kDouble})
    for (int round = 0; round < 30; ++round) {
      const auto [x, index, dim] = random_case(dtype);
      const Tensor out = random_layout(x.sizes(), dtype);
      const Tensor src = random_tensor(index.sizes(), dtype);
      cpu_backend().copy(x, out);
      std::vector<double> want;
      for (int64_t i = 0; i < x.numel(); ++i) want.push_back(get(x, i));
      for (int64_t i = 0; i < index.numel(); ++i) {
        const int64_t chosen = static_cast<int64_t>(get(index, i));
        want[static_cast<size_t>(chosen_index(index, x, dim, i, chosen))] += get(src, i);
      }
      cpu_backend().scatter_add(dim, index, src, out);
      for (int64_t i = 0; i < x.numel(); ++i)
        ASSERT_NEAR(get(out, i), want[static_cast<size_t>(i)], 1e-5);
    }
}

TEST(CpuScatterAdd, AddsInTheOrderOfTheIndex) {
  // (1e8 + 1) - 1e8 is 0 in float32, and (1e8 - 1e8) + 1 is 1.
  const Tensor out = empty({2}), index = tensor({6}, {0, 0, 0, 1, 1, 1}, kLong);
  cpu_backend().fill(out, 0);
  cpu_backend().scatter_add(0, index, tensor({6}, {1e8, 1, -1e8, 1e8, -1e8, 1}), out);
  EXPECT_EQ(get(out, 0), 0);
  EXPECT_EQ(get(out, 1), 1);
}

TEST(CpuIndex, OutOfRangeWritesNothing) {
  const Tensor x = tensor({2, 2}, {1, 2, 3, 4}), out = tensor({2, 2}, {5, 6, 7, 8});
  for (double bad : {2.0, -1.0}) {
    const Tensor index = tensor({2, 2}, {0, 1, 0, bad}, kLong);
    const std::string text = "index " + std::to_string(static_cast<int>(bad)) +
                             " is out of range for dimension 0 of size 2; expected 0 <= index < 2";
    const auto expect_error = [&](const std::string& op, const auto& call) {
      try {
        call();
        FAIL() << "expected IndexError";
      } catch (const IndexError& error) {
        EXPECT_EQ(error.msg(), op + ": " + text);
      }
      for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(get(out, i), static_cast<double>(i + 5));
    };
    expect_error("gather", [&] { cpu_backend().gather(x, 0, index, out); });
    expect_error("scatter_add", [&] { cpu_backend().scatter_add(0, index, x, out); });
  }
}

}  // namespace
}  // namespace gradus::test
