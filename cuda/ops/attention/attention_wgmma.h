// Attention by wgmma, of half types and of float32. The functions return false and do nothing where
// other kernels take it: on other devices than Hopper, with dropout, for masks of floats and those
// that differ between queries. The same holds for widths above 128 (64 of floats) and for rows that
// are not aligned to 16 bytes.
#pragma once

#include "gradus/tensor/backend.h"

namespace gradus::cuda {

// REQUIRES: q is of a half type or of Float.
bool wgmma_attention(const Attention& how, const Tensor& q, const Tensor& k, const Tensor& v,
                     const Tensor& mask, const Tensor& out, const Tensor& log_sums);
bool wgmma_attention_grad(const Attention& how, const Tensor& grad, const Tensor& q,
                          const Tensor& k, const Tensor& v, const Tensor& mask, const Tensor& out,
                          const Tensor& log_sums, ArrayRef<Tensor> grads);

}  // namespace gradus::cuda
