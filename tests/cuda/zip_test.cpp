// Every binary row on a GPU against the CPU, with broadcasting and numbers.
#include <limits>

#include "gradus/tensor/factories.h"
#include "gradus/tensor/math/elementwise.h"
#include "tests/cuda/compare.h"

namespace gradus {
namespace {

struct BinaryRow {
  BinaryOp op;
  Range x, y;
  bool reals, ints;
};
const BinaryRow kBinaryRows[] = {
#define BINARY(name, ...)                                                        \
  {BinaryOp::name,                                                               \
   {scalar::Binary<BinaryOp::name>::x_lo, scalar::Binary<BinaryOp::name>::x_hi}, \
   {scalar::Binary<BinaryOp::name>::y_lo, scalar::Binary<BinaryOp::name>::y_hi}, \
   true,                                                                         \
   scalar::Binary<BinaryOp::name>::integers},
#define INTEGER(name, ...) {BinaryOp::name, {-9, 9}, {-9, 9}, false, true},
#define COMPARISON(name, ...) {BinaryOp::name, {-2, 2}, {-2, 2}, true, true},
#include "gradus/tensor/table/elementwise.def"
};

// Powers of floats lose digits in proportion to the exponent.
double tolerance(BinaryOp op, ScalarType dtype) {
  return (op == BinaryOp::pow ? 4 : 1) * rounding(dtype);
}
Tensor widen(const Tensor& x) { return x.dtype() == kFloat ? raw::to(x, kDouble) : x; }

class CudaZip : public GpuTest {};

TEST_F(CudaZip, EveryRowInEveryLayout) {
  for (const BinaryRow& row : kBinaryRows)
    for (const MemoryLayout& layout : all_layouts())
      for (const ScalarType dtype : {kFloat, kDouble, kLong}) {
        if (dtype == kLong ? !row.ints : !row.reals) continue;
        const std::string what = describe(name_of(row.op), dtype, layout.name);
        const Pair x = random_pair(dtype, layout, row.x);
        const Pair y = random_pair(dtype, contiguous_layout("", layout.sizes), row.y);
        const double near = tolerance(row.op, dtype);
        expect_close(raw::zip(row.op, x.gpu, y.gpu), raw::zip(row.op, widen(x.cpu), widen(y.cpu)),
                     near, what);
        const Pair z = random_pair(dtype, layout, row.y);
        expect_close(raw::zip(row.op, x.gpu, z.gpu), raw::zip(row.op, widen(x.cpu), widen(z.cpu)),
                     near, what + " on both sides");
      }
}

// Matrices in batches of which either operand, or both, or a column, are turned; in sizes that
// squares fit into, and in others.
TEST_F(CudaZip, TurnedOperands) {
  for (int round = 0; round < 8; ++round)
    for (const ScalarType dtype : {kFloat, kDouble, kLong}) {
      const int64_t unit = round % 4 == 3 ? 1 : 4;
      const int64_t batch = pick(1, 2), rows = unit * pick(1, 40), columns = unit * pick(1, 40);
      const Dims sizes = {batch, rows, columns};
      const int64_t high = rows + unit * pick(0, 1), start = unit * pick(0, 1);
      const MemoryLayout straight = contiguous_layout("straight", sizes, start);
      const MemoryLayout turned{"turned", sizes, {columns * high, 1, high}, start};
      const MemoryLayout column{"a column", sizes, {rows, 1, 0}, start};
      const MemoryLayout layouts[] = {straight, turned, column};
      for (const auto& a : layouts)
        for (const auto& b : layouts) {
          const Pair x = random_pair(dtype, a), y = random_pair(dtype, b);
          for (const BinaryOp op : {BinaryOp::sub, BinaryOp::lt})
            expect_close(raw::zip(op, x.gpu, y.gpu), raw::zip(op, widen(x.cpu), widen(y.cpu)),
                         rounding(dtype), describe(name_of(op), dtype, a.name + ", " + b.name));
        }
    }
}

TEST_F(CudaZip, ANumberOnEitherSide) {
  for (const BinaryRow& row : kBinaryRows)
    for (const MemoryLayout& layout : all_layouts())
      for (const ScalarType dtype : {kFloat, kDouble, kLong}) {
        if (dtype == kLong ? !row.ints : !row.reals) continue;
        const std::string what = describe(name_of(row.op), dtype, layout.name);
        const double near = tolerance(row.op, dtype);
        const Scalar number = dtype == kLong ? Scalar(2) : Scalar(1.5);
        const Pair x = random_pair(dtype, layout, row.x), y = random_pair(dtype, layout, row.y);
        expect_close(raw::zip(row.op, x.gpu, number), raw::zip(row.op, widen(x.cpu), number), near,
                     what + ", number second");
        expect_close(raw::zip(row.op, number, y.gpu), raw::zip(row.op, number, widen(y.cpu)), near,
                     what + ", number first");
      }
}

TEST_F(CudaZip, EqualElementsCompareEqual) {
  const Pair x = random_pair(kFloat, contiguous_layout("", {5000}));
  for (const BinaryRow& row : kBinaryRows) {
    if (!row.reals) continue;
    const Tensor got = raw::zip(row.op, x.gpu, x.gpu);
    expect_close(got, raw::zip(row.op, x.cpu, x.cpu), 1e-6, name_of(row.op));
  }
}

// Shapes that broadcast, with random sizes.
TEST_F(CudaZip, Broadcasting) {
  for (int round = 0; round < 20; ++round) {
    const int64_t a = pick(1, 40), b = pick(1, 400), c = pick(1, 30);
    const Pair x = random_pair(kFloat, contiguous_layout("", {a, 1, c}, pick(0, 3)));
    const Pair y = random_pair(kFloat, contiguous_layout("", {b, 1}, pick(0, 3)));
    expect_close(raw::zip(BinaryOp::sub, x.gpu, y.gpu), raw::zip(BinaryOp::sub, x.cpu, y.cpu), 0,
                 "x - y");
    expect_close(raw::zip(BinaryOp::lt, y.gpu, x.gpu), raw::zip(BinaryOp::lt, y.cpu, x.cpu), 0,
                 "y < x");
  }
}

TEST_F(CudaZip, InPlaceWritesTheViewAndNothingElse) {
  for (const MemoryLayout& layout : dense_layouts()) {
    const Pair x = random_pair(kFloat, layout), y = random_pair(kFloat, layout);
    raw::zip_(BinaryOp::sub, x.cpu, y.cpu);
    raw::zip_(BinaryOp::sub, x.gpu, y.gpu);
    expect_close(x.gpu_all, x.cpu_all, 0, layout.name);
  }
}

TEST_F(CudaZip, NanPropagatesAndComparesUnequal) {
  const Tensor x = raw::empty({3}, kFloat, kCPU), y = raw::empty({3}, kFloat, kCPU);
  const float nan = std::nanf("");
  const float xs[] = {nan, 1, nan}, ys[] = {1, nan, nan};
  std::copy_n(xs, 3, x.data_ptr<float>());
  std::copy_n(ys, 3, y.data_ptr<float>());
  for (const BinaryRow& row : kBinaryRows)
    if (row.reals)
      expect_close(raw::zip(row.op, raw::to(x, Device(kCUDA)), raw::to(y, Device(kCUDA))),
                   raw::zip(row.op, x, y), 0, name_of(row.op));
}

// Cases that the CPU refuses. A kernel cannot refuse them, and must not trap.
TEST_F(CudaZip, IntegersDividedByZeroGiveAllOnesAndLeaveTheDividend) {
  const Tensor x = tensor({7, -7, 0}, kLong).to(kCUDA), zero = zeros({3}, x.options());
  for (const BinaryOp op : {BinaryOp::floor_divide, BinaryOp::div_trunc}) {
    EXPECT_EQ(doubles(raw::zip(op, x, zero)), (std::vector<double>{-1, -1, -1}));
    EXPECT_EQ(doubles(raw::zip(op, x, Scalar(0))), (std::vector<double>{-1, -1, -1}));
  }
  for (const BinaryOp op : {BinaryOp::remainder, BinaryOp::fmod})
    EXPECT_EQ(doubles(raw::zip(op, x, zero)), (std::vector<double>{7, -7, 0}));
  const Tensor least = tensor({std::numeric_limits<int64_t>::min()}, kLong).to(kCUDA);
  EXPECT_EQ(raw::zip(BinaryOp::floor_divide, least, Scalar(-1)).item<int64_t>(),
            std::numeric_limits<int64_t>::min());
  EXPECT_EQ(raw::zip(BinaryOp::remainder, least, Scalar(-1)).item<int64_t>(), 0);
}

}  // namespace
}  // namespace gradus
