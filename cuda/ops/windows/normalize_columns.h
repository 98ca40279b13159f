// The functions of Backend for normalisations of columns (NormalizedRows::columns).
#pragma once

#include <type_traits>

#include "gradus/tensor/base/normalized_rows.h"
#include "gradus/tensor/tensor.h"

namespace gradus::cuda {

// x, identity, y, grad, passed and out are of any floating type; all others of the one that it is
// computed in. after, relu: what made y, the gradient of which is grad. For add_relu, out is the
// sum with identity, at least 0, and passed becomes the gradient of this sum.
void normalize_by_columns(const NormalizedRows& rows, AfterNorm after, const Tensor& x,
                          const Tensor& identity, const Tensor& weight, const Tensor& bias,
                          const Tensor& mean, const Tensor& rstd, const Tensor& out);
void moments_of_columns(const NormalizedRows& rows, const Tensor& x, const Tensor& mean,
                        const Tensor& variance);
void statistics_of_columns(const NormalizedRows& rows, double eps, double momentum, const Tensor& x,
                           const Tensor& running_mean, const Tensor& running_var,
                           const Tensor& count, const Tensor& mean, const Tensor& rstd);
void sums_of_columns(const NormalizedRows& rows, AfterNorm after, const Tensor& grad,
                     const Tensor& x, const Tensor& y, const Tensor& weight, const Tensor& bias,
                     const Tensor& mean, const Tensor& rstd, const Tensor& of_weight,
                     const Tensor& of_bias, const Tensor& passed);
void grad_by_columns(const NormalizedRows& rows, bool relu, const Tensor& grad, const Tensor& x,
                     const Tensor& weight, const Tensor& bias, const Tensor& mean,
                     const Tensor& rstd, const Tensor& of_weight, const Tensor& of_bias,
                     const Tensor& out);

// f(a constant) for what `relu` is.
template <class F>
void with_relu(bool relu, const F& f) {
  relu ? f(std::true_type()) : f(std::false_type());
}
// f(a constant) for what follows.
template <class F>
void with_after(AfterNorm after, const F& f) {
  using enum AfterNorm;
  if (after == add_relu)
    f(std::integral_constant<AfterNorm, add_relu>());
  else if (after == relu)
    f(std::integral_constant<AfterNorm, relu>());
  else
    f(std::integral_constant<AfterNorm, nothing>());
}

}  // namespace gradus::cuda
