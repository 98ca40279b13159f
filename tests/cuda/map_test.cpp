// Every unary row and slope on a GPU against the CPU, in every layout.
#include <limits>

#include "gradus/tensor/math/elementwise.h"
#include "tests/cuda/compare.h"

namespace gradus {
namespace {

struct UnaryRow {
  UnaryOp op;
  Range range;
  bool ints;
  unsigned derivative_uses;
};
const UnaryRow kUnaryRows[] = {
#define UNARY(name, ...)                                                 \
  {UnaryOp::name,                                                        \
   {scalar::Unary<UnaryOp::name>::lo, scalar::Unary<UnaryOp::name>::hi}, \
   scalar::Unary<UnaryOp::name>::integers,                               \
   scalar::derivative_uses<UnaryOp::name>},
#include "gradus/tensor/table/elementwise.def"
};

class CudaMap : public GpuTest {};

// Against the CPU's result in float64.
TEST_F(CudaMap, EveryRowInEveryLayout) {
  for (const UnaryRow& row : kUnaryRows)
    for (const MemoryLayout& layout : all_layouts())
      for (const ScalarType dtype : {kFloat, kDouble, kLong}) {
        if (dtype == kLong && !row.ints) continue;
        const Pair x = random_pair(dtype, layout, row.range);
        const Tensor wide = dtype == kLong ? x.cpu : raw::to(x.cpu, kDouble);
        expect_close(raw::map(row.op, x.gpu), raw::map(row.op, wide), rounding(dtype),
                     describe(name_of(row.op), dtype, layout.name));
      }
}

// The result is a view; the memory around it keeps what it was.
TEST_F(CudaMap, WritesTheViewAndNothingElse) {
  for (const MemoryLayout& layout : dense_layouts()) {
    const Pair x = random_pair(kFloat, contiguous_layout("", layout.sizes));
    const Pair out = random_pair(kFloat, layout);
    if (x.cpu.numel() == 0) continue;
    cpu_backend().map(UnaryOp::square, x.cpu, out.cpu);
    cuda_backend().map(UnaryOp::square, x.gpu, out.gpu);
    expect_close(out.gpu_all, out.cpu_all, 1e-6, layout.name);
  }
}

TEST_F(CudaMap, InPlace) {
  for (const MemoryLayout& layout : dense_layouts()) {
    const Pair x = random_pair(kDouble, layout);
    raw::map_(UnaryOp::square, x.cpu);
    raw::map_(UnaryOp::square, x.gpu);
    expect_close(x.gpu_all, x.cpu_all, 1e-15, layout.name);
  }
}

TEST_F(CudaMap, SpecialValues) {
  const float inf = std::numeric_limits<float>::infinity();
  const float values[] = {0, -0.0f, inf, -inf, std::nanf(""), 1e-40f, 3e38f, -3e38f, 100, -100};
  const Tensor x = raw::empty({10}, kFloat, kCPU);
  std::copy(std::begin(values), std::end(values), x.data_ptr<float>());
  for (const UnaryRow& row : kUnaryRows)
    expect_close(raw::map(row.op, raw::to(x, Device(kCUDA))), raw::map(row.op, x), 1e-6,
                 name_of(row.op));
}

// A slope is a formula of several terms, which round before they cancel: digamma's sum has ten.
constexpr double kSlopeSteps = 8;

// x and y are left undefined where the row says that its slope does not read them.
TEST_F(CudaMap, EverySlopeInEveryLayout) {
  for (const UnaryRow& row : kUnaryRows)
    for (const MemoryLayout& layout : all_layouts())
      for (const ScalarType dtype : {kFloat, kDouble}) {
        const Pair x = random_pair(dtype, layout, row.range), grad = random_pair(dtype, layout);
        if (x.cpu.numel() == 0) continue;
        const Tensor y = raw::map(row.op, x.cpu), y_gpu = raw::to(y, Device(kCUDA));
        const auto where = [&](unsigned bit, const Tensor& t) {
          return row.derivative_uses & bit ? t : Tensor();
        };
        const Tensor expected = raw::map_grad(row.op, raw::to(grad.cpu, kDouble),
                                              raw::to(x.cpu, kDouble), raw::to(y, kDouble));
        expect_close(raw::map_grad(row.op, grad.gpu, where(scalar::kUsesX, x.gpu),
                                   where(scalar::kUsesY, y_gpu)),
                     expected, kSlopeSteps * rounding(dtype),
                     describe(name_of(row.op), dtype, layout.name));
      }
}

}  // namespace
}  // namespace gradus
