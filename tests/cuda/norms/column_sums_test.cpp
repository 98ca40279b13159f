// Sums of the columns of matrices of half types, by themselves and beside what computes the matrix.
#include "gradus/gradus.h"
#include "tests/cuda/compare.h"

namespace gradus {
namespace {

class ColumnSums : public GpuTest {};

constexpr ScalarType kHalves[] = {kHalf, kBFloat16};

Tensor exactly(const Tensor& x) { return x.cpu().to(kDouble); }

// Half of the distance of 1 to the next number.
double half_unit(ScalarType dtype) { return dtype == kHalf ? 0x1p-11 : 0x1p-8; }

// Rows that begin at multiples of 16 bytes, and such that do not; blocks of one line and of
// several.
TEST_F(ColumnSums, OfAMatrixBesideAProduct) {
  for (const ScalarType dtype : kHalves)
    for (const int64_t columns : {1, 20, 136, 1001})
      for (const int64_t rows : {1, 63, 300}) {
        for (const int64_t leading : {columns, (columns + 7) / 8 * 8 + 16}) {
          const Tensor memory = randn({rows * leading}).to(dtype).cuda();
          const Tensor turned = memory.as_strided({1, columns, rows}, {rows * leading, 1, leading});
          const Tensor right = randn({1, rows, 1}).to(dtype).cuda();
          const auto run = [&](ScalarType result) {
            const Tensor out = raw::empty({1, columns, 1}, result, kCUDA),
                         sums = raw::empty({columns}, result, kCUDA);
            raw::fill_(sums, std::nan(""));
            cuda_backend().matmul_sums(turned, right, out, sums);
            return sums;
          };
          const Tensor expected = exactly(turned).sum(2).view({columns}), sums = run(kFloat);
          const std::string text = std::to_string(rows) + " x " + std::to_string(columns) + " in " +
                                   std::to_string(leading);
          expect_close(sums, expected, 2e-5 * std::sqrt(static_cast<double>(rows)), text);
          EXPECT_TRUE(run(kFloat).equal(sums)) << text;  // the same bits in each run
          expect_close(run(dtype), sums, 2 * half_unit(dtype), text);
        }
      }
}

TEST_F(ColumnSums, BesideTheDerivativesOfActivations) {
  for (const ScalarType dtype : kHalves)
    for (const UnaryOp op : {UnaryOp::relu, UnaryOp::gelu, UnaryOp::silu, UnaryOp::tanh})
      for (const Dims& sizes :
           {Dims{1, 8}, Dims{37, 136}, Dims{5, 30, 264}, Dims{50, 20}, Dims{3, 7}}) {
        const Tensor x = (randn(sizes) * 2).to(dtype), grad = randn(sizes).to(dtype),
                     wide = exactly(x).requires_grad_();
        const auto apply = [&](const Tensor& t) {
          return op == UnaryOp::relu   ? relu(t)
                 : op == UnaryOp::gelu ? gelu(t)
                 : op == UnaryOp::silu ? silu(t)
                                       : tanh(t);
        };
        apply(wide).backward(exactly(grad));
        const Tensor expected = wide.grad(), there = x.cuda(), result = apply(there);
        const auto run = [&](const Tensor& sums) {
          const bool by_result = op == UnaryOp::relu || op == UnaryOp::tanh;
          return raw::map_grad(op, grad.cuda(), by_result ? Tensor() : there,
                               by_result ? result : Tensor(), sums);
        };
        const int64_t columns = sizes.back(), rows = numel_of(sizes) / columns;
        const Tensor sums = raw::empty({columns}, kFloat, kCUDA), again = raw::empty_like(sums);
        const Tensor got = run(sums);
        const std::string text =
            std::string(name_of(op)) + " " + std::to_string(rows) + " x " + std::to_string(columns);
        // The results of tanh are rounded, which its derivative reads.
        const double unit = half_unit(dtype) * (op == UnaryOp::tanh ? 16 : 4);
        expect_close(got, expected, unit, text);
        expect_close(sums, expected.view({rows, columns}).sum(0),
                     unit * std::sqrt(static_cast<double>(rows)), text + ", sums");
        EXPECT_TRUE(run(again).equal(got) && again.equal(sums)) << text;
        expect_close(run({}), got, unit, text + ", alone");
      }
}

}  // namespace
}  // namespace gradus
