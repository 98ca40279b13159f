// Normalisations by rows: layouts and results of what backends compute.
#include "gradus/tensor/raw/raw.h"

namespace gradus::raw {

namespace {

Tensor row_major(const Tensor& x) { return x.defined() ? raw::contiguous(x) : x; }

// The format of tensors whose channels are the columns of a matrix.
MemoryFormat format_of(const NormalizedRows& rows, const Tensor& x) {
  return !rows.columns || x.dim() < 4 ? MemoryFormat::Contiguous
         : x.dim() == 4               ? MemoryFormat::ChannelsLast
                                      : MemoryFormat::ChannelsLast3d;
}
// The elements in the order of the rows.
Tensor in_rows(const NormalizedRows& rows, const Tensor& x) {
  const MemoryFormat format = x.defined() ? format_of(rows, x) : MemoryFormat::Contiguous;
  if (format == MemoryFormat::Contiguous) return row_major(x);
  return alias(raw::contiguous(x, format), {rows.rows, rows.length}, {rows.length, 1});
}

}  // namespace

Tensor normalize(const NormalizedRows& rows, double eps, const Tensor& x, const Tensor& weight,
                 const Tensor& bias, Tensor& mean, Tensor& rstd, const Tensor& low) {
  const Tensor out = empty_like(x);
  if (!rows.shared) {
    mean = empty({rows.statistics()}, computed_type(x.dtype()), x.device());
    rstd = empty_like(mean);
  }
  const Tensor from = raw::contiguous(x), w = row_major(weight), b = row_major(bias),
               m = raw::contiguous(mean), s = raw::contiguous(rstd);
  if (low.defined())
    backend(x).normalize_twice(rows, eps, from, w, b, m, s, out, low);
  else
    backend(x).normalize(rows, eps, from, w, b, m, s, out);
  return out;
}

Tensor normalize_sums(const NormalizedRows& rows, const Tensor& grad, const Tensor& x,
                      const Tensor& mean, const Tensor& rstd) {
  const Tensor sums =
      empty({2, rows.groups * rows.weights()}, computed_type(x.dtype()), x.device());
  backend(x).normalize_sums(rows, raw::contiguous(grad), raw::contiguous(x), raw::contiguous(mean),
                            raw::contiguous(rstd), sums);
  return sums;
}

Tensor normalize_grad(const NormalizedRows& rows, const Tensor& grad, const Tensor& x,
                      const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                      const Tensor& sums) {
  const Tensor out = empty_like(x);
  backend(x).normalize_grad(rows, raw::contiguous(grad), raw::contiguous(x), raw::contiguous(mean),
                            raw::contiguous(rstd), row_major(weight), row_major(sums), out);
  return out;
}

NormalizeGrads normalize_grads(const NormalizedRows& rows, const Tensor& grad, const Tensor& x,
                               const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                               const Tensor& other, const Tensor& low, const Tensor& low_sums) {
  const auto room = [&] {
    return empty({rows.groups * rows.weights()}, computed_type(x.dtype()), x.device());
  };
  const Tensor out = empty_like(x), of_weight = room(), of_bias = room();
  const bool is_half = grad.dtype() == kHalf || grad.dtype() == kBFloat16;
  const Tensor g = is_half && x.dtype() == kFloat ? grad : to(grad, x.dtype());
  backend(x).normalize_grads(rows, taken(contracts::normalize_grads::grad, g), raw::contiguous(x),
                             raw::contiguous(mean), raw::contiguous(rstd), row_major(weight),
                             row_major(other), of_weight, of_bias, out, low, low_sums);
  return {out, of_weight, of_bias};
}

Statistics batch_statistics(const NormalizedRows& rows, double eps, double momentum,
                            const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                            const Tensor& count) {
  const Tensor mean = empty({rows.statistics()}, computed_type(x.dtype()), x.device()),
               rstd = empty_like(mean);
  backend(x).batch_statistics(rows, eps, momentum, in_rows(rows, x), running_mean, running_var,
                              count, mean, rstd);
  return {.mean = mean, .rstd = rstd};
}

Tensor batch_normalize(const NormalizedRows& rows, AfterNorm after, const Tensor& x,
                       const Tensor& identity, const Tensor& weight, const Tensor& bias,
                       const Statistics& of, std::optional<ScalarType> dtype) {
  const Tensor out =
      empty(x.sizes(), dtype.value_or(x.scalar_type()), x.device(), format_of(rows, x));
  backend(x).batch_normalize(rows, after, of.eps, in_rows(rows, x), in_rows(rows, identity),
                             row_major(weight), row_major(bias), row_major(of.mean),
                             row_major(of.rstd), in_rows(rows, out));
  return out;
}

BatchGrads batch_normalize_grads(const NormalizedRows& rows, AfterNorm after, const Tensor& grad,
                                 const Tensor& x, const Tensor& y, const Tensor& weight,
                                 const Tensor& bias, const Statistics& of, bool wants_x) {
  const auto of_columns = [&] {
    return empty({rows.columns ? rows.length : rows.groups}, of.mean.scalar_type(), x.device());
  };
  const Tensor of_weight = of_columns(), of_bias = of_columns();
  const auto like_x = [&](bool wanted) {
    return wanted ? empty(x.sizes(), x.scalar_type(), x.device(), format_of(rows, x)) : Tensor();
  };
  const Tensor of_x = like_x(wants_x), of_identity = like_x(after.clamps_a_sum());
  backend(x).batch_normalize_grads(rows, after, in_rows(rows, grad), in_rows(rows, x),
                                   in_rows(rows, y), row_major(weight), row_major(bias), of.mean,
                                   of.rstd, of_weight, of_bias, in_rows(rows, of_x),
                                   in_rows(rows, of_identity));
  return {of_x, of_weight, of_bias, of_identity};
}

}  // namespace gradus::raw
