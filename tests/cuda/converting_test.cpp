// Operands of types that are not computed with, which kernels convert on the way: the GPU against
// the CPU.
#include "gradus/tensor/factories.h"
#include "tests/cuda/compare.h"

namespace gradus {
namespace {

constexpr ScalarType kNarrow[] = {kBool, kByte, kChar, kShort, kInt, kHalf, kBFloat16};

class CudaConverting : public GpuTest {};

// Sums of two numbers round once on both; what e^x rounds to may differ by one unit.
double unit(ScalarType dtype) { return dtype == kHalf ? 1e-3 : dtype == kBFloat16 ? 8e-3 : 0; }

TEST_F(CudaConverting, PairsOfEveryTypeInEveryLayout) {
  for (const MemoryLayout& layout : all_layouts())
    for (const ScalarType dtype : kNarrow) {
      if (numel_of(layout.sizes) > 6000) continue;
      const Pair x = random_pair(dtype, layout), y = random_pair(dtype, layout);
      const Pair row = random_pair(dtype, contiguous_layout("", layout.sizes));
      for (const BinaryOp op : {BinaryOp::add, BinaryOp::lt, BinaryOp::maximum}) {
        const std::string what = describe(name_of(op), dtype, layout.name);
        expect_close(raw::zip(op, x.gpu, y.gpu), raw::zip(op, x.cpu, y.cpu), 0, what);
        expect_close(raw::zip(op, x.gpu, row.gpu), raw::zip(op, x.cpu, row.cpu), 0, what);
        if (dtype == kBool) continue;
        expect_close(raw::zip(op, x.gpu, Scalar(2)), raw::zip(op, x.cpu, Scalar(2)), 0, what);
        expect_close(raw::zip(op, Scalar(3), x.gpu), raw::zip(op, Scalar(3), x.cpu), 0, what);
      }
    }
}

TEST_F(CudaConverting, FunctionsAndTheirGradients) {
  for (const MemoryLayout& layout : all_layouts())
    for (const ScalarType dtype : kNarrow) {
      if (numel_of(layout.sizes) > 6000) continue;
      const std::string what = describe("map", dtype, layout.name);
      const Pair x = random_pair(dtype, layout, {0, 2});
      expect_close(raw::map(UnaryOp::isnan, x.gpu), raw::map(UnaryOp::isnan, x.cpu), 0, what);
      if (isFloatingType(dtype)) {
        const Pair grad = random_pair(dtype, contiguous_layout("", layout.sizes));
        expect_close(raw::map(UnaryOp::exp, x.gpu), raw::map(UnaryOp::exp, x.cpu), unit(dtype),
                     what);
        expect_close(raw::map_grad(UnaryOp::sigmoid, grad.gpu, {}, x.gpu),
                     raw::map_grad(UnaryOp::sigmoid, grad.cpu, {}, x.cpu), unit(dtype), what);
        expect_close(raw::ternary(TernaryOp::lerp, x.gpu, grad.gpu, Scalar(0.5)),
                     raw::ternary(TernaryOp::lerp, x.cpu, grad.cpu, Scalar(0.5)), unit(dtype),
                     what);
      } else if (dtype != kBool) {
        expect_close(raw::map(UnaryOp::neg, x.gpu), raw::map(UnaryOp::neg, x.cpu), 0, what);
      }
    }
}

// Operands of two types, in ends of rows and in rows of which some begin off an address of a pair.
TEST_F(CudaConverting, OperandsOfTwoTypes) {
  const std::pair<ScalarType, ScalarType> pairs[] = {
      {kFloat, kDouble}, {kFloat, kLong}, {kFloat, kBool},    {kHalf, kFloat},
      {kInt, kLong},     {kByte, kShort}, {kHalf, kBFloat16}, {kBool, kByte}};
  for (const auto& [first, second] : pairs)
    for (const int64_t n : {1, 2, 3, 5, 511, 1024, 1027, 4099}) {
      const std::string what = describe("mul", first, std::to_string(n));
      const Pair x = random_pair(first, contiguous_layout("", {3, n}, pick(0, 2)));
      const Pair y = random_pair(second, contiguous_layout("", {3, n}, pick(0, 2)));
      const Pair column = random_pair(second, contiguous_layout("", {3, 1}));
      const Pair turned = random_pair(second, {"", {3, n}, {1, 3}, 0});
      for (const Pair* other : {&y, &column, &turned})
        expect_close(raw::zip(BinaryOp::mul, x.gpu, other->gpu),
                     raw::zip(BinaryOp::mul, x.cpu, other->cpu), 0, what);
    }
}

TEST_F(CudaConverting, OperandsOfTwoTypesAreOneLaunch) {
  const Pair x = random_pair(kFloat, contiguous_layout("", {1000}));
  for (const ScalarType dtype : {kDouble, kLong, kBool, kHalf}) {
    const Pair y = random_pair(dtype, contiguous_layout("", {1000}));
    const int64_t before = cuda::stats().kernel_launches;
    const Tensor sum = raw::zip(BinaryOp::add, x.gpu, y.gpu);
    EXPECT_EQ(cuda::stats().kernel_launches - before, 1) << dtype;
    expect_close(sum, raw::zip(BinaryOp::add, x.cpu, y.cpu), 0, describe("add", dtype, ""));
    // Comparisons still convert by copies first.
    expect_close(raw::zip(BinaryOp::lt, x.gpu, y.gpu), raw::zip(BinaryOp::lt, x.cpu, y.cpu), 0,
                 describe("lt", dtype, ""));
  }
}

// Integers keep their signs, and results wrap around, up to the ends of each type.
TEST_F(CudaConverting, IntegersAtTheEndsOfTheirTypes) {
  for (const ScalarType dtype : {kByte, kChar, kShort, kInt, kLong}) {
    const int64_t bits = 8 * static_cast<int64_t>(element_size(dtype));
    const int64_t top = static_cast<int64_t>(~uint64_t{0} >> (65 - bits));
    const Tensor x = tensor({-top - 1, -top, int64_t{-1}, int64_t{0}, int64_t{1}, top - 1, top});
    const Tensor all = raw::to(x, dtype), some = raw::narrow(all, 0, 1, 6);
    // An address that is no multiple of 16 bytes has no vectors.
    const Tensor gpu = raw::narrow(all.cuda(), 0, 1, 6);
    for (const BinaryOp op : {BinaryOp::sub, BinaryOp::lt, BinaryOp::minimum}) {
      const std::string what = describe(name_of(op), dtype, "ends");
      expect_close(raw::zip(op, gpu, Scalar(2)), raw::zip(op, some, Scalar(2)), 0, what);
      expect_close(raw::zip(op, Scalar(2), gpu), raw::zip(op, Scalar(2), some), 0, what);
      for (const ScalarType other : {kBool, kByte, kChar, kShort, kInt, kLong}) {
        if (op == BinaryOp::sub && other == kBool) continue;
        const Tensor y = raw::to(some, other);
        expect_close(raw::zip(op, gpu, y.cuda()), raw::zip(op, some, y), 0, what);
        expect_close(raw::zip(op, y.cuda(), gpu), raw::zip(op, y, some), 0, what);
      }
    }
    expect_close(raw::map(UnaryOp::neg, gpu), raw::map(UnaryOp::neg, some), 0,
                 describe("neg", dtype, "ends"));
    expect_close(raw::reduce(ReduceOp::sum, all.cuda(), {}), raw::reduce(ReduceOp::sum, all, {}), 0,
                 describe("sum", dtype, "ends"));
  }
}

// A number on either side of an operand of another type than the result's.
TEST_F(CudaConverting, NumbersBesideOperandsOfOtherTypes) {
  for (const MemoryLayout& layout : {contiguous_layout("", {1}), contiguous_layout("", {2, 1027}),
                                     MemoryLayout{"transposed", {30, 7}, {1, 30}, 0}})
    for (const ScalarType dtype : kNarrow) {
      const Pair x = random_pair(dtype, layout, {1, 4});
      for (const BinaryOp op : {BinaryOp::div, BinaryOp::floor_divide, BinaryOp::atan2}) {
        if (dtype == kBool && op == BinaryOp::floor_divide) continue;
        const std::string what = describe(name_of(op), dtype, layout.name);
        const double tolerance = op == BinaryOp::atan2 ? std::max(unit(dtype), 1e-6) : unit(dtype);
        expect_close(raw::zip(op, x.gpu, Scalar(2.5)), raw::zip(op, x.cpu, Scalar(2.5)), tolerance,
                     what);
        expect_close(raw::zip(op, Scalar(2.5), x.gpu), raw::zip(op, Scalar(2.5), x.cpu), tolerance,
                     what);
      }
    }
}

// Kernels of their own take what is half throughout and contiguous.
TEST_F(CudaConverting, HalvesThatAreContiguous) {
  for (const ScalarType dtype : {kHalf, kBFloat16})
    for (const int64_t n : {1, 7, 8, 4096, 4099, 20000}) {
      const std::string what = describe("halves", dtype, std::to_string(n));
      const Pair x = random_pair(dtype, contiguous_layout("", {n}), {-4, 4});
      const Pair y = random_pair(dtype, contiguous_layout("", {n}), {-4, 4});
      expect_close(raw::map(UnaryOp::relu, x.gpu), raw::map(UnaryOp::relu, x.cpu), 0, what);
      expect_close(raw::zip(BinaryOp::add, x.gpu, y.gpu), raw::zip(BinaryOp::add, x.cpu, y.cpu), 0,
                   what);
      expect_close(raw::zip(BinaryOp::mul, x.gpu, Scalar(0.5)),
                   raw::zip(BinaryOp::mul, x.cpu, Scalar(0.5)), 0, what);
      expect_close(raw::map_grad(UnaryOp::relu, x.gpu, {}, y.gpu),
                   raw::map_grad(UnaryOp::relu, x.cpu, {}, y.cpu), 0, what);
    }
}

TEST_F(CudaConverting, EndsOfRowsAndUnalignedViews) {
  for (const int64_t n : {1, 3, 4, 5, 7, 8, 1023, 1024, 1027, 4099})
    for (const int64_t offset : {0, 1, 2}) {
      const Pair x = random_pair(kHalf, contiguous_layout("", {n}, offset));
      const Pair y = random_pair(kHalf, contiguous_layout("", {2, n}));
      expect_close(raw::zip(BinaryOp::mul, x.gpu, y.gpu), raw::zip(BinaryOp::mul, x.cpu, y.cpu), 0,
                   std::to_string(n));
    }
}

}  // namespace
}  // namespace gradus
