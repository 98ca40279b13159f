// The common part of reductions and selections: kept dimensions, checks, and the gradient of a
// selection.
#pragma once

#include "gradus/autograd/engine/record.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

// mask[d]: whether dimension d is reduced.
using DimMask = std::array<bool, kMaxDims>;

inline DimMask mask_of(const char* op, int64_t dim, const Tensor& x) {
  DimMask mask{};
  mask[static_cast<size_t>(wrap_dim(op, dim, x))] = true;
  return mask;
}

// The elements as truths: true where not 0.
inline Tensor truth(const Tensor& self) { return self.dtype() == kBool ? self : self != 0; }

using raw::kept_sizes;

inline Dims reduced_dims(const DimMask& mask, int64_t rank) {
  Dims dims;
  for (int64_t d = 0; d < rank; ++d)
    if (mask[static_cast<size_t>(d)]) dims.push_back(d);
  return dims;
}

// How many elements are reduced to one.
inline int64_t reduced_count(const Tensor& x, const DimMask& mask) {
  int64_t count = 1;
  for (size_t d = 0; d < x.sizes().size(); ++d)
    if (mask[d]) count *= x.sizes()[d];
  return count;
}

// `kept` without the reduced dimensions, which have size 1 there; with keepdim they stay. Has no
// graph.
inline Tensor drop(const Tensor& kept, const DimMask& mask, bool keepdim = false) {
  if (keepdim) return kept;
  Dims sizes, strides;
  for (size_t d = 0; d < kept.sizes().size(); ++d)
    if (!mask[d]) sizes.push_back(kept.sizes()[d]), strides.push_back(kept.strides()[d]);
  return raw::alias(kept, sizes, strides);
}

// x in the dtype that an operation on it is computed in, without a graph.
inline Tensor widened(const Tensor& x) { return raw::to(x, computed_type(x.dtype())); }

// `values` are self.gather(dim, indices), but for dimensions of size 1.
inline void record_selection(const char* node, const Tensor& values, const Tensor& self,
                             int64_t dim, const Tensor& indices) {
  if (!recording(self) || !values.is_floating_point()) return;
  record(
      node, values, {self}, {indices},
      [dim, full = self.impl().sizes](Node& n, const Tensor& grad) -> Tensors {
        const Tensor index = n.saved(0);
        return {zeros(full, grad.options()).scatter_add(dim, index, grad.reshape(index.sizes()))};
      });
}

// Gives every element of x that equals `value` the same share of grad; `value` and grad have size 1
// in the reduced dimensions. Where `value` is NaN every NaN has a share if `nan_equals_nan`;
// otherwise all gradients are NaN.
inline Tensor shared_evenly(const Tensor& grad, const Tensor& x, const Tensor& value,
                            const DimMask& mask, bool nan_equals_nan) {
  const Tensor same = x == value;
  const Tensor chosen = nan_equals_nan ? where(value == value, same, x != x) : same;
  const Tensor wide = grad.to(computed_type(grad.dtype()));  // half types do not count that far
  const Tensor share = x.dim() ? wide / chosen.sum(reduced_dims(mask, x.dim()), true) : wide;
  return (nan_equals_nan ? where(chosen, share, 0) : share * chosen).to(grad.dtype());
}

}  // namespace gradus
