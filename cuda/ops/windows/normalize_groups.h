// Group norm with channels last: what starts its kernels.
#pragma once

#include "gradus/tensor/base/normalized_rows.h"
#include "gradus/tensor/tensor.h"

namespace gradus::cuda {

// x and of_x are of one floating type, out and grad of this or of Float, all others of the type
// that is computed in. REQUIRES: rows.in_groups().
void statistics_of_groups(const NormalizedRows& rows, double eps, const Tensor& x,
                          const Tensor& mean, const Tensor& rstd);
void normalize_by_groups(const NormalizedRows& rows, const AfterNorm& after, const Tensor& x,
                         const Tensor& weight, const Tensor& bias, const Tensor& mean,
                         const Tensor& rstd, const Tensor& out);
// of_x may be undefined.
void grads_by_groups(const NormalizedRows& rows, const AfterNorm& after, const Tensor& grad,
                     const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& mean,
                     const Tensor& rstd, const Tensor& of_weight, const Tensor& of_bias,
                     const Tensor& of_x);

}  // namespace gradus::cuda
