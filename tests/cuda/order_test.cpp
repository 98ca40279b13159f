// Scans, sorting and nonzero: the GPU against the CPU.
#include <limits>

#include "gradus/tensor/factories.h"
#include "tests/cuda/compare.h"

namespace gradus {
namespace {

// Few different values, so that many are equal, with what is special about floating point.
Pair tied_pair(ScalarType dtype, const MemoryLayout& layout) {
  const Tensor memory = random_memory(dtype, layout.memory() + 3, {-3, 3});
  constexpr double kSpecial[] = {std::numeric_limits<double>::quiet_NaN(),
                                 -std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::infinity(), -0.0, 0.0};
  for (int64_t i = 0; i < memory.numel(); ++i)
    if (isFloatingType(dtype))
      test::set(memory, i, pick(0, 3) ? static_cast<double>(pick(-3, 3)) : kSpecial[pick(0, 4)]);
  return pair_of(memory, layout);
}

// NaN equals NaN, and -0 differs from 0.
void expect_same(const Tensor& got, const Tensor& expected, const std::string& what) {
  ASSERT_EQ(got.dtype(), expected.dtype()) << what;
  expect_close(got, expected, 0, what);
  const std::vector<double> a = doubles(got), b = doubles(expected);
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_TRUE(a[i] != 0 || std::signbit(a[i]) == std::signbit(b[i])) << what << ": " << i;
}

void compare_sort(const Pair& x, int64_t dim, bool descending, const std::string& what) {
  const auto got = raw::sort(x.gpu, dim, descending), want = raw::sort(x.cpu, dim, descending);
  expect_same(got.values, want.values, what + ": values");
  expect_same(got.indices, want.indices, what + ": indices");
}

class CudaSort : public GpuTest {};

TEST_F(CudaSort, EveryDimensionOfEveryLayout) {
  for (const MemoryLayout& layout : all_layouts())
    for (const ScalarType dtype : {kLong, kFloat}) {
      if (numel_of(layout.sizes) > 6000) continue;  // other tests have long rows
      const Pair x = tied_pair(dtype, layout);
      for (int64_t d = 0; d < std::max<int64_t>(x.cpu.dim(), 1); ++d)
        compare_sort(x, d, pick(0, 1), describe("sort", dtype, layout.name));
    }
}

TEST_F(CudaSort, EveryDtype) {
  for (const ScalarType dtype :
       {kBool, kByte, kChar, kShort, kInt, kLong, kHalf, kBFloat16, kFloat, kDouble})
    for (const bool descending : {false, true})
      compare_sort(tied_pair(dtype, contiguous_layout("", {3, 50})), 1, descending,
                   describe("sort", dtype, descending ? "down" : "up"));
}

TEST_F(CudaSort, RowsOfEveryLength) {
  for (const int64_t n :
       {1, 2, 3, 31, 32, 33, 255, 257, 511, 512, 513, 1024, 1025, 2049, 4096, 4097})
    for (const ScalarType dtype : {kFloat, kDouble}) {
      const std::string what = describe("sort", dtype, std::to_string(n));
      const int64_t rows = n < 300 ? pick(1, 40) : n < 4096 ? 2 : 1;
      compare_sort(tied_pair(dtype, contiguous_layout("", {rows, n})), 1, pick(0, 1), what);
    }
}

TEST_F(CudaSort, LongRows) {
  const MemoryLayout layouts[] = {contiguous_layout("three rows", {3, 4500}),
                                  contiguous_layout("columns", {4200, 2}),
                                  {"every second", {8197}, {2}, 1}};
  for (const MemoryLayout& layout : layouts)
    compare_sort(tied_pair(kFloat, layout), layout.name == "three rows", pick(0, 1), layout.name);
  const Pair wide = random_pair(kLong, contiguous_layout("", {4100}), {-1e15, 1e15});
  compare_sort(wide, 0, false, "all digits");
  compare_sort(random_pair(kFloat, contiguous_layout("", {20'011})), 0, true, "many tiles");
}

// Passes that move some rows and not others: keys that differ in a few digits, or in none.
TEST_F(CudaSort, RowsOfFewDigits) {
  for (const int64_t n : {300, 4096, 9001})
    for (const ScalarType dtype : {kLong, kFloat}) {
      const Pair x = random_pair(dtype, contiguous_layout("", {4, n}), {0, 200});
      const double steps[] = {0, 1, 256, 65536};
      for (const Tensor& t : {x.cpu, x.gpu})
        for (int64_t row = 0; row < 4; ++row) {
          const Tensor some = raw::narrow(t, 0, row, 1);
          raw::zip_(BinaryOp::mul, some, Scalar(static_cast<int64_t>(steps[row])));
        }
      for (const bool descending : {false, true})
        compare_sort(x, 1, descending, describe("sort", dtype, std::to_string(n)));
    }
}

TEST_F(CudaSort, WritesAViewAndNothingElse) {
  const Pair x = random_pair(kLong, contiguous_layout("", {6, 7, 5}));
  for (const int64_t d : {0, 1, 2}) {
    const MemoryLayout layout{"a view", {6, 7, 5}, {120, 16, 3}, 2};
    const Pair values = random_pair(kLong, layout), indices = random_pair(kLong, layout);
    cpu_backend().sort(x.cpu, d, false, values.cpu, indices.cpu);
    cuda_backend().sort(x.gpu, d, false, values.gpu, indices.gpu);
    expect_close(values.gpu_all, values.cpu_all, 0, "values");
    expect_close(indices.gpu_all, indices.cpu_all, 0, "indices");
  }
}

// --- Runs of equal neighbours
class CudaRuns : public GpuTest {};

TEST_F(CudaRuns, StartWhereNeighboursDiffer) {
  for (const ScalarType dtype :
       {kBool, kByte, kChar, kShort, kInt, kLong, kHalf, kBFloat16, kFloat, kDouble})
    for (const int64_t n : {int64_t{1}, int64_t{17}, int64_t{4096}, pick(4097, 9999)}) {
      const Pair x = tied_pair(dtype, {"a list", {n}, {pick(1, 2)}, pick(0, 3)});
      const std::string what = describe("runs", dtype, std::to_string(n));
      expect_close(cuda_backend().run_starts(x.gpu), cpu_backend().run_starts(x.cpu), 0, what);
      expect_same(cuda_backend().distinct(x.gpu), cpu_backend().distinct(x.cpu), what);
    }
  const Pair rows = random_pair(kFloat, contiguous_layout("", {300, 2}), {0, 1});
  expect_close(cuda_backend().run_starts(rows.gpu), cpu_backend().run_starts(rows.cpu), 0, "rows");
}

// --- Parts of an order, and searches in it
class CudaSelect : public GpuTest {};

TEST_F(CudaSelect, EveryDimensionOfEveryLayout) {
  for (const MemoryLayout& layout : all_layouts())
    for (const ScalarType dtype : {kLong, kFloat, kHalf}) {
      if (numel_of(layout.sizes) > 6000) continue;
      const Pair x = tied_pair(dtype, layout);
      for (int64_t d = 0; d < x.cpu.dim(); ++d) {
        const std::string what = describe("select", dtype, layout.name);
        const int64_t n = x.cpu.sizes()[d];
        if (n == 0) continue;
        const int64_t first = pick(0, n - 1), count = pick(1, n - first);
        const bool descending = pick(0, 1), ignores_nan = pick(0, 1);
        const auto got = raw::select("topk", x.gpu, d, descending, first, count);
        const auto want = raw::select("topk", x.cpu, d, descending, first, count);
        expect_same(got.values, want.values, what);
        expect_same(got.indices, want.indices, what + ": indices");
        const auto middle = raw::median("median", x.gpu, d, ignores_nan);
        const auto wanted = raw::median("median", x.cpu, d, ignores_nan);
        expect_same(middle.values, wanted.values, what + ": median");
        expect_same(middle.indices, wanted.indices, what + ": its index");
      }
    }
}

// Rows that are long enough for a search of the last digit wanted, some of a single number, so that
// the index decides.
TEST_F(CudaSelect, LongRows) {
  for (const ScalarType dtype : {kFloat, kLong, kDouble})
    for (const int64_t n : {300, 2048, 2049, 6000}) {
      Pair x = n == 2049 ? random_pair(dtype, contiguous_layout("", {2, n}), {-1e6, 1e6})
                         : tied_pair(dtype, contiguous_layout("", {2, n}));
      for (const Tensor& t : {x.cpu, x.gpu})
        if (n == 6000) raw::fill_(raw::narrow(t, 0, 1, 1), 7);
      const std::string what = describe("select", dtype, std::to_string(n));
      const bool descending = pick(0, 1);
      for (const auto& [first, count] :
           {std::pair<int64_t, int64_t>{0, 1}, {0, 10}, {pick(0, 200), 24}}) {
        const auto got = raw::select("topk", x.gpu, 1, descending, first, count);
        const auto want = raw::select("topk", x.cpu, 1, descending, first, count);
        expect_same(got.values, want.values, what);
        expect_same(got.indices, want.indices, what + ": indices");
      }
    }
}

// Rows that are sampled first, in orders in which the sample tells little: where it has all of the
// largest elements, or none; and as many elements as each way of selecting takes.
TEST_F(CudaSelect, RowsWhoseSampleMisleads) {
  constexpr int64_t kLength = 12000, kApart = kLength / 32;
  std::vector<Tensor> rows = {arange(kLength, kFloat), arange(kLength, kFloat).flip({0}),
                              full({kLength}, 3.5), randn({kLength})};
  for (const double of_sample : {1e6, -1e6}) {
    Tensor row = randn({kLength});
    for (int64_t at = 0; at < kLength; at += kApart) row.narrow(0, at, 32).add_(of_sample);
    rows.push_back(row);
  }
  for (const Tensor& row : rows)
    for (const ScalarType dtype : {kFloat, kDouble}) {
      const Tensor x = row.to(dtype).expand({2, kLength}), there = x.to(kCUDA);
      for (const auto& [first, count] : {std::pair<int64_t, int64_t>{0, 1},
                                         {0, 10},
                                         {0, 64},
                                         {0, 65},
                                         {3, 128},
                                         {24, 1000},
                                         {70, 1},
                                         {5000, 1}}) {
        const auto got = raw::select("topk", there, 1, true, first, count);
        const auto want = raw::select("topk", x, 1, true, first, count);
        const std::string what = std::to_string(first) + ", " + std::to_string(count);
        expect_same(got.values, want.values, what);
        expect_same(got.indices, want.indices, what + ": indices");
      }
    }
}

TEST_F(CudaSelect, BisectAndCountAsOnTheCpu) {
  for (const ScalarType dtype : {kLong, kFloat, kDouble})
    for (const bool right : {false, true}) {
      const Pair any = tied_pair(dtype, contiguous_layout("", {3, pick(1, 70)}));
      const Pair values = tied_pair(dtype, contiguous_layout("", {3, 40}));
      const std::string what = describe("searchsorted", dtype, right ? "right" : "left");
      const Tensor lists = raw::sort(any.cpu, 1, false).values;
      const auto list_of = [&](int64_t row, Device device) {
        return raw::to(row < 0 ? lists : *raw::try_view(raw::narrow(lists, 0, row, 1), {-1}),
                       device);
      };
      for (const int64_t row : {-1, 1})
        expect_same(raw::searchsorted(list_of(row, values.gpu.device()), values.gpu, right),
                    raw::searchsorted(list_of(row, Device(kCPU)), values.cpu, right), what);
      expect_same(raw::count_nonzero(values.gpu), raw::count_nonzero(values.cpu), what);
      const Tensor gpu = raw::to(values.gpu, kBool), cpu = raw::to(values.cpu, kBool);
      expect_same(raw::reduce(ReduceOp::sum, gpu, {}), raw::reduce(ReduceOp::sum, cpu, {}), what);
    }
}

// --- Scans
class CudaScan : public GpuTest {};

constexpr ScanOp kScans[] = {ScanOp::cumsum, ScanOp::cumprod, ScanOp::logcumsumexp};
bool has(ScanOp op, ScalarType dtype) { return dtype != kLong || op != ScanOp::logcumsumexp; }

// Both fold in double, in trees of their own, and round once; but a GPU finds logcumsumexp of float
// in float, where a sum has some 1e-7 of itself in doubt, and so its logarithm has as much.
void compare_scan(ScanOp op, const Pair& x, int64_t dim, const std::string& what) {
  const double of_float = op == ScanOp::logcumsumexp ? 6e-7 : 1.3e-7;
  const double tolerance = x.cpu.dtype() == kFloat ? of_float : x.cpu.dtype() == kLong ? 0 : 1e-13;
  const Tensor want = raw::scan(op, x.cpu, dim);
  double largest = 1;
  for (const double value : doubles(want)) largest = std::max(largest, std::abs(value));
  const double unit = x.cpu.dtype() == kDouble ? largest : 1;
  expect_close(raw::scan(op, x.gpu, dim), want, tolerance, what, unit);
}

TEST_F(CudaScan, EveryDimensionOfEveryLayout) {
  for (const MemoryLayout& layout : all_layouts())
    for (const ScalarType dtype : {kFloat, kDouble, kLong}) {
      const Pair x = random_pair(dtype, layout, {-1.2, 1.2});
      for (int64_t d = 0; d < std::max<int64_t>(x.cpu.dim(), 1); ++d)
        for (const ScanOp op : kScans)
          if (has(op, dtype)) compare_scan(op, x, d, describe(name_of(op), dtype, layout.name));
    }
}

TEST_F(CudaScan, RowsAndColumnsOfEveryLength) {
  for (const int64_t n : {1, 2, 3, 31, 32, 33, 127, 128, 129, 1023, 1024, 1025, 2047, 2049, 5000})
    for (const ScalarType dtype : {kFloat, kDouble}) {
      const std::string what = describe("cumsum", dtype, std::to_string(n));
      const MemoryLayout rows = contiguous_layout("", {pick(1, 9), n}, pick(0, 3));
      compare_scan(ScanOp::cumsum, random_pair(dtype, rows), 1, what);
      const MemoryLayout columns = contiguous_layout("", {n, pick(1, 9)}, pick(0, 3));
      compare_scan(ScanOp::cumsum, random_pair(dtype, columns), 0, what);
    }
}

// Cut into tiles, in one launch behind the one that clears what they say; columns are split into
// segments, in three launches.
TEST_F(CudaScan, LongLines) {
  const MemoryLayout layouts[] = {contiguous_layout("one row", {20'011}),
                                  contiguous_layout("a row at an odd address", {20'011}, 1),
                                  contiguous_layout("two rows", {2, 9001}),
                                  contiguous_layout("two columns", {9001, 2}),
                                  contiguous_layout("the middle of three", {2, 3001, 3}),
                                  {"every second", {20'000}, {2}, 1}};
  for (const MemoryLayout& layout : layouts)
    for (const ScalarType dtype : {kFloat, kLong}) {
      const Pair x = random_pair(dtype, layout, {-1.2, 1.2});
      const int64_t dim = layout.sizes.size() == 1 || layout.name == "two columns" ? 0 : 1;
      const int64_t before = cuda::stats().kernel_launches;
      raw::scan(ScanOp::cumsum, x.gpu, dim);
      const bool in_tiles = dim + 1 == static_cast<int64_t>(layout.sizes.size());
      EXPECT_EQ(cuda::stats().kernel_launches - before, in_tiles ? 2 : 3) << layout.name;
      for (const ScanOp op : kScans)
        if (has(op, dtype)) compare_scan(op, x, dim, describe(name_of(op), dtype, layout.name));
    }
}

// So many tiles that they form groups, and one of these is not full.
TEST_F(CudaScan, TilesInGroupsGiveTheSameBitsAgain) {
  const MemoryLayout layout = contiguous_layout("", {2048 * 300 + 77});
  for (const ScanOp op : {ScanOp::cumsum, ScanOp::logcumsumexp}) {
    if (kSimulated && op != ScanOp::cumsum) continue;  // a third of a minute each
    const Pair x = random_pair(kDouble, layout, {-1.2, 1.2});
    compare_scan(op, x, 0, describe(name_of(op), kDouble, "groups"));
    expect_same(raw::scan(op, x.gpu, 0), raw::scan(op, x.gpu, 0), "again");
  }
}

TEST_F(CudaScan, AFewThousandElementsAreOneLaunch) {
  const Pair x = random_pair(kFloat, contiguous_layout("", {64, 60}));
  for (const int64_t d : {0, 1}) {
    const int64_t before = cuda::stats().kernel_launches;
    raw::scan(ScanOp::cumsum, x.gpu, d);
    EXPECT_EQ(cuda::stats().kernel_launches - before, 1);
  }
}

TEST_F(CudaScan, SpecialNumbersAndDtypes) {
  for (const ScalarType dtype : {kBool, kByte, kInt, kHalf, kBFloat16, kFloat, kDouble})
    for (const ScanOp op : kScans) {
      if (op == ScanOp::logcumsumexp && !isFloatingType(dtype)) continue;
      const Pair x = tied_pair(dtype, contiguous_layout("", {9, 40}));
      for (const int64_t d : {0, 1})
        expect_close(raw::scan(op, x.gpu, d), raw::scan(op, x.cpu, d),
                     isFloatingType(dtype) ? 1e-6 : 0, describe(name_of(op), dtype, "special"));
    }
}

TEST_F(CudaScan, ResultsMayBeTheOperandOrAView) {
  for (const Dims& sizes : {Dims{20'000}, Dims{9001, 2}, Dims{20, 30}}) {
    const Pair x = random_pair(kFloat, contiguous_layout("", sizes));
    cpu_backend().scan(ScanOp::cumsum, x.cpu, 0, x.cpu);
    cuda_backend().scan(ScanOp::cumsum, x.gpu, 0, x.gpu);
    expect_close(x.gpu, x.cpu, 1.3e-7, "in place");
  }
  const Pair x = random_pair(kLong, contiguous_layout("", {6, 7, 5}));
  for (const int64_t d : {0, 1, 2}) {
    const MemoryLayout layout{"a view", {6, 7, 5}, {120, 16, 3}, 2};
    const Pair out = random_pair(kLong, layout), indices = random_pair(kLong, layout);
    cpu_backend().scan(ScanOp::cumsum, x.cpu, d, out.cpu);
    cuda_backend().scan(ScanOp::cumsum, x.gpu, d, out.gpu);
    expect_close(out.gpu_all, out.cpu_all, 0, "sums");
    cpu_backend().arg_scan(true, x.cpu, d, out.cpu, indices.cpu);
    cuda_backend().arg_scan(true, x.gpu, d, out.gpu, indices.gpu);
    expect_close(out.gpu_all, out.cpu_all, 0, "values");
    expect_close(indices.gpu_all, indices.cpu_all, 0, "indices");
  }
}

void compare_arg_scan(bool largest, const Pair& x, int64_t dim, const std::string& what) {
  const auto got = raw::arg_scan(largest, x.gpu, dim), want = raw::arg_scan(largest, x.cpu, dim);
  expect_same(got.values, want.values, what + ": values");
  expect_same(got.indices, want.indices, what + ": indices");
}

class CudaArgScan : public GpuTest {};

TEST_F(CudaArgScan, EveryDimensionOfEveryLayout) {
  for (const MemoryLayout& layout : all_layouts())
    for (const ScalarType dtype : {kFloat, kLong}) {
      const Pair x = tied_pair(dtype, layout);
      for (int64_t d = 0; d < std::max<int64_t>(x.cpu.dim(), 1); ++d)
        compare_arg_scan(pick(0, 1), x, d, describe("extreme", dtype, layout.name));
    }
}

TEST_F(CudaArgScan, EveryDtype) {
  for (const ScalarType dtype : {kBool, kByte, kInt, kHalf, kBFloat16, kDouble})
    for (const int64_t d : {0, 1})
      compare_arg_scan(pick(0, 1), tied_pair(dtype, contiguous_layout("", {9, 40})), d,
                       describe("extreme", dtype, "every dtype"));
}

TEST_F(CudaArgScan, LongLines) {
  for (const bool largest : {false, true})
    for (const ScalarType dtype : {kFloat, kLong}) {
      const Range range{-1e6, 1e6};
      compare_arg_scan(largest, random_pair(dtype, contiguous_layout("", {20'011}), range), 0,
                       "row");
      compare_arg_scan(largest, random_pair(dtype, contiguous_layout("", {9001, 2}), range), 0,
                       "columns");
      compare_arg_scan(largest, tied_pair(dtype, contiguous_layout("", {9001})), 0, "ties");
    }
}

// --- Elements that are not 0
class CudaNonzero : public GpuTest {};

void compare_nonzero(const Pair& x, const std::string& what) {
  expect_same(raw::nonzero(x.gpu), raw::nonzero(x.cpu), what);
  expect_same(raw::flat_nonzero(x.gpu), raw::flat_nonzero(x.cpu), what + ", flat");
}

TEST_F(CudaNonzero, EveryLayoutAndDtype) {
  for (const MemoryLayout& layout : all_layouts())
    for (const ScalarType dtype : {kBool, kFloat})
      compare_nonzero(tied_pair(dtype, layout), describe("nonzero", dtype, layout.name));
  for (const ScalarType dtype : {kByte, kChar, kShort, kInt, kLong, kHalf, kBFloat16, kDouble})
    compare_nonzero(tied_pair(dtype, contiguous_layout("", {3, 50})), "every dtype");
}

TEST_F(CudaNonzero, EveryLength) {
  for (const int64_t n : {1, 31, 32, 33, 255, 256, 257, 2047, 2048, 2049, 20'011}) {
    const MemoryLayout layout = contiguous_layout("", {n});
    compare_nonzero(random_pair(kBool, layout), std::to_string(n));
    for (const int value : {0, 1}) {  // none, and all of them
      const Pair x = random_pair(kLong, layout);
      raw::fill_(x.cpu, value), raw::fill_(x.gpu, value);
      compare_nonzero(x, std::to_string(n) + " of one value");
    }
  }
}

TEST_F(CudaNonzero, WaitsOnce) {
  const Pair x = random_pair(kFloat, contiguous_layout("", {3000}));
  const int64_t before = cuda::stats().synchronizations;
  raw::nonzero(x.gpu);
  EXPECT_EQ(cuda::stats().synchronizations - before, 1);
}

}  // namespace
}  // namespace gradus
