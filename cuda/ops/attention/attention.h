// Attention by tensor cores. False, with nothing done, where it takes other kernels: for widths
// above 128, or on a device that has too little shared memory or no tensor cores for the type.
#pragma once

#include "gradus/tensor/backend.h"

namespace gradus::cuda {

// REQUIRES: q is of a half type.
bool half_attention(const Attention& how, const Tensor& q, const Tensor& k, const Tensor& v,
                    const Tensor& mask, const Tensor& out, const Tensor& log_sums);
bool half_attention_grad(const Attention& how, const Tensor& grad, const Tensor& q, const Tensor& k,
                         const Tensor& v, const Tensor& mask, const Tensor& out,
                         const Tensor& log_sums, ArrayRef<Tensor> grads);

// REQUIRES: q is of Float.
bool float_attention(const Attention& how, const Tensor& q, const Tensor& k, const Tensor& v,
                     const Tensor& mask, const Tensor& out, const Tensor& log_sums);
bool float_attention_grad(const Attention& how, const Tensor& grad, const Tensor& q,
                          const Tensor& k, const Tensor& v, const Tensor& mask, const Tensor& out,
                          const Tensor& log_sums, ArrayRef<Tensor> grads);

}  // namespace gradus::cuda
