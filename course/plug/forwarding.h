// ForwardingBackend hands every function of Backend on to another backend. A class that derives
// from it replaces some of them.
#pragma once

#include "gradus/tensor/backend.h"

namespace course::plug {

using gradus::ArrayRef, gradus::IntArrayRef, gradus::Operand, gradus::Scalar, gradus::Tensor;

class ForwardingBackend : public gradus::Backend {
 public:
  explicit ForwardingBackend(Backend& inner) : inner_(inner) {}

  gradus::StoragePtr allocate(size_t nbytes, gradus::Device device) override {
    return inner_.allocate(nbytes, device);
  }
  gradus::Device resolve(gradus::Device device) override { return inner_.resolve(device); }
  void fill(const Tensor& out, const Scalar& value) override {
    handed_on("fill");
    inner_.fill(out, value);
  }
  void arange(const Tensor& out, const Scalar& start, const Scalar& step) override {
    handed_on("arange");
    inner_.arange(out, start, step);
  }
  void linspace(double first, double last, std::optional<double> base, const Tensor& out) override {
    handed_on("linspace");
    inner_.linspace(first, last, base, out);
  }
  void copy(const Tensor& src, const Tensor& dst) override {
    handed_on("copy");
    inner_.copy(src, dst);
  }
  void cat(ArrayRef<Tensor> parts, int64_t dim, const Tensor& out) override {
    handed_on("cat");
    inner_.cat(parts, dim, out);
  }
  void triangle(bool upper, int64_t diagonal, const Tensor& x, const Tensor& out) override {
    handed_on("triangle");
    inner_.triangle(upper, diagonal, x, out);
  }
  void transfer(const Tensor& src, const Tensor& dst, bool non_blocking) override {
    inner_.transfer(src, dst, non_blocking);
  }
  void random(gradus::Distribution kind, const Scalar& a, const Scalar& b,
              gradus::PhiloxState state, const Tensor& out) override {
    handed_on("random");
    inner_.random(kind, a, b, state, out);
  }
  void random_map(gradus::RandomMap op, double number, gradus::PhiloxState state, const Tensor& x,
                  const Tensor& out) override {
    handed_on("random_map");
    inner_.random_map(op, number, state, x, out);
  }
  void count(gradus::CountOp op, gradus::PhiloxState state, const Tensor& x, const Tensor& y,
             const Tensor& out) override {
    handed_on("count");
    inner_.count(op, state, x, y, out);
  }
  void map(gradus::UnaryOp op, const Tensor& x, const Tensor& out) override {
    handed_on("map");
    inner_.map(op, x, out);
  }
  void map_grad(gradus::UnaryOp op, const Tensor& grad, const Tensor& x, const Tensor& y,
                const Tensor& out) override {
    handed_on("map_grad");
    inner_.map_grad(op, grad, x, y, out);
  }
  void zip(gradus::BinaryOp op, const Operand& x, const Operand& y, const Tensor& out) override {
    handed_on("zip");
    inner_.zip(op, x, y, out);
  }
  void zip3(gradus::TernaryOp op, const Tensor& x, const Operand& y, const Operand& z,
            const Scalar& w, const Tensor& out) override {
    handed_on("zip3");
    inner_.zip3(op, x, y, z, w, out);
  }
  void where(const Tensor& condition, const Operand& x, const Operand& y,
             const Tensor& out) override {
    handed_on("where");
    inner_.where(condition, x, y, out);
  }
  void reduce(gradus::ReduceOp op, const Tensor& x, const Tensor& out) override {
    handed_on("reduce");
    inner_.reduce(op, x, out);
  }
  void variance(bool root, double divisor, const Tensor& x, const Tensor& out) override {
    handed_on("variance");
    inner_.variance(root, divisor, x, out);
  }
  void arg_reduce(bool largest, const Tensor& x, int64_t dim, const Tensor& values,
                  const Tensor& indices) override {
    handed_on("arg_reduce");
    inner_.arg_reduce(largest, x, dim, values, indices);
  }
  void count_nonzero(const Tensor& x, const Tensor& out) override {
    handed_on("count_nonzero");
    inner_.count_nonzero(x, out);
  }
  void softmax(bool log, const Tensor& x, int64_t dim, const Tensor& out) override {
    handed_on("softmax");
    inner_.softmax(log, x, dim, out);
  }
  void softmax_grad(bool log, const Tensor& grad, const Tensor& y, int64_t dim,
                    const Tensor& out) override {
    handed_on("softmax_grad");
    inner_.softmax_grad(log, grad, y, dim, out);
  }
  void cross_entropy(const gradus::CrossEntropyRule& rule, const Tensor& x, const Tensor& target,
                     const Tensor& weight, const Tensor& table, const Tensor& mean) override {
    handed_on("cross_entropy");
    inner_.cross_entropy(rule, x, target, weight, table, mean);
  }
  void cross_entropy_grad(const gradus::CrossEntropyRule& rule, const Tensor& grad, const Tensor& x,
                          const Tensor& target, const Tensor& rows, const Tensor& out) override {
    handed_on("cross_entropy_grad");
    inner_.cross_entropy_grad(rule, grad, x, target, rows, out);
  }
  void normalize(const gradus::NormalizedRows& rows, double eps, const Tensor& x,
                 const Tensor& weight, const Tensor& bias, const Tensor& mean, const Tensor& rstd,
                 const Tensor& out) override {
    handed_on("normalize");
    inner_.normalize(rows, eps, x, weight, bias, mean, rstd, out);
  }
  void moments(const gradus::NormalizedRows& rows, const Tensor& x, const Tensor& mean,
               const Tensor& variance) override {
    handed_on("moments");
    inner_.moments(rows, x, mean, variance);
  }
  void normalize_sums(const gradus::NormalizedRows& rows, const Tensor& grad, const Tensor& x,
                      const Tensor& mean, const Tensor& rstd, const Tensor& sums) override {
    handed_on("normalize_sums");
    inner_.normalize_sums(rows, grad, x, mean, rstd, sums);
  }
  void normalize_grad(const gradus::NormalizedRows& rows, const Tensor& grad, const Tensor& x,
                      const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                      const Tensor& sums, const Tensor& out) override {
    handed_on("normalize_grad");
    inner_.normalize_grad(rows, grad, x, mean, rstd, weight, sums, out);
  }
  void scan(gradus::ScanOp op, const Tensor& x, int64_t dim, const Tensor& out) override {
    handed_on("scan");
    inner_.scan(op, x, dim, out);
  }
  void arg_scan(bool largest, const Tensor& x, int64_t dim, const Tensor& values,
                const Tensor& indices) override {
    handed_on("arg_scan");
    inner_.arg_scan(largest, x, dim, values, indices);
  }
  void sort(const Tensor& x, int64_t dim, bool descending, const Tensor& values,
            const Tensor& indices) override {
    handed_on("sort");
    inner_.sort(x, dim, descending, values, indices);
  }
  void select(const Tensor& x, int64_t dim, bool descending, int64_t first, const Tensor& values,
              const Tensor& indices) override {
    handed_on("select");
    inner_.select(x, dim, descending, first, values, indices);
  }
  void median(bool ignores_nan, const Tensor& x, int64_t dim, const Tensor& values,
              const Tensor& indices) override {
    handed_on("median");
    inner_.median(ignores_nan, x, dim, values, indices);
  }
  void mode(const Tensor& x, int64_t dim, const Tensor& values, const Tensor& indices) override {
    handed_on("mode");
    inner_.mode(x, dim, values, indices);
  }
  void norm(double p, const Tensor& x, const Tensor& out) override {
    handed_on("norm");
    inner_.norm(p, x, out);
  }
  void aminmax(const Tensor& x, const Tensor& out) override {
    handed_on("aminmax");
    inner_.aminmax(x, out);
  }
  void histc(bool all, double low, double high, const Tensor& x, const Tensor& out) override {
    handed_on("histc");
    inner_.histc(all, low, high, x, out);
  }
  void bisect(bool right, const Tensor& list, const Tensor& values, const Tensor& out) override {
    handed_on("bisect");
    inner_.bisect(right, list, values, out);
  }
  void matmul(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out) override {
    handed_on("matmul");
    inner_.matmul(a, b, bias, out);
  }
  void convolution(gradus::ConvolutionPart part, const gradus::Convolution& shape, const Tensor& a,
                   const Tensor& b, const Tensor& bias, const Tensor& out) override {
    handed_on("convolution");
    inner_.convolution(part, shape, a, b, bias, out);
  }
  void max_pool(const gradus::Pool& pool, const Tensor& x, const Tensor& values,
                const Tensor& indices) override {
    handed_on("max_pool");
    inner_.max_pool(pool, x, values, indices);
  }
  void max_pool_grad(const gradus::Pool& pool, const Tensor& grad, const Tensor& indices,
                     const Tensor& out) override {
    handed_on("max_pool_grad");
    inner_.max_pool_grad(pool, grad, indices, out);
  }
  void average_pool(const gradus::Pool& pool, const Tensor& x, const Tensor& out) override {
    handed_on("average_pool");
    inner_.average_pool(pool, x, out);
  }
  void average_pool_grad(const gradus::Pool& pool, const Tensor& grad, const Tensor& out) override {
    handed_on("average_pool_grad");
    inner_.average_pool_grad(pool, grad, out);
  }
  void lstm_cell(const Tensor& x, const Tensor& s, const Tensor& c_prev, const Tensor& gates,
                 const Tensor& c, const Tensor& h) override {
    handed_on("lstm_cell");
    inner_.lstm_cell(x, s, c_prev, gates, c, h);
  }
  void lstm_cell_grad(const Tensor& grad_h, const Tensor& c_prev, const Tensor& gates,
                      const Tensor& c, const Tensor& grad_c, const Tensor& grad_x) override {
    handed_on("lstm_cell_grad");
    inner_.lstm_cell_grad(grad_h, c_prev, gates, c, grad_c, grad_x);
  }
  void gru_cell(const Tensor& x, const Tensor& s, const Tensor& h_prev, const Tensor& gates,
                const Tensor& h) override {
    handed_on("gru_cell");
    inner_.gru_cell(x, s, h_prev, gates, h);
  }
  void gru_cell_grad(const Tensor& h_prev, const Tensor& s, const Tensor& gates,
                     const Tensor& grad_h, const Tensor& grad_x, const Tensor& grad_s) override {
    handed_on("gru_cell_grad");
    inner_.gru_cell_grad(h_prev, s, gates, grad_h, grad_x, grad_s);
  }
  void attention(const gradus::Attention& how, const Tensor& q, const Tensor& k, const Tensor& v,
                 const Tensor& mask, const Tensor& out, const Tensor& log_sums) override {
    handed_on("attention");
    inner_.attention(how, q, k, v, mask, out, log_sums);
  }
  void attention_grad(const gradus::Attention& how, const Tensor& grad, const Tensor& q,
                      const Tensor& k, const Tensor& v, const Tensor& mask, const Tensor& out,
                      const Tensor& log_sums, const Tensor& grad_q, const Tensor& grad_k,
                      const Tensor& grad_v) override {
    handed_on("attention_grad");
    inner_.attention_grad(how, grad, q, k, v, mask, out, log_sums, grad_q, grad_k, grad_v);
  }
  void gather(const gradus::IndexRule& rule, const Tensor& x, int64_t dim, const Tensor& index,
              const Tensor& out) override {
    handed_on("gather");
    inner_.gather(rule, x, dim, index, out);
  }
  void scatter(gradus::ScatterOp op, const gradus::IndexRule& rule, int64_t dim,
               const Tensor& index, const Operand& src, const Tensor& out) override {
    handed_on("scatter");
    inner_.scatter(op, rule, dim, index, src, out);
  }
  void add_offsets(const gradus::IndexRule& rule, int64_t stride, const Tensor& index,
                   const Tensor& out) override {
    handed_on("add_offsets");
    inner_.add_offsets(rule, stride, index, out);
  }
  Tensor nonzero(const Tensor& x, IntArrayRef shape) override {
    handed_on("nonzero");
    return inner_.nonzero(x, shape);
  }
  Tensor run_starts(const Tensor& x) override {
    handed_on("run_starts");
    return inner_.run_starts(x);
  }
  Tensor distinct(const Tensor& x) override {
    handed_on("distinct");
    return inner_.distinct(x);
  }
  Tensor masked_select(const Tensor& x, const Tensor& mask) override {
    handed_on("masked_select");
    return inner_.masked_select(x, mask);
  }
  void masked_scatter(const Tensor& mask, const Tensor& source, const Tensor& out) override {
    handed_on("masked_scatter");
    inner_.masked_scatter(mask, source, out);
  }
  void update(gradus::UpdateOp op, int states,
              ArrayRef<gradus::UpdatedParameter> parameters) override {
    handed_on("update");
    inner_.update(op, states, parameters);
  }

 protected:
  // Is told of each computation that is handed on.
  virtual void handed_on(const char* /*function*/) {}

  Backend& inner_;
};

}  // namespace course::plug
