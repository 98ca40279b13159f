// Normalisations by rows: layouts and results of what backends compute.
#include "gradus/tensor/raw/raw.h"

namespace gradus::raw {

namespace {

Tensor row_major(const Tensor& x) { return x.defined() ? raw::contiguous(x) : x; }

}  // namespace

Tensor normalize(const NormalizedRows& rows, double eps, const Tensor& x, const Tensor& weight,
                 const Tensor& bias, Tensor& mean, Tensor& rstd) {
  const Tensor out = empty_like(x);
  if (!rows.shared) {
    mean = empty({rows.statistics()}, x.dtype(), x.device());
    rstd = empty_like(mean);
  }
  backend(x).normalize(rows, eps, raw::contiguous(x), row_major(weight), row_major(bias),
                       raw::contiguous(mean), raw::contiguous(rstd), out);
  return out;
}

MeanAndVariance moments(const NormalizedRows& rows, const Tensor& x) {
  const Tensor mean = empty({rows.statistics()}, computed_type(x.dtype()), x.device()),
               variance = empty_like(mean);
  backend(x).moments(rows, raw::contiguous(x), mean, variance);
  return {mean, variance};
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
                               const Tensor& mean, const Tensor& rstd, const Tensor& weight) {
  const Tensor out = empty_like(x), sums = empty({2, rows.groups * rows.weights()},
                                                 computed_type(x.dtype()), x.device());
  backend(x).normalize_grads(rows, raw::contiguous(grad), raw::contiguous(x), raw::contiguous(mean),
                             raw::contiguous(rstd), row_major(weight), sums, out);
  return {out, sums};
}

}  // namespace gradus::raw
