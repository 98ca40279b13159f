// Reductions on the CPU against plain loops.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "gradus/cpu/parallel.h"
#include "tests/random.h"

namespace gradus::test {
namespace {

// The row-major index of the output that element i of x belongs to.
int64_t output_index(const Tensor& x, const Tensor& out, int64_t i) {
  int64_t index = 0, scale = 1;
  for (int64_t d = x.dim(); d-- > 0; i /= x.sizes()[d], scale *= out.sizes()[d])
    index += i % x.sizes()[d] % out.sizes()[d] * scale;
  return index;
}

struct Reference {
  std::vector<long double> result, magnitude;  // and what its rounding errors are relative to
};
Reference reference(ReduceOp op, const Tensor& x, const Tensor& out) {
  std::vector<long double> result(static_cast<size_t>(out.numel())), magnitude(result.size());
  std::vector<int64_t> count(result.size());
  for (int64_t i = 0; i < x.numel(); ++i) {
    const size_t o = static_cast<size_t>(output_index(x, out, i));
    const long double value = get(x, i);
    magnitude[o] += std::abs(value);
    if (count[o]++ == 0)
      result[o] = value;
    else if (op == ReduceOp::amax)
      result[o] = std::max(result[o], value);
    else if (op == ReduceOp::amin)
      result[o] = std::min(result[o], value);
    else if (op == ReduceOp::prod)
      result[o] *= value;
    else
      result[o] += value;
  }
  if (op == ReduceOp::prod)
    for (size_t o = 0; o < result.size(); ++o) magnitude[o] = std::abs(result[o]);
  if (op == ReduceOp::mean)
    for (size_t o = 0; o < result.size(); ++o) result[o] /= static_cast<long double>(count[o]);
  return {result, magnitude};
}

void expect_reduction(ReduceOp op, const Tensor& x, const Tensor& out) {
  cpu_backend().reduce(op, x, out);
  const auto want = reference(op, x, out);
  // However many elements there are, at most some 300 roundings lie between one and its sum; as
  // many as there are in a product, of which no test has more than 300.
  const double unit = 300 * (out.dtype() == kFloat ? 0x1p-24 : 0x1p-53);
  for (int64_t o = 0; o < out.numel(); ++o) {
    const size_t at = static_cast<size_t>(o);
    ASSERT_NEAR(get(out, o), static_cast<double>(want.result[at]),
                unit * static_cast<double>(want.magnitude[at]))
        << name_of(op) << " of " << x.sizes() << x.strides() << " to " << out.sizes() << " at "
        << o;
  }
}

Dims reduced(IntArrayRef sizes) {
  Dims out(sizes.data(), sizes.size());
  for (int64_t& size : out)
    if (pick(0, 1)) size = 1;
  return out;
}

TEST(CpuReduce, RandomShapesDimsAndLayouts) {
  for (int round = 0; round < 200; ++round) {
    const ReduceOp op = static_cast<ReduceOp>(pick(0, 4));
    const ScalarType dtype = pick(0, 1) ? kFloat : kDouble;
    // Long products overflow the dtype.
    const Dims sizes =
        op == ReduceOp::prod ? random_sizes(3, 4) : random_sizes(4, pick(0, 3) ? 7 : 20);
    expect_reduction(op, random_tensor(sizes, dtype), random_layout(reduced(sizes), dtype));
  }
}

TEST(CpuReduce, SeveralChunksInEveryDirection) {
  for (ReduceOp op : {ReduceOp::sum, ReduceOp::amin})
    for (const Dims& out : {Dims{1, 1}, Dims{1, 131}, Dims{1009, 1}}) {
      expect_reduction(op, random_tensor({1009, 131}, kFloat), random_layout(out, kFloat));
      expect_reduction(op, raw::transpose(random_tensor({131, 1009}, kFloat), 0, 1),
                       random_layout(out, kFloat));
    }
  expect_reduction(ReduceOp::mean, random_tensor({3, 5000, 5}, kDouble),
                   test::empty({3, 1, 5}, kDouble));
  expect_reduction(ReduceOp::sum, random_tensor({5, 9, 5000}, kDouble),
                   test::empty({5, 1, 1}, kDouble));
  expect_reduction(ReduceOp::sum, random_tensor({2, 5000}, kFloat), test::empty({2, 1}));
}

TEST(CpuReduce, Integers) {
  for (ReduceOp op : {ReduceOp::sum, ReduceOp::amax, ReduceOp::amin})
    expect_reduction(op, random_tensor({50, 300}, kLong, -1e6, 1e6), test::empty({50, 1}, kLong));
  EXPECT_THROW(
      cpu_backend().reduce(ReduceOp::mean, test::empty({2}, kLong), test::empty({1}, kLong)),
      TypeError);
}

TEST(CpuReduce, SumOfTenMillionFloats) {
  const int64_t n = 10'000'000;
  const Tensor x = test::empty({n}), out = test::empty({1});
  cpu_backend().random(Distribution::uniform, 0, 1, {static_cast<uint64_t>(pick(0, 1 << 30)), 0},
                       x);
  cpu_backend().reduce(ReduceOp::sum, x, out);
  double exact = 0;
  for (const float *p = x.data_ptr<float>(), *end = p + n; p < end; ++p)
    exact += static_cast<double>(*p);
  EXPECT_LT(std::abs(get(out, 0) - exact) / exact, 1e-6);
  cpu_backend().reduce(ReduceOp::sum, raw::as_strided(x, {n / 4, 4}, {4, 1}, 0),
                       test::empty({1, 4}));
}

TEST(CpuReduce, LongColumnsStayAccurate) {
  const int64_t rows = 1'000'000;
  const Tensor x = test::empty({rows, 3}), out = test::empty({1, 3});
  cpu_backend().random(Distribution::uniform, 0, 1, {7, 0}, x);
  cpu_backend().reduce(ReduceOp::sum, x, out);
  for (int64_t c = 0; c < 3; ++c) {
    double exact = 0;
    for (int64_t r = 0; r < rows; ++r) exact += static_cast<double>(x.data_ptr<float>()[3 * r + c]);
    EXPECT_LT(std::abs(get(out, c) - exact) / exact, 1e-6);
  }
}

TEST(CpuReduce, IsTheSameOnAnyNumberOfThreads) {
  // Long runs, wide and narrow rows, and rows within rows.
  for (const Dims& sizes : {Dims{200'001}, Dims{3001, 70}, Dims{70, 3001}, Dims{70'001, 3},
                            Dims{101, 700, 3}, Dims{37, 60, 90}}) {
    const Tensor x = test::empty(sizes);
    cpu_backend().random(Distribution::normal, 0, 1, {5, 0}, x);
    for (int64_t d = 0; d < x.dim(); ++d) {
      Dims out_sizes = sizes;
      out_sizes[d] = 1;
      const Tensor many = test::empty(out_sizes), one = test::empty(out_sizes);
      cpu_backend().reduce(ReduceOp::sum, x, many);
      cpu::parallel_for(0, 2, 1, [&](int64_t i, int64_t) {  // one thread inside of a loop
        if (i == 0) cpu_backend().reduce(ReduceOp::sum, x, one);
      });
      EXPECT_EQ(std::memcmp(many.data_ptr(), one.data_ptr(), one.nbytes()), 0) << x.sizes() << d;
    }
  }
}

// More elements than one thread takes, in every layout.
TEST(CpuReduce, SharesOfSeveralThreads) {
  const Tensor x = random_tensor({60, 50, 61}, kFloat);
  for (const Dims& out : {Dims{1, 1, 1}, Dims{60, 1, 1}, Dims{1, 50, 1}, Dims{1, 1, 61},
                          Dims{60, 50, 1}, Dims{1, 50, 61}, Dims{60, 1, 61}})
    for (ReduceOp op : {ReduceOp::sum, ReduceOp::amax}) {
      expect_reduction(op, x, random_layout(out, kFloat));
      expect_reduction(op, random_tensor({60, 50, 61}, kFloat), test::empty(out));
    }
  const Tensor wide = random_tensor({60, 2501}, kDouble);
  expect_reduction(ReduceOp::mean, wide, test::empty({1, 2501}, kDouble));
  expect_reduction(ReduceOp::mean, wide, test::empty({60, 1}, kDouble));
}

TEST(CpuReduce, NanWinsEveryExtreme) {
  for (int64_t n : {3, 100, 10'000}) {
    const Tensor x = random_tensor({n}, kFloat), copy = test::empty({n}), out = test::empty({1});
    cpu_backend().copy(x, copy);
    set(copy, pick(0, n - 1), std::nan(""));
    for (ReduceOp op : {ReduceOp::amax, ReduceOp::amin, ReduceOp::sum}) {
      cpu_backend().reduce(op, copy, out);
      EXPECT_TRUE(std::isnan(get(out, 0))) << name_of(op) << " of " << n;
    }
  }
}

TEST(CpuReduce, OfNothing) {
  const Tensor x = test::empty({2, 0}), out = test::empty({2, 1});
  const auto result = [&](ReduceOp op) {
    cpu_backend().reduce(op, x, out);
    return get(out, 1);
  };
  EXPECT_EQ(result(ReduceOp::sum), 0);
  EXPECT_TRUE(std::isnan(result(ReduceOp::mean)));
  EXPECT_EQ(result(ReduceOp::amax), -INFINITY);
  cpu_backend().reduce(ReduceOp::sum, test::empty({0, 3}), test::empty({0, 1}));
  const Tensor columns = test::empty({1, 3});
  cpu_backend().reduce(ReduceOp::sum, test::empty({0, 3}), columns);
  EXPECT_EQ(get(columns, 2), 0);
}

TEST(CpuArgReduce, FirstOfTheMostExtreme) {
  for (int round = 0; round < 100; ++round) {
    Dims sizes = random_sizes(3, pick(0, 3) ? 6 : 90);
    if (sizes.empty()) sizes.push_back(4);
    const int64_t dim = pick(0, static_cast<int64_t>(sizes.size()) - 1);
    const bool largest = pick(0, 1);
    const ScalarType dtype = pick(0, 1) ? kLong : kFloat;
    const Tensor x = raw::clone(random_tensor(sizes, kLong, -4, 4)),
                 cast = test::empty(sizes, dtype);
    cpu_backend().copy(x, cast);  // few values, so that many are equal
    if (dtype == kFloat && pick(0, 1))
      for (int i = 0; i < 3; ++i) set(cast, pick(0, cast.numel() - 1), std::nan(""));
    const Tensor source = random_layout(sizes, dtype);
    cpu_backend().copy(cast, source);
    Dims kept = sizes;
    kept[dim] = 1;
    const Tensor values = random_layout(kept, dtype), indices = random_layout(kept, kLong);
    cpu_backend().arg_reduce(largest, source, dim, values, indices);

    std::vector<int64_t> want(static_cast<size_t>(values.numel()), -1);
    std::vector<double> best(want.size());
    std::vector<int64_t> seen(want.size());
    for (int64_t i = 0; i < cast.numel(); ++i) {
      const size_t o = static_cast<size_t>(output_index(cast, values, i));
      const double value = get(cast, i);
      const bool wins = want[o] < 0 || (std::isnan(value) && !std::isnan(best[o])) ||
                        (largest ? value > best[o] : value < best[o]);
      if (wins) best[o] = value, want[o] = seen[o];
      ++seen[o];
    }
    for (size_t o = 0; o < want.size(); ++o) {
      ASSERT_EQ(get(indices, static_cast<int64_t>(o)), static_cast<double>(want[o]));
      const double value = get(values, static_cast<int64_t>(o));
      ASSERT_TRUE(value == best[o] || (std::isnan(value) && std::isnan(best[o])));
    }
  }
}

// A NaN anywhere counts as 0, and infinities of both signs give one; over chunks and in every
// layout.
TEST(CpuReduce, SumsWithoutNan) {
  for (int round = 0; round < 60; ++round) {
    const ScalarType dtype = pick(0, 1) ? kFloat : kDouble;
    const Dims sizes = round % 3 ? random_sizes(4, 12) : Dims{pick(1, 9), pick(1, 9000)};
    const Tensor x = random_layout(sizes, dtype), numbers = test::empty(sizes, dtype);
    for (int64_t i = 0; i < x.numel(); ++i) {
      const double value = real(-3, 3);
      const bool nan = pick(0, 3) == 0;
      set(x, i, nan ? (pick(0, 1) ? 1 : -1) * std::nan("") : value);
      set(numbers, i, nan ? 0 : value);
    }
    const Tensor out = random_layout(reduced(sizes), dtype), want = test::empty(out.sizes(), dtype);
    cpu_backend().reduce(ReduceOp::nansum, x, out);
    cpu_backend().reduce(ReduceOp::sum, numbers, want);
    for (int64_t o = 0; o < out.numel(); ++o)
      ASSERT_NEAR(get(out, o), get(want, o), 1e-3 * (dtype == kFloat ? 1 : 1e-9)) << sizes;
  }
  // Both infinities in one part, whose sum is NaN, and in two parts.
  const Tensor x = tensor({20'000}, std::vector<double>(20'000, 1));
  set(x, 3, INFINITY), set(x, 4, std::nan(""));
  EXPECT_EQ(get(raw::reduce(ReduceOp::nansum, x, {}), 0), INFINITY);
  for (const int64_t other : {5, 19'001}) {
    set(x, other, -INFINITY);
    EXPECT_TRUE(std::isnan(get(raw::reduce(ReduceOp::nansum, x, {}), 0))) << other;
    const Tensor columns = raw::as_strided(x, {10'000, 2}, {2, 1}, 0);
    EXPECT_TRUE(std::isnan(get(raw::reduce(ReduceOp::nansum, columns, {0}), 1))) << other;
    set(x, other, 1);
  }
}

// Extremes of integers are found where they are.
TEST(CpuReduce, ExtremesOfNarrowIntegers) {
  for (const ScalarType dtype : {kBool, kByte, kChar, kShort, kInt})
    for (int round = 0; round < 30; ++round) {
      const Dims sizes = round % 3 ? random_sizes(4, 12) : Dims{pick(1, 9), pick(1, 9000)};
      const Tensor x = random_layout(sizes, dtype);
      for (int64_t i = 0; i < x.numel(); ++i)
        set(x, i,
            static_cast<double>(dtype == kBool ? pick(0, 1)
                                               : pick(dtype == kByte ? 0 : -128, 127)));
      for (const ReduceOp op : {ReduceOp::amax, ReduceOp::amin})
        expect_reduction(op, x, random_layout(reduced(sizes), dtype));
      if (sizes.empty()) continue;
      const int64_t d = pick(0, x.dim() - 1);
      const auto narrow = raw::arg_reduce("max", true, x, d);
      const auto wide = raw::arg_reduce("max", true, raw::to(x, kLong), d);
      EXPECT_EQ(narrow.values.dtype(), dtype);
      for (int64_t o = 0; o < wide.values.numel(); ++o) {
        ASSERT_EQ(get(narrow.values, o), get(wide.values, o)) << sizes;
        ASSERT_EQ(get(narrow.indices, o), get(wide.indices, o)) << sizes;
      }
    }
  EXPECT_THROW(cpu_backend().reduce(ReduceOp::sum, test::empty({2}, kInt), test::empty({1}, kInt)),
               TypeError);
  EXPECT_THROW(
      cpu_backend().reduce(ReduceOp::amax, test::empty({2}, kHalf), test::empty({1}, kHalf)),
      TypeError);
}

// Elements of another type than the result are converted while they are read.
TEST(CpuReduce, ElementsOfNarrowTypes) {
  for (const ScalarType dtype : {kBool, kByte, kInt, kHalf, kBFloat16})
    for (int round = 0; round < 40; ++round) {
      const Dims sizes = round % 4 ? random_sizes(4, 6) : Dims{pick(1, 4), pick(1, 9000)};
      const Tensor x = round % 4 ? random_layout(sizes, dtype) : test::empty(sizes, dtype);
      for (int64_t i = 0; i < x.numel(); ++i)
        set(x, i, dtype == kBool ? static_cast<double>(pick(0, 1)) : real(1, 9));
      Dims kept = sizes;
      for (int64_t& size : kept)
        if (pick(0, 1)) size = 1;
      for (const ReduceOp op : {ReduceOp::sum, ReduceOp::amax, ReduceOp::amin})
        for (const ScalarType sum : {computed_type(dtype), kDouble})
          expect_reduction(op, x, random_layout(kept, sum));
    }
}

// The places of the largest elements of a contiguous matrix.
void expect_places(const Tensor& x, int64_t d) {
  Dims kept(x.sizes().data(), 2);
  kept[d] = 1;
  const Tensor values = random_layout(kept, kFloat), indices = random_layout(kept, kLong);
  cpu_backend().arg_reduce(true, x, d, values, indices);
  for (int64_t o = 0; o < values.numel(); ++o) {
    const int64_t step = x.strides()[d];
    const float* const from = x.data_ptr<float>() + o * x.strides()[1 - d];
    int64_t want = 0;
    for (int64_t i = 0; i < x.sizes()[d]; ++i)
      if (from[i * step] > from[want * step]) want = i;
    ASSERT_EQ(get(indices, o), static_cast<double>(want)) << x.sizes() << d << " at " << o;
    ASSERT_EQ(get(values, o), static_cast<double>(from[want * step]));
  }
}

// Few outputs, whose elements several threads search, and many; few values, and many.
TEST(CpuArgReduce, SharesOfSeveralThreads) {
  for (const Dims& sizes :
       {Dims{1, 100'001}, Dims{100'001, 1}, Dims{3, 30'001}, Dims{30'001, 3}, Dims{300, 301}})
    for (const int64_t values : {500, 1 << 24}) {
      const Tensor x = test::empty(sizes);
      cpu_backend().random(Distribution::randint, 0, values, {9, 0}, x);
      for (int64_t d = 0; d < 2; ++d) expect_places(x, d);
    }
}

}  // namespace
}  // namespace gradus::test
