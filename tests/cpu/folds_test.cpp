// The folds and searches of every instruction set that this processor runs.
#include "gradus/cpu/simd/folds.h"

#include <cstring>
#include <limits>

#include "tests/random.h"

namespace gradus::cpu {
namespace {

using test::pick, test::real;

constexpr int kOps[] = {static_cast<int>(ReduceOp::sum),  static_cast<int>(ReduceOp::prod),
                        static_cast<int>(ReduceOp::mean), static_cast<int>(ReduceOp::amax),
                        static_cast<int>(ReduceOp::amin), static_cast<int>(ReduceOp::norm1),
                        static_cast<int>(ReduceOp::norm2)};

std::string text(InstructionSet set, int op, int64_t n) {
  return std::string(name_of(static_cast<ReduceOp>(op))) + " of " + std::to_string(n) +
         " elements in set " + std::to_string(static_cast<int>(set));
}

template <class T>
std::vector<T> numbers(int64_t n, double low, double high) {
  std::vector<T> out(static_cast<size_t>(n));
  for (T& x : out) x = static_cast<T>(real(low, high));
  return out;
}

// Of elements `step` apart.
template <class T>
long double fold(int op, const T* x, int64_t n, int64_t step, long double* magnitude) {
  long double result = op == kOps[1] ? 1 : 0;
  *magnitude = 0;
  for (int64_t i = 0; i < n; ++i) {
    const long double element = static_cast<long double>(x[i * step]);
    const long double value = op == kOps[5]   ? std::abs(element)
                              : op == kOps[6] ? element * element
                                              : element;
    *magnitude += std::abs(value);
    if (op == kOps[1])
      result *= value;
    else if (op == kOps[3] || op == kOps[4])
      result = i == 0 ? value : op == kOps[3] ? std::max(result, value) : std::min(result, value);
    else
      result += value;
  }
  if (op == kOps[1]) *magnitude = std::abs(result);
  return result;
}

template <class T>
void expect_fold(T got, int op, const T* x, int64_t n, int64_t step, const std::string& what) {
  if (n == 0) return;
  long double magnitude;
  const long double want = fold(op, x, n, step, &magnitude);
  // Each element takes part in at most n roundings, in far fewer for large n.
  const long double unit = std::is_integral_v<T> ? 0 : std::numeric_limits<T>::epsilon();
  const long double roundings = op == kOps[1] ? n : std::min<int64_t>(n, 60);
  ASSERT_LE(std::abs(static_cast<long double>(got) - want), roundings * unit * magnitude) << what;
}

template <class T>
void check_folds() {
  // Every number of elements up to some vectors of each set; products stay in range.
  const std::vector<T> positive = numbers<T>(3000, std::is_integral_v<T> ? -3 : 0.5, 2),
                       signed_ones = numbers<T>(3000, -2, 2);
  for (int64_t n = 0; n <= 330; ++n)
    for (const int op : kOps) {
      const std::vector<T>& x = op == kOps[5] || op == kOps[6] ? signed_ones : positive;
      if (std::is_integral_v<T> && op == kOps[1]) continue;
      if (!table_of<FoldTable<T>>(instruction_sets()[0]).folds[op].runs) continue;
      const int64_t count = pick(1, 3), apart = pick(0, 400), start = pick(0, 100);
      const int64_t width = pick(1, 40), step = width + pick(0, 3);
      const int64_t rows = std::min<int64_t>(n, (2900 - width) / step);
      std::vector<T> first_run, first_column;
      for (const InstructionSet set : instruction_sets()) {
        const Folds<T>& folds = table_of<FoldTable<T>>(set).folds[op];
        std::vector<T> runs(static_cast<size_t>(count), T(-7)), columns(static_cast<size_t>(width));
        folds.runs(count, &x[start], apart, n, runs.data());
        for (int64_t i = 0; i < count; ++i)
          expect_fold(runs[i], op, &x[start + i * apart], n, 1, text(set, op, n));
        std::fill(columns.begin(), columns.end(), folds.start);
        folds.columns(width, &x[start], step, rows, columns.data());
        for (int64_t w = 0; w < width; ++w) {
          expect_fold(columns[w], op, &x[start + w], rows, step, "columns: " + text(set, op, rows));
          T alone = folds.start;
          folds.columns(1, &x[start + w], step, rows, &alone);
          ASSERT_EQ(std::memcmp(&alone, &columns[w], sizeof(T)), 0) << text(set, op, rows);
        }
        if (first_run.empty()) first_run = runs, first_column = columns;
        ASSERT_EQ(std::memcmp(runs.data(), first_run.data(), runs.size() * sizeof(T)), 0)
            << text(set, op, n) << " has other bits than the baseline";
        ASSERT_EQ(std::memcmp(columns.data(), first_column.data(), columns.size() * sizeof(T)), 0)
            << "columns: " << text(set, op, rows) << " have other bits than the baseline";
      }
    }
}
TEST(CpuFolds, EveryLengthFloat) { check_folds<float>(); }
TEST(CpuFolds, EveryLengthDouble) { check_folds<double>(); }
TEST(CpuFolds, EveryLengthLong) { check_folds<int64_t>(); }
TEST(CpuFolds, EveryLengthInt) { check_folds<int32_t>(); }
TEST(CpuFolds, EveryLengthShort) { check_folds<int16_t>(); }
TEST(CpuFolds, EveryLengthChar) { check_folds<int8_t>(); }
TEST(CpuFolds, EveryLengthByte) { check_folds<uint8_t>(); }

TEST(CpuFolds, OfNothing) {
  for (const InstructionSet set : instruction_sets())
    for (const int op : kOps) {
      const Folds<float>& folds = table_of<FoldTable<float>>(set).folds[op];
      float result = 5;
      folds.runs(1, nullptr, 0, 0, &result);
      EXPECT_EQ(result, folds.start) << text(set, op, 0);
      folds.columns(1, nullptr, 0, 0, &result);
      EXPECT_EQ(result, folds.start) << text(set, op, 0);
    }
}

TEST(CpuFolds, MagnitudesHaveNoSign) {
  for (const InstructionSet set : instruction_sets())
    for (const int64_t n : {1, 4, 16, 20, 64, 128, 300}) {
      const std::vector<float> x(static_cast<size_t>(n), -0.0f);
      const Folds<float>& folds = table_of<FoldTable<float>>(set).folds[kOps[5]];
      float run, column = folds.start;
      folds.runs(1, x.data(), 0, n, &run);
      folds.columns(1, x.data(), 1, n, &column);
      EXPECT_FALSE(std::signbit(run) || std::signbit(column)) << text(set, kOps[5], n);
    }
}

TEST(CpuFolds, LongRunsStayAccurate) {
  const std::vector<float> x = numbers<float>(4096, 0, 1);
  long double magnitude;
  const long double want = fold(kOps[0], x.data(), 4096, 1, &magnitude);
  float got;
  table_of<FoldTable<float>>().folds[kOps[0]].runs(1, x.data(), 0, 4096, &got);
  // 64 elements in each lane, and the tree of the lanes.
  EXPECT_LE(std::abs(static_cast<double>(got - static_cast<float>(want))), 70 * 0x1p-24 * 4096);
}

// A NaN of either sign at any place, and infinities, which give no NaN.
template <class T>
void check_extremes() {
  constexpr T inf = std::numeric_limits<T>::infinity();
  for (const InstructionSet set : instruction_sets())
    for (const int op : {kOps[3], kOps[4]}) {
      const Folds<T>& folds = table_of<FoldTable<T>>(set).folds[op];
      for (const int64_t n : {1, 2, 3, 5, 15, 16, 17, 31, 63, 64, 65, 100, 128, 200, 316}) {
        std::vector<T> x = numbers<T>(n, -2, 2);
        if (pick(0, 1)) std::fill(x.begin(), x.end(), op == kOps[3] ? -inf : inf);
        const auto both = [&] {
          T run, column = folds.start;
          folds.runs(1, x.data(), 0, n, &run);
          folds.columns(1, x.data(), 1, n, &column);
          return std::pair(run, column);
        };
        const T best = op == kOps[3] ? *std::max_element(x.begin(), x.end())
                                     : *std::min_element(x.begin(), x.end());
        ASSERT_EQ(both(), std::pair(best, best)) << text(set, op, n);
        for (size_t at = 0; at < x.size(); ++at) {
          const T before = x[at];
          x[at] = pick(0, 1) ? std::numeric_limits<T>::quiet_NaN()
                             : -std::numeric_limits<T>::quiet_NaN();
          const auto [run, column] = both();
          ASSERT_TRUE(std::isnan(run) && std::isnan(column)) << text(set, op, n) << " at " << at;
          x[at] = before;
        }
      }
    }
}
TEST(CpuFolds, ANanAnywhereWinsFloat) { check_extremes<float>(); }
TEST(CpuFolds, ANanAnywhereWinsDouble) { check_extremes<double>(); }

// The first most extreme of n elements, `step` apart.
template <class T>
int64_t find(bool largest, const T* x, int64_t n, int64_t step) {
  int64_t best = 0;
  for (int64_t i = 0; i < n; ++i) {
    const T value = x[i * step], extreme = x[best * step];
    if (std::isnan(static_cast<double>(extreme))) break;
    if (std::isnan(static_cast<double>(value)) || (largest ? value > extreme : value < extreme))
      best = i;
  }
  return best;
}

template <class T>
void check_searches() {
  for (int round = 0; round < 400; ++round) {
    // Few values, so that many are equal, or many.
    const int64_t n = pick(1, 200), width = pick(1, 40), step = width + pick(0, 3);
    std::vector<T> x =
        pick(0, 1) ? numbers<T>(n * step + 400, -2, 3) : numbers<T>(n * step + 400, -1e6, 1e6);
    if constexpr (std::is_integral_v<T>) {
      for (T& value : x)
        if (pick(0, 9) == 0)
          value = pick(0, 1) ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
    } else if (pick(0, 1)) {
      for (int64_t nans = pick(0, 5); nans > 0; --nans)
        x[pick(0, std::ssize(x) - 1)] = std::numeric_limits<T>::quiet_NaN();
      for (T& value : x)
        if (pick(0, 9) == 0) value = (pick(0, 1) ? -1 : 1) * std::numeric_limits<T>::infinity();
    }
    for (const InstructionSet set : instruction_sets())
      for (const bool largest : {true, false}) {
        const FoldTable<T>& table = table_of<FoldTable<T>>(set);
        const Searches<T>& searches = largest ? table.largest : table.smallest;
        std::vector<T> values(40);
        std::vector<int64_t> indices(40);
        const auto expect = [&](int64_t o, const T* from, int64_t apart) {
          const int64_t want = find(largest, from, n, apart);
          ASSERT_EQ(indices[o], want) << text(set, kOps[largest ? 3 : 4], n) << ", " << width;
          ASSERT_EQ(std::memcmp(&values[o], from + want * apart, sizeof(T)), 0) << indices[o];
        };
        searches.runs(3, x.data(), 70, n, values.data(), indices.data());
        for (int64_t o = 0; o < 3; ++o) expect(o, &x[o * 70], 1);
        searches.columns(width, x.data(), step, n, values.data(), indices.data());
        for (int64_t o = 0; o < width; ++o) expect(o, &x[o], step);
      }
  }
}
TEST(CpuSearches, FirstOfTheMostExtremeFloat) { check_searches<float>(); }
TEST(CpuSearches, FirstOfTheMostExtremeDouble) { check_searches<double>(); }
TEST(CpuSearches, FirstOfTheMostExtremeLong) { check_searches<int64_t>(); }
TEST(CpuSearches, FirstOfTheMostExtremeInt) { check_searches<int32_t>(); }
TEST(CpuSearches, FirstOfTheMostExtremeShort) { check_searches<int16_t>(); }
TEST(CpuSearches, FirstOfTheMostExtremeChar) { check_searches<int8_t>(); }
TEST(CpuSearches, FirstOfTheMostExtremeByte) { check_searches<uint8_t>(); }

}  // namespace
}  // namespace gradus::cpu
