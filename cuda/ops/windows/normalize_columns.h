// The functions of Backend for normalisations of columns (NormalizedRows::columns).
#pragma once

#include <type_traits>

#include "gradus/tensor/base/normalized_rows.h"
#include "gradus/tensor/tensor.h"

namespace gradus::cuda {

// x, grad and out are of any floating type; all others of the one that it is computed in. relu: out
// is at least 0, and grad that of such a result.
void normalize_by_columns(const NormalizedRows& rows, bool relu, const Tensor& x,
                          const Tensor& weight, const Tensor& bias, const Tensor& mean,
                          const Tensor& rstd, const Tensor& out);
void moments_of_columns(const NormalizedRows& rows, const Tensor& x, const Tensor& mean,
                        const Tensor& variance);
void statistics_of_columns(const NormalizedRows& rows, double eps, double momentum, const Tensor& x,
                           const Tensor& running_mean, const Tensor& running_var,
                           const Tensor& count, const Tensor& mean, const Tensor& rstd);
void sums_of_columns(const NormalizedRows& rows, bool relu, const Tensor& grad, const Tensor& x,
                     const Tensor& weight, const Tensor& bias, const Tensor& mean,
                     const Tensor& rstd, const Tensor& of_weight, const Tensor& of_bias);
void grad_by_columns(const NormalizedRows& rows, bool relu, const Tensor& grad, const Tensor& x,
                     const Tensor& weight, const Tensor& bias, const Tensor& mean,
                     const Tensor& rstd, const Tensor& of_weight, const Tensor& of_bias,
                     const Tensor& out);

// f(a constant) for what `relu` is.
template <class F>
void with_relu(bool relu, const F& f) {
  relu ? f(std::true_type()) : f(std::false_type());
}

}  // namespace gradus::cuda
