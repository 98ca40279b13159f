// Copies on the CPU, of every layout and dtype.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/random.h"

namespace gradus::test {
namespace {

constexpr ScalarType kDtypes[] = {kBool, kLong, kFloat, kDouble};

// By vectors, and the rest one by one.
TEST(CpuCopy, EveryHalfIsThereAndBack) {
  for (const int64_t n : {65536, 65535}) {
    const Tensor halves = empty({n}, kHalf), floats = empty({n}), back = empty({n}, kHalf);
    for (int64_t i = 0; i < n; ++i) halves.data_ptr<Half>()[i].bits = static_cast<uint16_t>(i);
    cpu_backend().copy(halves, floats), cpu_backend().copy(floats, back);
    for (int64_t i = 0; i < n; ++i) {
      const Half half = halves.data_ptr<Half>()[i], again = back.data_ptr<Half>()[i];
      const float want = half, got = floats.data_ptr<float>()[i];
      if (std::isnan(want))
        ASSERT_TRUE(std::isnan(got) && std::isnan(float{again})) << i;
      else
        ASSERT_TRUE(got == want && again.bits == half.bits) << i << ": " << got << ", not " << want;
    }
  }
}
TEST(CpuCopy, FloatsRoundToHalfAsOneNumberDoes) {
  const Tensor floats = empty({100001}), halves = empty({100001}, kHalf);
  float* const x = floats.data_ptr<float>();
  for (int64_t i = 0; i < 100001; ++i) {
    auto bits = static_cast<uint32_t>(pick(0, 0xFFFFFFFF));
    // Every second number has an exponent of float16, or one a little beyond.
    if (i % 2) bits = (bits & 0x807FFFFF) | static_cast<uint32_t>(pick(100, 145)) << 23;
    x[i] = __builtin_bit_cast(float, bits);
  }
  cpu_backend().copy(floats, halves);
  for (int64_t i = 0; i < 100001; ++i) {
    const Half want = x[i], got = halves.data_ptr<Half>()[i];
    ASSERT_TRUE(want.bits == got.bits || (std::isnan(x[i]) && std::isnan(float{got}))) << x[i];
  }
}

TEST(CpuCopy, AnyDtypesAndLayouts) {
  for (ScalarType from : kDtypes)
    for (ScalarType to : kDtypes)
      for (int round = 0; round < 10; ++round) {
        const Dims sizes = random_sizes(4, 6);
        const Tensor src = random_tensor(sizes, from), dst = random_layout(sizes, to);
        cpu_backend().copy(src, dst);
        for (int64_t i = 0; i < src.numel(); ++i) {
          const double x = get(src, i);
          const double want = to == kBool   ? static_cast<double>(x != 0)
                              : to == kLong ? std::trunc(x)
                                            : x;
          ASSERT_EQ(get(dst, i),
                    to == kFloat ? static_cast<double>(static_cast<float>(want)) : want)
              << from << " to " << to;
        }
      }
}

// Short runs of many rows: parts of longer ones, and one number many times.
TEST(CpuCopy, ShortRunsOfManyRows) {
  for (ScalarType from : kDtypes)
    for (ScalarType to : {from, kFloat})
      for (int64_t run = 0; run < 20; ++run) {
        const int64_t rows = pick(1, 700);
        const Tensor part = raw::narrow(random_tensor({rows, 20}, from), 1, 0, run);
        const Tensor repeated = raw::expand(random_tensor({rows, 1}, from), {rows, run});
        for (const Tensor& src : {part, repeated}) {
          const Tensor dst = random_layout({rows, run}, to);
          cpu_backend().copy(src, dst);
          for (int64_t i = 0; i < src.numel(); ++i) {
            const double x = get(src, i);
            ASSERT_EQ(get(dst, i), to == kFloat ? static_cast<double>(static_cast<float>(x)) : x)
                << from << ", run of " << run;
          }
        }
      }
}
TEST(CpuCopy, ReversedRunsOfEveryLength) {
  for (ScalarType dtype : {kBool, kHalf, kFloat, kDouble})
    for (int64_t n = 1; n < 200; ++n) {
      const Tensor x = empty({n}, dtype), out = empty({n}, dtype);
      for (int64_t i = 0; i < n; ++i)
        set(x, i, static_cast<double>(pick(0, dtype == kBool ? 1 : 99)));
      cpu_backend().copy(raw::as_strided(x, {n}, {-1}, n - 1), out);
      for (int64_t i = 0; i < n; ++i) ASSERT_EQ(get(out, i), get(x, n - 1 - i)) << dtype << n;
    }
}

TEST(CpuCopy, AboveOneChunk) {
  const Tensor src = raw::transpose(random_tensor({301, 407}, kFloat), 0, 1);
  const Tensor dst = empty({407, 301});
  cpu_backend().copy(src, dst);
  for (int64_t i = 0; i < src.numel(); ++i) ASSERT_EQ(get(src, i), get(dst, i));
}

TEST(CpuCopy, FillsRunsOfEveryLength) {
  for (const ScalarType dtype : kDtypes)
    for (const int64_t n :
         {int64_t{1}, int64_t{511}, int64_t{1024}, int64_t{1025}, pick(2, 9000)}) {
      const Tensor block =
          tensor({n + 2}, std::vector<double>(static_cast<size_t>(n) + 2, 0), dtype);
      cpu_backend().fill(raw::narrow(block, 0, 1, n), 1);
      for (int64_t i = 0; i < n + 2; ++i)
        ASSERT_EQ(get(block, i), i > 0 && i <= n) << i << " of " << n << " in " << dtype;
    }
}

TEST(CpuCopy, LeavesTheGapsAlone) {
  const Tensor all = empty({10});
  cpu_backend().fill(all, 5);
  const Tensor odd = raw::as_strided(all, {5}, {2}, 1);
  cpu_backend().fill(odd, 1);
  cpu_backend().copy(tensor({5}, {2, 2, 2, 2, 2}), odd);
  for (int64_t i = 0; i < 10; ++i) EXPECT_EQ(get(all, i), i % 2 ? 2 : 5);
}

TEST(CpuFill, EveryDtype) {
  for (ScalarType dtype : kDtypes) {
    const Tensor out = random_layout({50, 900}, dtype);
    cpu_backend().fill(out, 3.75);
    const double want = dtype == kBool ? 1 : dtype == kLong ? 3 : 3.75;
    for (int64_t i = 0; i < out.numel(); ++i) ASSERT_EQ(get(out, i), want);
  }
}

TEST(CpuArange, StepsFromTheStart) {
  for (ScalarType dtype : {kLong, kFloat, kDouble}) {
    const Tensor out = empty({70'000}, dtype);
    cpu_backend().arange(out, -7, 3);
    for (int64_t i = 0; i < out.numel(); ++i)
      ASSERT_EQ(get(out, i), static_cast<double>(3 * i - 7));
  }
  const Tensor tenths = empty({11}, kDouble);
  cpu_backend().arange(tenths, 0.5, -0.1);
  EXPECT_DOUBLE_EQ(get(tenths, 10), -0.5);
}

}  // namespace
}  // namespace gradus::test
