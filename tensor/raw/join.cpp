// cat and flip.
#include <algorithm>

#include "gradus/tensor/base/checked.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

namespace raw {

namespace {

// A tensor of shape (0) joins tensors of any shape, and adds nothing.
bool adds_nothing(const Tensor& x) { return x.dim() == 1 && x.numel() == 0; }

void check_joins(const Tensor& x, size_t position, const Tensor& first, int64_t dim) {
  check_same_device("cat", first, "the first tensor", x, "another");
  check(x.dim() == first.dim(), "cat: Tensors must have same number of dimensions: got ",
        first.dim(), " and ", x.dim(), " for tensor number ", position, ": shapes ", first.sizes(),
        " and ", x.sizes(), "; unsqueeze or flatten one");
  for (int64_t d = 0; d < x.dim(); ++d)
    check(d == dim || x.impl().sizes[d] == first.impl().sizes[d],
          "cat: Sizes of tensors must match except in dimension ", dim, ". Expected size ",
          first.impl().sizes[d], " but got size ", x.impl().sizes[d], " for tensor number ",
          position, " in the list: shapes ", first.sizes(), " and ", x.sizes(),
          "; join along another dimension, or narrow or pad one");
}

// The format that all parts suggest, of which `first` is one; else row-major.
MemoryFormat joined_format(const Tensor& first, ArrayRef<Tensor> tensors) {
  const MemoryFormat format = first.suggest_memory_format();
  if (format == MemoryFormat::Contiguous) return format;
  for (const Tensor& x : tensors)
    if (!adds_nothing(x) && x.suggest_memory_format() != format) return MemoryFormat::Contiguous;
  return format;
}

// x with its channels as the last dimension.
Tensor with_channels_behind(const Tensor& x) {
  Dims order;
  for (int64_t d = 0; d < x.dim(); ++d)
    if (d != 1) order.push_back(d);
  order.push_back(1);
  return raw::permute(x, IntArrayRef(order));
}

}  // namespace

Tensor cat(ArrayRef<Tensor> tensors, int64_t dim) {
  check(!tensors.empty(), "cat: expected a non-empty list of Tensors; give one at least");
  for (const Tensor& x : tensors) x.operand("cat", "one of the tensors");
  const Tensor* first = nullptr;  // of those that add something
  ScalarType dtype = tensors[0].dtype();
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& x = tensors[i];
    check(x.dim() > 0, "cat: zero-dimensional tensor (at position ", i,
          ") cannot be concatenated; unsqueeze(0) it, or use stack()");
    dtype = promoteTypes(dtype, x.dtype());
    if (!first && !adds_nothing(x)) first = &x;
  }
  if (!first) return empty({0}, dtype, tensors[0].device());
  const int64_t d = wrap_dim("cat", dim, first->dim());
  Dims sizes = first->impl().sizes;
  sizes[d] = 0;
  bool all_add = true;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (adds_nothing(tensors[i])) {
      all_add = false;
      continue;
    }
    check_joins(tensors[i], i, *first, d);
    sizes[d] = (Checked(sizes[d]) + tensors[i].impl().sizes[d]).get("cat", "the joined size");
  }
  const MemoryFormat format = joined_format(*first, tensors);
  const bool row_major = format == MemoryFormat::Contiguous;
  const Tensor out = empty(sizes, dtype, first->device(), format);
  if (row_major && all_add) {
    backend(out).cat(tensors, d, out);
    return out;
  }
  Tensors parts;
  for (const Tensor& x : tensors)
    if (!adds_nothing(x)) parts.push_back(row_major ? x : with_channels_behind(x));
  if (row_major)
    backend(out).cat(parts, d, out);
  else  // to a device they are row-major tensors
    backend(out).cat(parts, d == 1 ? out.dim() - 1 : std::max<int64_t>(d - 1, 0),
                     with_channels_behind(out));
  return out;
}

Tensor flip(const Tensor& x, IntArrayRef dims) {
  Dims strides = x.impl().strides;
  int64_t offset = x.storage_offset();
  if (!dims.empty()) {
    const auto flips = dim_mask("flip", dims, x);
    for (int64_t d = 0; d < x.dim() && x.numel() > 0; ++d)
      if (flips[static_cast<size_t>(d)]) {
        offset += (x.impl().sizes[d] - 1) * strides[d];
        strides[d] = -strides[d];
      }
  }
  return raw::clone(as_strided(x, x.impl().sizes, strides, offset));
}

}  // namespace raw
}  // namespace gradus
