// Attention by tensor cores, and of one query. False, with nothing done, where it takes other
// kernels: for widths above 128, or on a device that has too little shared memory or no tensor
// cores for the type.
#pragma once

#include "gradus/tensor/backend.h"

namespace gradus::cuda {

// REQUIRES: q is of a half type.
bool half_attention(const Attention& how, const Tensor& q, const Tensor& k, const Tensor& v,
                    const Tensor& mask, const Tensor& out, const Tensor& log_sums);
bool half_attention_grad(const Attention& how, const Tensor& grad, const Tensor& q, const Tensor& k,
                         const Tensor& v, const Tensor& mask, const Tensor& out,
                         const Tensor& log_sums, ArrayRef<Tensor> grads);

// Attention of one query for each head, of a half type or Float. False, too, with dropout and for
// rows that are not aligned to 16 bytes.
bool one_query_attention(const Attention& how, const Tensor& q, const Tensor& k, const Tensor& v,
                         const Tensor& mask, const Tensor& out, const Tensor& log_sums);

// Attention by a kernel for one query, or for Hopper. False, too, where a row of many queries must
// have the bits that it has alone: these kernels add in orders of their own.
bool by_special_kernels(const Attention& how, const Tensor& q, const Tensor& k, const Tensor& v,
                        const Tensor& mask, const Tensor& out, const Tensor& log_sums);

// REQUIRES: q is of Float.
bool float_attention(const Attention& how, const Tensor& q, const Tensor& k, const Tensor& v,
                     const Tensor& mask, const Tensor& out, const Tensor& log_sums);
bool float_attention_grad(const Attention& how, const Tensor& grad, const Tensor& q,
                          const Tensor& k, const Tensor& v, const Tensor& mask, const Tensor& out,
                          const Tensor& log_sums, ArrayRef<Tensor> grads);

}  // namespace gradus::cuda
