// The functions of Backend for normalisations of columns (NormalizedRows::columns).
#pragma once

#include "gradus/tensor/base/normalized_rows.h"
#include "gradus/tensor/tensor.h"

namespace gradus::cuda {

// x, grad and out are of any floating type; all others of the one that it is computed in.
void normalize_by_columns(const NormalizedRows& rows, const Tensor& x, const Tensor& weight,
                          const Tensor& bias, const Tensor& mean, const Tensor& rstd,
                          const Tensor& out);
void moments_of_columns(const NormalizedRows& rows, const Tensor& x, const Tensor& mean,
                        const Tensor& variance);
void sums_of_columns(const NormalizedRows& rows, const Tensor& grad, const Tensor& x,
                     const Tensor& mean, const Tensor& rstd, const Tensor& sums);
void grad_by_columns(const NormalizedRows& rows, const Tensor& grad, const Tensor& x,
                     const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                     const Tensor& sums, const Tensor& out);

}  // namespace gradus::cuda
