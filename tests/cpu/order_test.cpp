// Cases beyond tests/tensor/order_test.cpp: threads, operands that are also results, and views.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "gradus/cpu/parallel.h"
#include "tests/random.h"

namespace gradus::test {
namespace {

// f() in a parallel loop, where everything inside runs on one thread.
template <class F>
void on_one_thread(const F& f) {
  cpu::parallel_for(0, 2, 1, [&](int64_t i, int64_t) {
    if (i == 0) f();
  });
}

Tensor normal(IntArrayRef sizes) {
  const Tensor out = test::empty(sizes);
  cpu_backend().random(Distribution::normal, 0, 1, {static_cast<uint64_t>(pick(0, 1000)), 0}, out);
  return out;
}

void expect_same_bytes(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.sizes(), b.sizes());
  EXPECT_EQ(std::memcmp(a.data_ptr(), b.data_ptr(), a.nbytes()), 0) << a.sizes();
}

TEST(CpuScan, IsTheSameOnAnyNumberOfThreads) {
  for (const Dims& sizes : {Dims{200'001}, Dims{70'001, 3}, Dims{3001, 70}}) {
    const Tensor x = normal(sizes);
    for (int64_t d = 0; d < x.dim(); ++d) {
      Tensor one;
      on_one_thread([&] { one = raw::scan(ScanOp::cumsum, x, d); });
      expect_same_bytes(raw::scan(ScanOp::cumsum, x, d), one);
    }
  }
}

TEST(CpuSort, IsTheSameOnAnyNumberOfThreads) {
  for (const Dims& sizes : {Dims{200'001}, Dims{301, 70}}) {
    const Tensor x = normal(sizes);
    raw::ValuesAndIndices one;
    on_one_thread([&] { one = raw::sort(x, 0, true); });
    const auto many = raw::sort(x, 0, true);
    expect_same_bytes(many.values, one.values);
    expect_same_bytes(many.indices, one.indices);
  }
}

// Keys of few bits, high, low or in the middle; of both signs; or all the same.
TEST(CpuSort, OfKeysThatDifferInAnyBits) {
  for (int round = 0; round < 200; ++round) {
    const int64_t n = pick(1, round % 20 ? 3000 : 200'000);
    const int bits = static_cast<int>(pick(0, 63)), shift = static_cast<int>(pick(0, 63 - bits));
    const int64_t start = pick(0, 1) ? 0 : pick(-5, 5), most = (int64_t{1} << bits) - 1;
    const Tensor x = test::empty({n}, kLong);
    int64_t* const keys = x.data_ptr<int64_t>();
    for (int64_t i = 0; i < n; ++i)
      keys[i] = static_cast<int64_t>((static_cast<uint64_t>(pick(0, most)) << shift) +
                                     static_cast<uint64_t>(start));
    std::vector<int64_t> want(static_cast<size_t>(n));
    std::iota(want.begin(), want.end(), 0);
    std::stable_sort(want.begin(), want.end(),
                     [&](int64_t a, int64_t b) { return keys[a] < keys[b]; });
    const auto order = raw::sort(x, 0, false);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t index = order.indices.data_ptr<int64_t>()[i];
      ASSERT_EQ(index, want[static_cast<size_t>(i)]) << bits << " bits from " << shift;
      ASSERT_EQ(order.values.data_ptr<int64_t>()[i], keys[index]);
    }
  }
}

// An index made of the mask selects the same elements, at every density of the mask.
TEST(CpuMaskedSelect, IsWhatAnIndexChooses) {
  for (int round = 0; round < 60; ++round) {
    const double share = real(-0.2, 1.2);
    const Dims sizes = {pick(1, 300), pick(1, 40), pick(1, 5)};
    Dims leading = sizes;
    leading.resize(static_cast<size_t>(pick(1, 3)));
    const Tensor mask = test::empty(leading, kBool);
    for (int64_t i = 0; i < mask.numel(); ++i) mask.data_ptr<bool>()[i] = real(0, 1) < share;
    Tensor x = raw::to(normal(sizes), pick(0, 1) ? kFloat : kHalf);
    if (pick(0, 1)) x = raw::transpose(raw::contiguous(raw::transpose(x, 0, 1)), 0, 1);
    const Tensor expected = raw::index("index", x, raw::index_list("index", x, mask));
    const Tensor got = raw::masked_select("index", x, mask);
    expect_same_bytes(got, expected);
    Tensor one;
    on_one_thread([&] { one = raw::masked_select("index", x, mask); });
    expect_same_bytes(got, one);
  }
}

TEST(CpuNonzero, IsTheSameOnAnyNumberOfThreads) {
  const Tensor x = raw::to(normal({300, 501}), kLong);
  Tensor one;
  on_one_thread([&] { one = raw::nonzero(x); });
  EXPECT_GT(one.numel(), 0);
  expect_same_bytes(raw::contiguous(raw::nonzero(x)), raw::contiguous(one));
}

TEST(CpuScan, ResultsMayBeTheOperandOrAView) {
  for (const Dims& sizes : {Dims{100'000}, Dims{40'000, 2}, Dims{20, 30}, Dims{5, 1}}) {
    const Tensor x = normal(sizes), sums = raw::scan(ScanOp::cumsum, x, 0);
    const auto most = raw::arg_scan(true, x, 0), sorted = raw::sort(x, 0, false);
    const Tensor values = random_layout(sizes, kFloat), indices = random_layout(sizes, kLong);
    cpu_backend().scan(ScanOp::cumsum, x, 0, values);
    expect_same_bytes(raw::clone(values), sums);
    cpu_backend().arg_scan(true, x, 0, values, indices);
    expect_same_bytes(raw::clone(values), most.values);
    expect_same_bytes(raw::clone(indices), most.indices);
    cpu_backend().sort(x, 0, false, values, indices);
    expect_same_bytes(raw::clone(values), sorted.values);
    expect_same_bytes(raw::clone(indices), sorted.indices);
    cpu_backend().scan(ScanOp::cumsum, x, 0, x);
    expect_same_bytes(x, sums);
  }
}

// A sum does not depend on what comes behind it, on the layout, or on how many lines there are.
TEST(CpuScan, ASumDependsOnTheElementsBeforeItAlone) {
  for (const ScalarType dtype : {kFloat, kDouble, kLong}) {
    const Tensor x = random_tensor({100, 40}, dtype, -1e6, 1e6);
    const Tensor sums = raw::scan(ScanOp::cumsum, x, 1);
    for (int64_t n = 1; n <= 40; ++n) {
      const Tensor part = random_layout({100, n}, dtype);
      cpu_backend().scan(ScanOp::cumsum, raw::narrow(x, 1, 0, n), 1, part);
      expect_same_bytes(raw::clone(part), raw::contiguous(raw::narrow(sums, 1, 0, n)));
    }
  }
  const int64_t n = 70'001;
  const Tensor x = random_tensor({n}, kDouble), sums = raw::scan(ScanOp::cumsum, x, 0);
  for (const int64_t lines : {2, 80}) {
    const Tensor column = raw::as_strided(x, {n, 1}, {x.strides()[0], 1}, x.storage_offset());
    const Tensor many = raw::contiguous(raw::expand(column, {n, lines}));
    const Tensor got = raw::scan(ScanOp::cumsum, many, 0);
    for (const int64_t line : {int64_t{0}, lines - 1})
      for (int64_t i = 0; i < n; ++i) ASSERT_EQ(get(got, i * lines + line), get(sums, i)) << i;
  }
}

TEST(CpuScan, SpecialValues) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const double nan = std::nan("");
  const auto expect = [](ScanOp op, const std::vector<double>& x, const std::vector<double>& want) {
    for (const ScalarType dtype : {kFloat, kDouble}) {
      const Tensor got = raw::scan(op, tensor({std::ssize(x)}, x, dtype), 0);
      for (size_t i = 0; i < x.size(); ++i) {
        const double sum = get(got, static_cast<int64_t>(i));
        EXPECT_TRUE(sum == want[i] || (sum != sum && want[i] != want[i])) << sum << " at " << i;
        EXPECT_TRUE(sum != sum || std::signbit(sum) == std::signbit(want[i])) << sum << " at " << i;
      }
    }
  };
  expect(ScanOp::cumsum, {-0.0, -0.0, 1, -1, -0.0}, {0, 0, 1, 0, 0});
  expect(ScanOp::cumsum, {1, 2, inf, 3, 4, -inf, 5}, {1, 3, inf, inf, inf, nan, nan});
  expect(ScanOp::cumsum, {1, 2, 3, 4, nan, 1}, {1, 3, 6, 10, nan, nan});
  expect(ScanOp::cumprod, {-0.0, 2, inf, 1}, {-0.0, -0.0, nan, nan});
}

// The error of 3 million float additions would be seen; that of double ones is not.
TEST(CpuScan, LongSumsAreExactToTheLastRounding) {
  const int64_t n = 3'000'000;
  const Tensor x = test::empty({n});
  cpu_backend().random(Distribution::uniform, 0, 1, {9, 0}, x);
  const Tensor got = raw::scan(ScanOp::cumsum, x, 0);
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    sum += static_cast<double>(x.data_ptr<float>()[i]);
    ASSERT_NEAR(static_cast<double>(got.data_ptr<float>()[i]), sum, 0x1.01p-24 * sum) << i;
  }
}

}  // namespace
}  // namespace gradus::test
