// Attention by wgmma, of half types and of float32. False, with nothing done, where it takes other
// kernels: on other devices than Hopper's, with dropout or a mask that is not the same for all
// queries (any mask of floats), of widths above 128 (64 of floats), or of rows that are not aligned
// to 16 bytes.
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
