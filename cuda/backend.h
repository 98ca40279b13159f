// The Backend on CUDA devices. A function stands in the file of its name in ops/, but for where,
// gather and add_offsets (index.cu), arange and linspace (fill.cu), count_nonzero, run_starts,
// distinct, masked_select and masked_scatter (nonzero.cu), variance, norm and aminmax (reduce.cu),
// median and mode (select.cu) and the forms with arg_ or _grad of others.
#pragma once

#include "gradus/tensor/backend.h"

namespace gradus::cuda {

class CudaBackend final : public Backend {
 public:
  StoragePtr allocate(size_t nbytes, Device device) override;
  Device resolve(Device device) override;

  void fill(const Tensor& out, const Scalar& value) override;
  void arange(const Tensor& out, const Scalar& start, const Scalar& step) override;
  void linspace(double first, double last, std::optional<double> base, const Tensor& out) override;
  void copy(const Tensor& src, const Tensor& dst) override;
  void cat(ArrayRef<Tensor> parts, int64_t dim, const Tensor& out) override;
  void transfer(const Tensor& src, const Tensor& dst, bool non_blocking) override;
  void random(Distribution kind, const Scalar& a, const Scalar& b, PhiloxState state,
              const Tensor& out) override;
  void random_map(RandomMap op, double number, PhiloxState state, const Tensor& x,
                  const Tensor& out) override;
  void count(CountOp op, PhiloxState state, const Tensor& x, const Tensor& y,
             const Tensor& out) override;

  void map(UnaryOp op, const Tensor& x, const Tensor& out) override;
  void map_grad(UnaryOp op, const Tensor& grad, const Tensor& x, const Tensor& y,
                const Tensor& out) override;
  void zip(BinaryOp op, const Operand& x, const Operand& y, const Tensor& out) override;
  void zip3(TernaryOp op, const Tensor& x, const Operand& y, const Operand& z, const Scalar& w,
            const Tensor& out) override;
  void reduce(ReduceOp op, const Tensor& x, const Tensor& out) override;
  void mean_square(const Tensor& x, const Tensor& y, const Tensor& out) override;
  void mean_square_grad(const Tensor& grad, const Tensor& x, const Tensor& y,
                        const Tensor& out) override;
  void variance(bool root, double divisor, const Tensor& x, const Tensor& out) override;
  void norm(double p, const Tensor& x, const Tensor& out) override;
  void aminmax(const Tensor& x, const Tensor& out) override;
  void histc(bool all, double low, double high, const Tensor& x, const Tensor& out) override;
  void arg_reduce(bool largest, const Tensor& x, int64_t dim, const Tensor& values,
                  const Tensor& indices) override;
  void softmax(bool log, const Tensor& x, int64_t dim, const Tensor& out) override;
  void softmax_grad(bool log, const Tensor& grad, const Tensor& y, int64_t dim,
                    const Tensor& out) override;
  void cross_entropy(const CrossEntropyRule& rule, const Tensor& x, const Tensor& target,
                     const Tensor& weight, const Tensor& table, const Tensor& mean) override;
  void cross_entropy_grad(const CrossEntropyRule& rule, const Tensor& grad, const Tensor& x,
                          const Tensor& target, const Tensor& rows, const Tensor& out) override;
  void normalize(const NormalizedRows& rows, double eps, const Tensor& x, const Tensor& weight,
                 const Tensor& bias, const Tensor& mean, const Tensor& rstd,
                 const Tensor& out) override;
  void moments(const NormalizedRows& rows, const Tensor& x, const Tensor& mean,
               const Tensor& variance) override;
  void normalize_sums(const NormalizedRows& rows, const Tensor& grad, const Tensor& x,
                      const Tensor& mean, const Tensor& rstd, const Tensor& sums) override;
  void normalize_grad(const NormalizedRows& rows, const Tensor& grad, const Tensor& x,
                      const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                      const Tensor& sums, const Tensor& out) override;
  void normalize_grads(const NormalizedRows& rows, const Tensor& grad, const Tensor& x,
                       const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                       const Tensor& sums, const Tensor& out) override;
  void scan(ScanOp op, const Tensor& x, int64_t dim, const Tensor& out) override;
  void arg_scan(bool largest, const Tensor& x, int64_t dim, const Tensor& values,
                const Tensor& indices) override;
  void sort(const Tensor& x, int64_t dim, bool descending, const Tensor& values,
            const Tensor& indices) override;
  void select(const Tensor& x, int64_t dim, bool descending, int64_t first, const Tensor& values,
              const Tensor& indices) override;
  void median(bool ignores_nan, const Tensor& x, int64_t dim, const Tensor& values,
              const Tensor& indices) override;
  void mode(const Tensor& x, int64_t dim, const Tensor& values, const Tensor& indices) override;
  void bisect(bool right, const Tensor& list, const Tensor& values, const Tensor& out) override;
  void count_nonzero(const Tensor& x, const Tensor& out) override;
  Tensor nonzero(const Tensor& x, IntArrayRef shape) override;
  Tensor run_starts(const Tensor& x) override;
  Tensor distinct(const Tensor& x) override;
  Tensor masked_select(const Tensor& x, const Tensor& mask) override;
  void masked_scatter(const Tensor& mask, const Tensor& source, const Tensor& out) override;
  void matmul(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out) override;
  void matmul_sums(const Tensor& a, const Tensor& b, const Tensor& out,
                   const Tensor& sums) override;
  void convolution(ConvolutionPart part, const Convolution& shape, const Tensor& a, const Tensor& b,
                   const Tensor& bias, const Tensor& out) override;
  void convolution_sums(const Convolution& shape, const Tensor& grad, const Tensor& input,
                        const Tensor& out, const Tensor& sums) override;
  void max_pool(const Pool& pool, const Tensor& x, const Tensor& values,
                const Tensor& indices) override;
  void max_pool_grad(const Pool& pool, const Tensor& grad, const Tensor& indices,
                     const Tensor& out) override;
  void average_pool(const Pool& pool, const Tensor& x, const Tensor& out) override;
  void average_pool_grad(const Pool& pool, const Tensor& grad, const Tensor& out) override;
  void lstm_cell(const Tensor& x, const Tensor& s, const Tensor& c_prev, const Tensor& gates,
                 const Tensor& c, const Tensor& h) override;
  void lstm_cell_grad(const Tensor& grad_h, const Tensor& c_prev, const Tensor& gates,
                      const Tensor& c, const Tensor& grad_c, const Tensor& grad_x) override;
  void gru_cell(const Tensor& x, const Tensor& s, const Tensor& h_prev, const Tensor& gates,
                const Tensor& h) override;
  void gru_cell_grad(const Tensor& h_prev, const Tensor& s, const Tensor& gates,
                     const Tensor& grad_h, const Tensor& grad_x, const Tensor& grad_s) override;
  void attention(const Attention& how, const Tensor& q, const Tensor& k, const Tensor& v,
                 const Tensor& mask, const Tensor& out, const Tensor& log_sums) override;
  void attention_grad(const Attention& how, const Tensor& grad, const Tensor& q, const Tensor& k,
                      const Tensor& v, const Tensor& mask, const Tensor& out,
                      const Tensor& log_sums, const Tensor& grad_q, const Tensor& grad_k,
                      const Tensor& grad_v) override;
  void gather(const IndexRule& rule, const Tensor& x, int64_t dim, const Tensor& index,
              const Tensor& out) override;
  void scatter(ScatterOp op, const IndexRule& rule, int64_t dim, const Tensor& index,
               const Operand& src, const Tensor& out) override;
  void add_offsets(const IndexRule& rule, int64_t stride, const Tensor& index,
                   const Tensor& out) override;
  void where(const Tensor& condition, const Operand& x, const Operand& y,
             const Tensor& out) override;

  void triangle(bool upper, int64_t diagonal, const Tensor& x, const Tensor& out) override;

  void update(UpdateOp op, int states, ArrayRef<UpdatedParameter> parameters) override;
  void fused(const fused::Kernel& kernel, ArrayRef<Tensor> inputs,
             ArrayRef<Tensor> outputs) override;
};

}  // namespace gradus::cuda
