// Reductions, variances and extremes on a GPU against the CPU.
#include <limits>

#include "gradus/tensor/factories.h"
#include "gradus/tensor/math/elementwise.h"
#include "tests/cuda/compare.h"

namespace gradus {
namespace {

constexpr ReduceOp kOps[] = {ReduceOp::sum,  ReduceOp::mean,  ReduceOp::amax,
                             ReduceOp::amin, ReduceOp::norm1, ReduceOp::norm2};

bool folds(ReduceOp op, ScalarType dtype) { return dtype != kLong || scalar::folds_integers(op); }

std::string where(ReduceOp op, ScalarType dtype, const MemoryLayout& layout, const Dims& dims) {
  std::string out = describe(name_of(op), dtype, layout.name) + " over ";
  append(out, dims);
  return out;
}

// Elements are below 4: sums of n of them differ by roundings of partial sums of about 4 sqrt(n).
double tolerance(ScalarType dtype, const Tensor& x, const Tensor& out) {
  const auto n =
      static_cast<double>(x.numel()) / static_cast<double>(std::max(out.numel(), int64_t{1}));
  return rounding(dtype) * 4 * (1 + std::sqrt(n));
}

void compare(ReduceOp op, const Pair& x, const Dims& dims, const std::string& what) {
  const Tensor wide = x.cpu.dtype() == kFloat ? raw::to(x.cpu, kDouble) : x.cpu;
  const Tensor expected = raw::reduce(op, wide, dims);
  expect_close(raw::reduce(op, x.gpu, dims), expected, tolerance(x.cpu.dtype(), x.cpu, expected),
               what);
}

class CudaReduce : public GpuTest {};

// Every set of dimensions of every layout.
TEST_F(CudaReduce, EveryRowInEveryLayout) {
  for (const MemoryLayout& layout : all_layouts())
    for (const ScalarType dtype : {kFloat, kDouble, kLong}) {
      const Pair x = random_pair(dtype, layout);
      for (unsigned set = 0; set < 1u << layout.sizes.size(); ++set) {
        Dims dims;
        bool empty = false;
        for (size_t d = 0; d < layout.sizes.size(); ++d)
          if (set >> d & 1) dims.push_back(static_cast<int64_t>(d)), empty |= layout.sizes[d] == 0;
        if (set == 0 && !layout.sizes.empty()) continue;  // an empty list means all of them
        for (const ReduceOp op : kOps)
          if (folds(op, dtype) && !(empty && (op == ReduceOp::amax || op == ReduceOp::amin)))
            compare(op, x, dims, where(op, dtype, layout, dims));
      }
    }
}

// Extents around those at which the kernels change their method, with aligned and odd rows.
TEST_F(CudaReduce, RowsAndColumnsOfEveryLength) {
  for (const int64_t n :
       {1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 33, 64, 127, 256, 300, 1000, 1024, 1025, 1500, 4097})
    for (const int64_t m : {int64_t{1}, int64_t{3}, int64_t{64}, pick(65, 200)})
      for (const ScalarType dtype : {kFloat, kDouble}) {
        // Simulated: few long rows, or many short ones.
        if (kSimulated && n * m > 70'000) continue;
        const MemoryLayout layout =
            contiguous_layout("length " + std::to_string(n), {m, n}, pick(0, 3));
        const Pair x = random_pair(dtype, layout);
        const MemoryLayout columns =
            contiguous_layout("columns of " + std::to_string(n), {n, m}, pick(0, 1) * 3);
        const Pair y = random_pair(dtype, columns);
        for (const ReduceOp op : {ReduceOp::sum, ReduceOp::amax}) {
          compare(op, x, {1}, where(op, dtype, layout, {1}));
          compare(op, y, {0}, where(op, dtype, columns, {0}));
        }
      }
}

// Rows that a block brings to shared memory, in blocks that are full and not, and one more.
TEST_F(CudaReduce, ShortRows) {
  for (const int64_t n : {int64_t{2}, int64_t{3}, pick(4, 59), int64_t{60}, int64_t{61}})
    for (const int64_t m : {int64_t{2}, pick(3, 300), pick(1000, 3000)})
      for (const ScalarType dtype : {kFloat, kDouble, kLong}) {
        const MemoryLayout layout = contiguous_layout("rows of " + std::to_string(n), {m, n});
        const Pair x = random_pair(dtype, layout);
        for (const ReduceOp op : kOps)
          if (folds(op, dtype)) compare(op, x, {1}, where(op, dtype, layout, {1}));
      }
}

// Long enough to be split over blocks and folded by a second launch.
TEST_F(CudaReduce, SplitOverBlocks) {
  const int64_t odd = pick(1, 999);
  const MemoryLayout layouts[] = {
      contiguous_layout("one long row", {200000 + odd}),
      contiguous_layout("a long row at an odd address", {70000 + odd}, 1),
      contiguous_layout("three long rows", {3, 50001}),
      contiguous_layout("few long columns", {40000 + odd, 3}),
      contiguous_layout("vectors of columns", {9000 + odd, 8}),
      contiguous_layout("the middle of three", {2, 5000 + odd, 12}),
      {"every second", {60000}, {2}, 1}};
  for (const MemoryLayout& layout : layouts)
    for (const ScalarType dtype : {kFloat, kLong}) {
      const Pair x = random_pair(dtype, layout);
      for (int64_t d = 0; d < x.cpu.dim(); ++d)
        for (const ReduceOp op : kOps)
          if (folds(op, dtype)) compare(op, x, {d}, where(op, dtype, layout, {d}));
    }
}

// Rows that are padded to whole vectors are read by vectors but for their last columns.
TEST_F(CudaReduce, OddColumnsOfPaddedRows) {
  for (const ScalarType dtype : {kFloat, kBFloat16})
    for (const int64_t n : {1021, 1024, 1025}) {
      const Tensor all = randn({1100, 1032}).to(dtype), x = all.narrow(1, 0, n);
      const Tensor there = all.to(kCUDA).narrow(1, 0, n);
      const Tensor expected = raw::reduce(ReduceOp::sum, raw::to(x, kDouble), IntArrayRef{0});
      const double most = dtype == kFloat ? 1e-4 : 0.005;
      expect_close(raw::reduce(ReduceOp::sum, there, IntArrayRef{0}), expected, most, "columns");
      expect_close(raw::reduce(ReduceOp::sum, there.t(), IntArrayRef{1}), expected.t(), most,
                   "rows of the transposed");
    }
}

TEST_F(CudaReduce, WritesAViewAndNothingElse) {
  const Pair x = random_pair(kLong, contiguous_layout("", {6, 7, 5}));
  for (const int64_t d : {0, 1, 2}) {
    MemoryLayout layout{"a view", {6, 7, 5}, {120, 16, 3}, 2};
    layout.sizes[d] = 1;
    const Pair out = random_pair(kLong, layout);
    cpu_backend().reduce(ReduceOp::sum, x.cpu, out.cpu);
    cuda_backend().reduce(ReduceOp::sum, x.gpu, out.gpu);
    expect_close(out.gpu_all, out.cpu_all, 0, "dimension " + std::to_string(d));
  }
}

TEST_F(CudaReduce, EmptySetsGiveTheStart) {
  const Pair x = random_pair(kFloat, contiguous_layout("", {3, 0}));
  expect_close(raw::reduce(ReduceOp::sum, x.gpu, Dims{1}),
               raw::reduce(ReduceOp::sum, x.cpu, Dims{1}), 0, "sum");
  for (const double value : doubles(raw::reduce(ReduceOp::mean, x.gpu, Dims{1})))
    EXPECT_TRUE(std::isnan(value));
}

TEST_F(CudaReduce, NanPropagates) {
  for (const int64_t n : {5, 3000, 50000}) {
    const Tensor memory = random_memory(kFloat, n);
    memory.data_ptr<float>()[pick(0, n - 1)] = std::numeric_limits<float>::quiet_NaN();
    const Tensor x = raw::to(memory, Device(kCUDA));
    for (const ReduceOp op : kOps)
      EXPECT_TRUE(std::isnan(doubles(raw::reduce(op, x, Dims{0}))[0])) << name_of(op) << n;
  }
}

// Rows, columns and all of a matrix, in one launch and in parts, with infinities of both signs.
TEST_F(CudaReduce, SumsWithoutNan) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  for (const Dims& sizes : {Dims{3, 5}, Dims{7, 3000}, Dims{50000, 4}, Dims{2, 100001}}) {
    const Tensor memory = random_memory(kFloat, sizes[0] * sizes[1]);
    for (int64_t i = pick(0, 3); i < memory.numel(); i += pick(1, 9))
      memory.data_ptr<float>()[i] = std::numeric_limits<float>::quiet_NaN();
    for (const float last : {1.0f, inf}) {
      memory.data_ptr<float>()[0] = -last;
      memory.data_ptr<float>()[memory.numel() - 1] = last;
      const Tensor cpu = raw::as_strided(memory, sizes, {sizes[1], 1}, 0);
      const Tensor gpu = raw::to(cpu, Device(kCUDA));
      for (const Dims& dims : {Dims{0}, Dims{1}, Dims{0, 1}}) {
        const Tensor expected = raw::reduce(ReduceOp::nansum, raw::to(cpu, kDouble), dims);
        expect_close(raw::reduce(ReduceOp::nansum, gpu, dims), expected,
                     tolerance(kFloat, cpu, expected), "nansum");
      }
    }
  }
}

// Of numbers about 100, by rows, columns and all of them, in one launch and in parts.
TEST_F(CudaReduce, Variances) {
  for (const Dims& sizes : {Dims{3, 5}, Dims{1, 1}, Dims{64, 300}, Dims{7, 3001}, Dims{20000, 8},
                            Dims{2, 100001}, Dims{0, 3}})
    for (const ScalarType dtype : {kFloat, kDouble, kHalf}) {
      const Tensor memory = raw::to(random_memory(kDouble, sizes[0] * sizes[1]), kFloat);
      raw::zip_(BinaryOp::add, memory, Scalar(100));
      const Tensor cpu = raw::to(raw::as_strided(memory, sizes, {sizes[1], 1}, 0), dtype);
      const Tensor gpu = raw::to(cpu, Device(kCUDA));
      for (const Dims& dims : {Dims{0}, Dims{1}, Dims{0, 1}})
        for (const bool root : {false, true}) {
          const Tensor wide = raw::variance(root, 7, raw::to(cpu, kDouble), dims);
          // One rounding to the result's type, since states are of double.
          expect_close(raw::variance(root, 7, gpu, dims), raw::to(wide, dtype),
                       dtype == kDouble ? 1e-11 : 4 * rounding(dtype),
                       describe(root ? "std" : "var", dtype, "") + std::to_string(sizes[0]));
        }
    }
}

TEST_F(CudaReduce, VariancesOfSpecialNumbers) {
  constexpr double inf = std::numeric_limits<double>::infinity(),
                   nan = std::numeric_limits<double>::quiet_NaN();
  const auto variance = [](const std::vector<double>& list) {
    const Tensor x = raw::empty({std::ssize(list)}, kDouble, Device(kCPU));
    std::copy(list.begin(), list.end(), x.data_ptr<double>());
    return doubles(raw::variance(false, 1, raw::to(x, Device(kCUDA)), Dims{0}))[0];
  };
  for (const double special : {inf, -inf, nan}) {
    EXPECT_TRUE(std::isnan(variance({special}))) << special;
    EXPECT_TRUE(std::isnan(variance({1, special, 2}))) << special;
    std::vector<double> many(50000, 0.5);
    many[static_cast<size_t>(pick(0, 49999))] = special;
    EXPECT_TRUE(std::isnan(variance(many))) << special;
  }
  EXPECT_EQ(variance({1e200}), 0);
  EXPECT_EQ(variance(std::vector<double>(30001, 0.1)), 0);
  EXPECT_EQ(variance(std::vector<double>(30001, -1e200)), 0);
}

// Bytes are compared in place, 16 at a time.
TEST_F(CudaReduce, ExtremesOfBytes) {
  for (const Dims& sizes :
       {Dims{3, 5}, Dims{64, 48}, Dims{7, 3001}, Dims{20000, 16}, Dims{2, 100001}})
    for (const ScalarType dtype : {kBool, kByte, kChar}) {
      const Pair x = random_pair(dtype, contiguous_layout("bytes", sizes, pick(0, 3)));
      for (const Dims& dims : {Dims{0}, Dims{1}, Dims{0, 1}})
        for (const ReduceOp op : {ReduceOp::amax, ReduceOp::amin})
          expect_close(raw::reduce(op, x.gpu, dims), raw::reduce(op, x.cpu, dims), 0,
                       describe(name_of(op), dtype, ""));
    }
}

TEST_F(CudaReduce, RepeatsBitForBit) {
  const Pair x = random_pair(kFloat, contiguous_layout("", {300, 1001}));
  for (const Dims& dims : {Dims{0}, Dims{1}, Dims{0, 1}}) {
    const Tensor first = raw::reduce(ReduceOp::sum, x.gpu, dims);
    expect_close(raw::reduce(ReduceOp::sum, x.gpu, dims), first, 0, "again");
  }
}

TEST_F(CudaReduce, AFewThousandElementsAreOneLaunch) {
  for (const ScalarType dtype : {kFloat, kHalf, kBFloat16}) {
    const Pair x = random_pair(dtype, contiguous_layout("", {64, 60}));
    for (const Dims& dims : {Dims{0}, Dims{1}, Dims{0, 1}}) {
      const int64_t before = cuda::stats().kernel_launches;
      raw::reduce(ReduceOp::sum, x.gpu, dims);
      EXPECT_EQ(cuda::stats().kernel_launches - before, 1) << dtype;
    }
  }
}

// The result of half types is that of float32, rounded once.
TEST_F(CudaReduce, HalvesAreRoundedAsTheyAreStored) {
  for (const auto& layout :
       {contiguous_layout("short rows", {300, 12}), contiguous_layout("rows", {5, 700}),
        contiguous_layout("vectors of columns", {90, 64}), contiguous_layout("columns", {70, 33}),
        contiguous_layout("odd columns", {70, 9}, 1), contiguous_layout("split", {3, 20001}),
        contiguous_layout("split columns", {20001, 8})})
    for (const ScalarType dtype : {kHalf, kBFloat16}) {
      const Pair x = random_pair(dtype, layout);
      for (const int64_t d : {0, 1}) {
        for (const ReduceOp op : kOps) {
          const Tensor wide = raw::reduce(op, x.gpu, Dims{d}, kFloat);
          expect_close(raw::reduce(op, x.gpu, Dims{d}), raw::to(wide, dtype), 0,
                       where(op, dtype, layout, {d}));
        }
      }
    }
}

// With vectors of both operands, and where these never begin together.
TEST_F(CudaReduce, MeanSquares) {
  for (const ScalarType dtype : {kFloat, kDouble})
    for (const int64_t n : {1, 7, 1000, 300001})
      for (const int64_t shift : {0, 1, 4}) {
        const Pair x = random_pair(dtype, contiguous_layout("", {n}));
        const Pair longer = random_pair(dtype, contiguous_layout("", {n + shift}));
        const auto y = [&](const Tensor& t) { return raw::narrow(t, 0, shift, n); };
        const auto wide = [](const Tensor& t) { return raw::to(t, kDouble); };
        const Tensor expected = raw::mean_square(wide(x.cpu), wide(y(longer.cpu)));
        const int64_t before = cuda::stats().kernel_launches;
        const Tensor got = raw::mean_square(x.gpu, y(longer.gpu));
        if (n <= 1000) {
          EXPECT_EQ(cuda::stats().kernel_launches - before, 1);
        }
        expect_close(got, expected, rounding(dtype) * 8 * (1 + std::sqrt(n)),
                     std::to_string(n) + ", shifted by " + std::to_string(shift));
        const Tensor grad = raw::to(rand({}, dtype), Device(kCUDA));
        expect_close(raw::mean_square_grad(grad, x.gpu, y(longer.gpu)),
                     raw::mean_square_grad(wide(raw::to(grad, Device(kCPU))), wide(x.cpu),
                                           wide(y(longer.cpu))),
                     rounding(dtype) * 8, "gradient");
      }
}

// --- Largest and smallest with their index
class CudaArgReduce : public GpuTest {};

void compare_arg(bool largest, const Pair& x, int64_t dim, const std::string& what) {
  const auto got = raw::arg_reduce("max", largest, x.gpu, dim);
  const auto expected = raw::arg_reduce("max", largest, x.cpu, dim);
  expect_close(got.values, expected.values, 0, what + ": values");
  expect_close(got.indices, expected.indices, 0, what + ": indices");
}

// Integers of a small range, so that many are equal and the first has to win.
TEST_F(CudaArgReduce, EveryDimensionOfEveryLayout) {
  for (const MemoryLayout& layout : all_layouts())
    for (const ScalarType dtype : {kFloat, kDouble, kLong, kBool}) {
      const Pair x = random_pair(dtype, layout);
      for (int64_t d = 0; d < x.cpu.dim(); ++d)
        if (x.cpu.sizes()[d] > 0)
          for (const bool largest : {false, true})
            compare_arg(largest, x, d, describe(largest ? "max" : "min", dtype, layout.name));
    }
}

TEST_F(CudaArgReduce, LongRowsAndColumns) {
  for (const Dims& sizes : {Dims{3, 20000}, Dims{20000, 3}, Dims{700, 300}, Dims{1, 1}})
    for (const ScalarType dtype : {kFloat, kLong}) {
      const Pair x = random_pair(dtype, contiguous_layout("", sizes), {-20, 20});
      for (const int64_t d : {0, 1}) compare_arg(d == 0, x, d, "long");
    }
}

TEST_F(CudaArgReduce, TheFirstNanWins) {
  Tensor memory = random_memory(kFloat, 3000);
  const int64_t first = pick(0, 1500);
  for (const int64_t i : {first, first + pick(1, 300), int64_t{2999}})
    memory.data_ptr<float>()[i] = std::numeric_limits<float>::quiet_NaN();
  const Tensor x = raw::to(memory, Device(kCUDA));
  for (const bool largest : {false, true}) {
    const auto got = raw::arg_reduce("max", largest, x, 0);
    EXPECT_TRUE(std::isnan(doubles(got.values)[0]));
    EXPECT_EQ(doubles(got.indices)[0], static_cast<double>(first));
  }
}

}  // namespace
}  // namespace gradus
