// Selections, medians and searches: against sorting, obvious references, and what a backend without
// its own gets from tensor/.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "gradus/cpu/parallel.h"
#include "gradus/cpu/simd/order_loops.h"
#include "tests/random.h"

namespace gradus::test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// Lines whose order misleads a sample, or bins of equal width.
constexpr const char* kNatures[] = {"random",   "few values", "rising",  "falling", "constant",
                                    "outliers", "sawtooth",   "two far", "with NaN"};

Tensor line_of(std::string_view nature, int64_t n, ScalarType dtype) {
  const Tensor x = empty({n}, dtype);
  const double tooth = static_cast<double>(pick(2, 100));
  for (int64_t i = 0; i < n; ++i) {
    const auto place = static_cast<double>(i);
    double value = real(-1e6, 1e6);
    if (nature == "few values") value = static_cast<double>(pick(-2, 2)) * 0.5;
    if (nature == "rising") value = place * 1.25;
    if (nature == "falling") value = -place * 1.25;
    if (nature == "constant") value = 7;
    if (nature == "outliers") value = pick(0, 20) ? real(1, 1.0001) : real(-1e15, 1e15);
    if (nature == "sawtooth") value = std::fmod(place, tooth);
    if (nature == "two far") value = pick(0, 1) ? -1e15 : 1e15 + static_cast<double>(pick(0, 3));
    if (nature == "with NaN" && dtype != kLong) {
      const double special[] = {kNan, -kNan, kInf, -kInf, -0.0, 0.0};
      if (pick(0, 1)) value = special[pick(0, 5)];
    }
    set(x, i, value);
  }
  return x;
}

void expect_same_bytes(const Tensor& a, const Tensor& b, const std::string& what) {
  const Tensor x = raw::contiguous(a), y = raw::contiguous(b);
  ASSERT_EQ(x.sizes(), y.sizes()) << what;
  ASSERT_EQ(x.dtype(), y.dtype()) << what;
  ASSERT_EQ(std::memcmp(x.data_ptr(), y.data_ptr(), x.nbytes()), 0) << what;
}

void check_select(const Tensor& x, int64_t dim, bool descending, int64_t first, int64_t count,
                  const std::string& what) {
  const auto order = raw::sort(x, dim, descending);
  const auto got = raw::select("topk", x, dim, descending, first, count);
  const std::string text = what + " of " + std::to_string(x.sizes()[dim]) + " at " +
                           std::to_string(first) + " + " + std::to_string(count);
  expect_same_bytes(got.values, raw::narrow(order.values, dim, first, count), text);
  expect_same_bytes(got.indices, raw::narrow(order.indices, dim, first, count), text);
}

TEST(CpuSelect, IsPartOfTheOrder) {
  for (const int64_t n :
       {1, 2, 15, 16, 17, 33, 63, 64, 65, 66, 100, 1000, 8191, 8192, 8193, 30'000})
    for (const ScalarType dtype : {kLong, kFloat, kDouble})
      for (const char* nature : kNatures) {
        const Tensor x = line_of(nature, n, dtype);
        const bool descending = pick(0, 1);
        const int64_t few = pick(1, std::min<int64_t>(n, 20)), first = pick(0, n - 1);
        check_select(x, 0, descending, 0, few, nature);
        check_select(x, 0, descending, 0, pick(1, n), nature);
        check_select(x, 0, descending, first, 1, nature);
        check_select(x, 0, descending, first, pick(1, n - first), nature);
        check_select(x, 0, descending, n - few, few, nature);
      }
}

TEST(CpuSelect, LongLinesOnAnyNumberOfThreads) {
  for (const char* nature : kNatures)
    for (const ScalarType dtype : {kLong, kFloat}) {
      const int64_t n = 300'001, first = pick(0, n - 1);
      const Tensor x = line_of(nature, n, dtype);
      const auto check = [&] {
        check_select(x, 0, true, 0, 10, nature);
        check_select(x, 0, false, 0, 3000, nature);
        check_select(x, 0, false, first, 1, nature);
      };
      check();
      cpu::parallel_for(0, 2, 1, [&](int64_t i, int64_t) {
        if (i == 0) check();
      });
    }
}

// The places that cpu/ops/select.cpp samples have the least elements, so that all others are
// elsewhere than the sample says.
TEST(CpuSelect, SamplesMayMislead) {
  for (const ScalarType dtype : {kLong, kFloat}) {
    const int64_t n = 100'000;
    const Tensor x = line_of("random", n, dtype);
    const double root = std::cbrt(static_cast<double>(n));
    const auto size = static_cast<int64_t>(root * root), apart = n / size;
    uint64_t random = 1;
    for (int64_t i = 0; i < size; ++i) {
      random = random * 0xd1342543de82ef95u + 1;
      const auto place = static_cast<int64_t>((random >> 32) * static_cast<uint64_t>(apart) >> 32);
      set(x, i * apart + place, real(-3e6, -2e6));
    }
    for (const int64_t first : {int64_t{0}, size - 1, size, n / 2, n - 40}) {
      check_select(x, 0, false, first, 1, "a misleading sample");
      check_select(x, 0, false, first, 40, "a misleading sample");
      check_select(x, 0, true, first, 40, "a misleading sample");
    }
  }
}

TEST(CpuSelect, EveryDimensionOfEveryLayoutAndDtype) {
  constexpr ScalarType kDtypes[] = {kByte, kChar,     kShort, kInt,   kLong,
                                    kHalf, kBFloat16, kFloat, kDouble};
  for (int round = 0; round < 300; ++round) {
    Dims sizes = random_sizes(3, 6);
    sizes.insert(pick(0, static_cast<int64_t>(sizes.size())), pick(1, 90));
    const ScalarType dtype = kDtypes[pick(0, 8)];
    const Tensor x = random_tensor(sizes, dtype, dtype == kByte ? 0 : -20, 20);
    const int64_t dim = pick(0, x.dim() - 1), first = pick(0, x.sizes()[dim] - 1);
    check_select(x, dim, pick(0, 1), first, pick(1, x.sizes()[dim] - first), "a layout");
  }
}

TEST(CpuSelect, WritesAView) {
  const Tensor x = random_tensor({5, 40, 6}, kFloat);
  for (const int64_t k : {3, 30}) {
    const auto want = raw::select("topk", x, 1, true, 2, k);
    const Tensor values = random_layout({5, k, 6}, kFloat),
                 indices = random_layout({5, k, 6}, kLong);
    cpu_backend().select(x, 1, true, 2, values, indices);
    expect_same_bytes(values, want.values, "values");
    expect_same_bytes(indices, want.indices, "indices");
  }
}

// The lower one of the middle elements by the standard library, and its first index.
void check_median(const Tensor& x, bool ignores_nan, const std::string& what) {
  std::vector<double> numbers;
  int64_t first_nan = -1;
  for (int64_t i = 0; i < x.numel(); ++i)
    if (const double value = get(x, i); !std::isnan(value))
      numbers.push_back(value);
    else if (first_nan < 0)
      first_nan = i;
  const auto got = raw::median("median", x, 0, ignores_nan);
  const auto index = static_cast<int64_t>(get(got.indices, 0));
  if (numbers.empty() || (first_nan >= 0 && !ignores_nan)) {
    ASSERT_TRUE(std::isnan(get(got.values, 0))) << what;
    ASSERT_EQ(index, first_nan) << what;
    return;
  }
  const size_t middle = (numbers.size() - 1) / 2;
  std::nth_element(numbers.begin(), numbers.begin() + static_cast<int64_t>(middle), numbers.end());
  ASSERT_EQ(get(got.values, 0), numbers[middle]) << what;
  ASSERT_EQ(get(x, index), numbers[middle]) << what;
}

TEST(CpuMedian, IsTheLowerOneOfTheMiddle) {
  for (const int64_t n : {1, 2, 3, 31, 32, 33, 34, 64, 65, 1000, 1001, 8193, 70'000})
    for (const ScalarType dtype : {kLong, kFloat, kDouble})
      for (const char* nature : kNatures) {
        const Tensor x = line_of(nature, n, dtype);
        for (const bool ignores_nan : {false, true})
          check_median(x, ignores_nan, std::string(nature) + " of " + std::to_string(n));
      }
}

// The default of tensor/ for a backend without its own.
TEST(CpuMedian, IsThatOfABackendThatSorts) {
  Backend& cpu = cpu_backend();
  for (int round = 0; round < 60; ++round) {
    const Tensor x = raw::as_strided(
        line_of(kNatures[pick(0, 8)], 600, pick(0, 1) ? kFloat : kLong), {20, 30}, {1, 20}, 0);
    for (const bool ignores_nan : {false, true})
      for (const int64_t dim : {0, 1}) {
        const auto want = raw::median("median", x, dim, ignores_nan);
        const Tensor values = raw::empty_like(want.values), indices = raw::empty_like(want.indices);
        cpu.Backend::median(ignores_nan, x, dim, values, indices);
        expect_same_bytes(values, want.values, "values");
        expect_same_bytes(indices, want.indices, "indices");
        cpu.Backend::select(x, dim, true, 7, values, indices);
        const auto eighth = raw::select("kthvalue", x, dim, true, 7, 1);
        expect_same_bytes(values, eighth.values, "values");
        expect_same_bytes(indices, eighth.indices, "indices");
      }
  }
}

// --- Searches

TEST(CpuBisect, CountsAsTheStandardLibraryDoes) {
  for (int round = 0; round < 200; ++round) {
    const ScalarType dtypes[] = {kLong, kFloat, kDouble, kInt, kHalf};
    const ScalarType dtype = dtypes[pick(0, 4)];
    const int64_t rows = pick(1, 4), n = pick(1, 300), wanted = pick(1, 200);
    const bool one = pick(0, 1), right = pick(0, 1);
    const Tensor any = random_tensor(one ? Dims{n} : Dims{rows, n}, dtype, -50, 50);
    const Tensor list = raw::sort(any, -1, false).values;
    const Tensor values = random_tensor({rows, wanted}, dtype, -55, 55);
    const Tensor got = raw::searchsorted(list, values, right);
    ASSERT_EQ(got.sizes(), values.sizes());
    for (int64_t i = 0; i < values.numel(); ++i) {
      const double value = get(values, i);
      double below = 0;
      for (int64_t k = 0; k < n; ++k) {
        const double element = get(list, one ? k : i / wanted * n + k);
        below += right ? element <= value : element < value;
      }
      ASSERT_EQ(get(got, i), below) << "value " << i << " in " << n;
    }
  }
}

// The steps of a bisection of n elements, one after the other.
int64_t bisected(const Tensor& list, int64_t first, int64_t n, double value, bool right) {
  int64_t below = 0;
  const auto move = [&](int64_t before, int64_t count) {
    const double found = get(list, first + below + before);
    if (!(right ? found > value : found >= value)) below += count;
  };
  for (; n > 1; n -= n / 2) move(n / 2 - 1, n / 2);
  move(0, 1);
  return below;
}

// The list may also be unsorted or contain NaN.
TEST(CpuBisect, TakesTheStepsOfOneValue) {
  for (int round = 0; round < 200; ++round) {
    const int64_t rows = pick(1, 3);
    const Tensor list = line_of(kNatures[pick(0, 8)], rows * pick(1, 150), kFloat);
    const Tensor values = line_of(kNatures[pick(0, 8)], rows * pick(1, 150), kFloat);
    const bool right = pick(0, 1);
    const int64_t n = list.numel() / rows, columns = values.numel() / rows;
    const Tensor wanted = *raw::try_view(values, {rows, columns});
    const Tensor of_rows = raw::searchsorted(*raw::try_view(list, {rows, n}), wanted, right);
    const Tensor of_one = raw::searchsorted(list, wanted, right);
    for (int64_t i = 0; i < values.numel(); ++i) {
      const double value = get(values, i);
      ASSERT_EQ(get(of_rows, i), bisected(list, i / columns * n, n, value, right)) << value;
      ASSERT_EQ(get(of_one, i), bisected(list, 0, rows * n, value, right)) << value;
    }
  }
}

TEST(CpuBisect, TakesTheTypeThatBothPromoteTo) {
  const Tensor list = tensor({3}, {1, 2, 3}, kLong);
  EXPECT_EQ(get(raw::searchsorted(list, tensor({}, {2.5}), false), 0), 2);
  EXPECT_EQ(get(raw::searchsorted(list, tensor({1}, {kNan}, kDouble), false), 0), 3);
  EXPECT_EQ(get(raw::searchsorted(empty({0}), tensor({1}, {1}), true), 0), 0);
  EXPECT_EQ(raw::searchsorted(list, empty({0, 2}), true).sizes(), (Dims{0, 2}));
}

TEST(CpuCountNonzero, CountsEveryDtypeAndLayout) {
  for (int round = 0; round < 200; ++round) {
    constexpr ScalarType kDtypes[] = {kBool, kByte, kShort, kInt, kLong, kHalf, kFloat, kDouble};
    const Tensor x = random_tensor(random_sizes(4, 9), kDtypes[pick(0, 7)], 0, 2);
    if (isFloatingType(x.dtype())) set(x, 0, pick(0, 1) ? -0.0 : kNan);
    double want = 0;
    for (int64_t i = 0; i < x.numel(); ++i) want += get(x, i) != 0;
    EXPECT_EQ(get(raw::count_nonzero(x), 0), want) << x.sizes() << " of " << x.dtype();
    const Tensor truth = raw::to(x, kBool);
    EXPECT_EQ(get(raw::reduce(ReduceOp::sum, truth, {}), 0), want);
  }
  EXPECT_EQ(get(raw::count_nonzero(empty({0, 3})), 0), 0);
}

// --- The loops of every instruction set

template <class T>
void check_loops(const cpu::OrderLoops<T>& loops, const Tensor& line) {
  using Key = SortKey<T>;
  const T* const x = static_cast<const T*>(line.data_ptr());
  const int64_t n = line.numel();
  const bool descending = pick(0, 1);
  std::vector<Key> keys(static_cast<size_t>(n));
  const auto whole = loops.keys(n, x, descending, keys.data());
  for (int64_t i = 0; i < n; ++i) ASSERT_EQ(keys[i], sort_key(x[i], descending));
  ASSERT_EQ(whole.least, *std::min_element(keys.begin(), keys.end()));
  ASSERT_EQ(whole.most, *std::max_element(keys.begin(), keys.end()));

  cpu::KeyRange<Key> range = {keys[pick(0, n - 1)], keys[pick(0, n - 1)]};
  if (range.least > range.most) std::swap(range.least, range.most);
  std::vector<cpu::Item<Key>> within, sorted;
  int64_t below = 0;
  for (int64_t i = 0; i < n; ++i) {
    const cpu::Item<Key> item = {keys[i], static_cast<Key>(i + 3)};
    below += keys[i] < range.least;
    if (keys[i] >= range.least && keys[i] <= range.most) within.push_back(item);
    sorted.push_back(item);
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.key < b.key; });
  const auto expect_items = [](const auto& got, const auto& want, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      ASSERT_EQ(got[i].key, want[i].key) << i;
      ASSERT_EQ(got[i].index, want[i].index) << i;
    }
  };
  const auto counts = loops.count(n, x, descending, range);
  ASSERT_EQ(counts.below, below);
  ASSERT_EQ(counts.within, static_cast<int64_t>(within.size()));
  std::vector<cpu::Item<Key>> got(within.size());  // not an item more is written
  ASSERT_EQ(loops.collect(n, x, descending, range, 3, got.data()), got.data() + got.size());
  expect_items(got, within, counts.within);
  const int64_t few = std::min(n, pick(1, cpu::kFewItems));
  got.assign(few, {});
  for (int64_t i = 0; i < few; ++i) got[i] = {keys[i], static_cast<Key>(i)};
  auto ordered = got;
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) { return a.key < b.key; });
  loops.sort_few(few, got.data());
  expect_items(got, ordered, few);
  const int64_t wanted = pick(1, 16);
  got.resize(static_cast<size_t>(wanted));
  ASSERT_EQ(loops.least(n, x, descending, wanted, 3, got.data()), std::min(wanted, n));
  expect_items(got, sorted, std::min(wanted, n));

  std::vector<T> values(keys.size());
  std::vector<int64_t> places(keys.size());
  for (const bool largest : {false, true}) {
    (largest ? loops.running_most : loops.running_least)(n, x, values.data(), places.data());
    int64_t best = 0;
    for (int64_t i = 0; i < n; ++i) {
      if (x[i] != x[i] || (largest ? x[i] >= x[best] : x[i] <= x[best])) best = i;
      ASSERT_EQ(places[i], best) << i;
      ASSERT_EQ(std::memcmp(&values[i], &x[best], sizeof(T)), 0) << i;
    }
  }
}

TEST(CpuOrderLoops, EveryInstructionSetGivesTheSame) {
  for (const cpu::InstructionSet set : cpu::instruction_sets())
    for (const int64_t n : {1, 2, 31, 32, 33, 511, 512, 513, 700, 3000})
      for (const char* nature : kNatures) {
        SCOPED_TRACE(std::string(nature) + " of " + std::to_string(n) + " in set " +
                     std::to_string(static_cast<int>(set)));
        check_loops(cpu::table_of<cpu::OrderLoops<float>>(set), line_of(nature, n, kFloat));
        check_loops(cpu::table_of<cpu::OrderLoops<double>>(set), line_of(nature, n, kDouble));
        check_loops(cpu::table_of<cpu::OrderLoops<int64_t>>(set), line_of(nature, n, kLong));
      }
}

}  // namespace
}  // namespace gradus::test
