// Every ternary row on a GPU against the CPU.
#include <limits>

#include "gradus/tensor/math/elementwise.h"
#include "tests/cuda/compare.h"

namespace gradus {
namespace {

struct TernaryRow {
  TernaryOp op;
  Range y, z;
  bool ints;
};
const TernaryRow kTernaryRows[] = {
#define TERNARY(name, ...)                                                           \
  {TernaryOp::name,                                                                  \
   {scalar::Ternary<TernaryOp::name>::y_lo, scalar::Ternary<TernaryOp::name>::y_hi}, \
   {scalar::Ternary<TernaryOp::name>::z_lo, scalar::Ternary<TernaryOp::name>::z_hi}, \
   scalar::Ternary<TernaryOp::name>::integers},
#include "gradus/tensor/table/ternary.def"
};
constexpr Range kX = {-3, 3};

Tensor widened(const Tensor& x) { return x.dtype() == kFloat ? raw::to(x, kDouble) : x; }

class CudaTernary : public GpuTest {};

// Against the CPU's result in float64.
TEST_F(CudaTernary, EveryRowInEveryLayout) {
  for (const TernaryRow& row : kTernaryRows)
    for (const MemoryLayout& layout : all_layouts())
      for (const ScalarType dtype : {kFloat, kDouble, kLong}) {
        if (dtype == kLong && !row.ints) continue;
        const std::string what = describe(name_of(row.op), dtype, layout.name);
        const double near = rounding(dtype);
        const Scalar b = dtype == kLong ? Scalar(1) : Scalar(row.y.high);
        const Scalar c = dtype == kLong ? Scalar(2) : Scalar(row.z.low);
        const Pair x = random_pair(dtype, layout, kX), y = random_pair(dtype, layout, row.y);
        const Pair z = random_pair(dtype, contiguous_layout("", layout.sizes), row.z);
        const Tensor wide_x = widened(x.cpu), wide_y = widened(y.cpu);
        expect_close(raw::ternary(row.op, x.gpu, y.gpu, z.gpu),
                     raw::ternary(row.op, wide_x, wide_y, widened(z.cpu)), near, what);
        expect_close(raw::ternary(row.op, x.gpu, y.gpu, c), raw::ternary(row.op, wide_x, wide_y, c),
                     near, what + ", a number last");
        expect_close(raw::ternary(row.op, x.gpu, b, c), raw::ternary(row.op, wide_x, b, c), near,
                     what + ", numbers");
        expect_close(raw::ternary(row.op, x.gpu, y.gpu, c, -3),
                     raw::ternary(row.op, wide_x, wide_y, c, -3), near, what + ", w");
      }
}

TEST_F(CudaTernary, WritesTheViewAndNothingElse) {
  for (const MemoryLayout& layout : dense_layouts()) {
    const Pair x = random_pair(kFloat, contiguous_layout("", layout.sizes));
    const Pair out = random_pair(kFloat, layout);
    if (x.cpu.numel() == 0) continue;
    cpu_backend().ternary(TernaryOp::clamp, x.cpu, Scalar(-1), Scalar(2), 1, out.cpu);
    cuda_backend().ternary(TernaryOp::clamp, x.gpu, Scalar(-1), Scalar(2), 1, out.gpu);
    expect_close(out.gpu_all, out.cpu_all, 0, layout.name);
  }
}

TEST_F(CudaTernary, SpecialValues) {
  const double inf = std::numeric_limits<double>::infinity();
  const double values[] = {0, -0.0, inf, -inf, std::nan(""), 1e-40, 3e38, -3e38, 100, -100};
  const Tensor x = raw::empty({10}, kDouble, kCPU);
  std::copy(std::begin(values), std::end(values), x.data_ptr<double>());
  for (const TernaryRow& row : kTernaryRows)
    for (const double number : values)
      expect_close(raw::ternary(row.op, raw::to(x, Device(kCUDA)), Scalar(1), Scalar(number)),
                   raw::ternary(row.op, x, Scalar(1), Scalar(number)), 1e-15, name_of(row.op));
}

// Tensors of the CPU without dimensions stand beside those of a GPU, in every place.
TEST_F(CudaTernary, TensorsWithoutDimensionsFollow) {
  const Pair x = random_pair(kFloat, contiguous_layout("", {3, 5}));
  const Pair one = random_pair(kFloat, contiguous_layout("", {}));
  const Pair sum[] = {x, one};
  for (int places = 0; places < 7; ++places) {  // of 8, all but those without one of the GPU
    const auto at = [&](int i) -> const Pair& { return sum[places >> i & 1]; };
    const auto given = [&](int i) { return places >> i & 1 ? one.cpu : x.gpu; };
    const Tensor out = raw::ternary(TernaryOp::addcmul, given(0), given(1), given(2));
    EXPECT_TRUE(out.is_cuda());
    expect_close(out, raw::ternary(TernaryOp::addcmul, at(0).cpu, at(1).cpu, at(2).cpu), 1e-6,
                 std::to_string(places));
  }
  try {
    raw::ternary(TernaryOp::lerp, one.cpu, x.gpu, x.cpu);
    FAIL() << "expected an error";
  } catch (const Error& error) {
    const std::string text = error.msg();
    EXPECT_NE(text.find("lerp: the second is on cuda:0, the third on cpu"), std::string::npos)
        << text;
  }
}

// Rows of whole vectors, and others, whose diagonal ends anywhere in one.
TEST_F(CudaTernary, TrianglesOfEveryWidth) {
  for (const ScalarType dtype : {kByte, kHalf, kFloat, kDouble})
    for (const int64_t columns : {1, 5, 8, 32, 48, 300, 1040})
      for (const bool upper : {false, true}) {
        const Dims sizes = {2, pick(1, 40), columns};
        const Pair x = random_pair(dtype, contiguous_layout("", sizes, pick(0, 1)));
        const int64_t diagonal = pick(-9, 20);
        expect_close(raw::triangle("triangle", upper, diagonal, x.gpu),
                     raw::triangle("triangle", upper, diagonal, x.cpu), 0,
                     describe("triangle", dtype, std::to_string(columns)));
      }
}

TEST_F(CudaTernary, Triangles) {
  for (const MemoryLayout& layout : all_layouts()) {
    if (layout.sizes.size() < 2) continue;
    const Pair x = random_pair(pick(0, 1) ? kFloat : kByte, layout);
    for (const int64_t diagonal : {-40, -1, 0, 2, 40})
      for (const bool upper : {false, true})
        expect_close(raw::triangle("triangle", upper, diagonal, x.gpu),
                     raw::triangle("triangle", upper, diagonal, x.cpu), 0, layout.name);
  }
}

}  // namespace
}  // namespace gradus
