// Rows whose elements lie side by side: what reductions and softmax are given where the bits of a
// row may not depend on its batch. Then neither strides nor alignment tell one batch from another.
#pragma once

#include "gradus/tensor/base/batch_invariant.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::raw {

// Uninitialised, of x's dtype and device. The last `dims` dimensions are a row, whose elements are
// contiguous. Rows begin at multiples of 16 bytes, so that a device reads each in the same vectors.
Tensor empty_rows_of(const Tensor& x, int64_t dims);
// x where it lies so, else a copy that does.
Tensor side_by_side(const Tensor& x, int64_t dims);

// f(x, out) for a reduction of x into out, which has size 1 where x is reduced. Where bits may not
// depend on the batch, f gets the dimensions that are reduced as rows.
template <class F>
void reduce_alike(const Tensor& x, const Tensor& out, const F& f) {
  if (!detail::batch_invariant()) return f(x, out);
  Dims order, reduced;
  for (int64_t d = 0; d < x.dim(); ++d) (x.size(d) == out.size(d) ? order : reduced).push_back(d);
  const int64_t count = static_cast<int64_t>(reduced.size());
  for (const int64_t d : reduced) order.push_back(d);
  f(side_by_side(raw::permute(x, order), count), raw::permute(out, order));
}

}  // namespace gradus::raw
