// view, reshape, permute, transpose, expand, squeeze, flatten, with their gradients. Four
// geometries (reshape, permute, expand, narrow) carry the rest.
#include "gradus/autograd/engine/record.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

namespace {

Tensor record_reshape(const char* node, const Tensor& self, Tensor out) {
  if (recording(self))
    record(node, out, {self}, {}, [sizes = self.impl().sizes](Node&, const Tensor& grad) {
      return Tensors{grad.reshape(sizes)};
    });
  return out;
}

// Reshapes to a shape that differs from self's in sizes of 1 alone, which every memory layout
// allows.
Tensor reshaped(const char* node, const Tensor& self, IntArrayRef shape) {
  return record_reshape(node, self, *raw::try_view(self, shape));
}

// The adjoint of narrow: grad at its place among zeros.
Tensor narrow_backward(const Tensor& grad, const Dims& sizes, int64_t dim, int64_t start) {
  const int64_t length = grad.size(dim);
  Tensor out = raw::empty(sizes, grad.dtype(), grad.device());
  raw::fill_(out, 0);
  raw::copy_(raw::narrow(out, dim, start, length), grad);
  if (recording(grad))
    record("NarrowBackward0", out, {grad}, {},
           [=](Node&, const Tensor& g) { return Tensors{g.narrow(dim, start, length)}; });
  return out;
}

}  // namespace

Tensor view(const Tensor& self, IntArrayRef size) {
  auto out = raw::try_view(self.operand("view"), size);
  check(out.has_value(),
        "view: view size is not compatible with input tensor's size and stride: ", size,
        " for shape ", self.sizes(), " and strides ", self.strides(),
        "; use reshape(), which copies if it must");
  return record_reshape("ViewBackward0", self, std::move(*out));
}

Tensor reshape(const Tensor& self, IntArrayRef shape) {
  auto out = raw::try_view(self.operand("reshape"), shape, "reshape");
  if (!out) {  // the view of the copy is nobody else's
    const Tensor copy = self.clone(MemoryFormat::Contiguous);
    return record_reshape("UnsafeViewBackward0", copy, raw::alias(*raw::try_view(copy, shape)));
  }
  return record_reshape("ViewBackward0", self, std::move(*out));
}

Tensor flatten(const Tensor& self, int64_t start_dim, int64_t end_dim) {
  const int64_t first = wrap_dim("flatten", start_dim, self);
  const int64_t last = wrap_dim("flatten", end_dim, self);
  check(first <= last, "flatten: start_dim ", start_dim, " comes after end_dim ", end_dim,
        "; exchange them");
  if (self.dim() == 0) return reshape(self, {1});
  Dims shape(self.sizes().data(), static_cast<size_t>(first));
  shape.push_back(1);
  for (int64_t d = first; d <= last; ++d) shape[first] *= self.sizes()[d];
  for (int64_t d = last + 1; d < self.dim(); ++d) shape.push_back(self.sizes()[d]);
  return reshape(self, shape);
}

Tensor permute(const Tensor& self, IntArrayRef dims) {
  Tensor out = raw::permute(self, dims);
  if (recording(self)) {
    Dims inverse = Dims::filled(self.dim(), 0);
    for (int64_t i = 0; i < self.dim(); ++i) inverse[wrap_dim("permute", dims[i], self)] = i;
    record("PermuteBackward0", out, {self}, {},
           [inverse](Node&, const Tensor& grad) { return Tensors{grad.permute(inverse)}; });
  }
  return out;
}

namespace {
Tensor transposed(const char* node, const Tensor& self, int64_t dim0, int64_t dim1) {
  Tensor out = raw::transpose(self, dim0, dim1);
  if (recording(self))
    record(node, out, {self}, {},
           [=](Node&, const Tensor& grad) { return Tensors{grad.transpose(dim0, dim1)}; });
  return out;
}
}  // namespace

Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
  return transposed("TransposeBackward0", self, dim0, dim1);
}

Tensor t(const Tensor& self) {
  check(self.operand("t").dim() <= 2, "t: t() expects a tensor with <= 2 dimensions, but self is ",
        self.dim(), "D: shape ", self.sizes(), "; use transpose(dim0, dim1)");
  return transposed("TBackward0", self, 0, self.dim() == 2 ? 1 : 0);
}

Tensor alias(const Tensor& self) { return reshaped("AliasBackward0", self, self.sizes()); }

Tensor unsqueeze(const Tensor& self, int64_t dim) {
  Dims shape = self.impl().sizes;
  shape.insert(wrap_dim("unsqueeze", dim, self.dim() + 1), 1);
  return reshaped("UnsqueezeBackward0", self, shape);
}

Tensor squeeze(const Tensor& self) {
  Dims shape;
  for (int64_t size : self.sizes())
    if (size != 1) shape.push_back(size);
  return reshaped("SqueezeBackward0", self, shape);
}

Tensor squeeze(const Tensor& self, int64_t dim) {
  const int64_t d = wrap_dim("squeeze", dim, self);
  Dims shape = self.impl().sizes;
  if (self.dim() > 0 && shape[d] == 1) shape.erase(d);
  return reshaped("SqueezeBackward1", self, shape);
}

Tensor squeeze(const Tensor& self, IntArrayRef dim) {
  const auto listed = dim_mask("squeeze", dim, self);
  Dims shape;
  for (size_t d = 0; d < self.sizes().size(); ++d)
    if (dim.empty() || !listed[d] || self.sizes()[d] != 1) shape.push_back(self.sizes()[d]);
  return reshaped("SqueezeBackward2", self, shape);
}

Tensor expand(const Tensor& self, IntArrayRef size, bool) {
  Tensor out = raw::expand(self, size);
  if (recording(self))
    record("ExpandBackward0", out, {self}, {},
           [sizes = self.impl().sizes](Node&, const Tensor& grad) {
             return Tensors{grad.sum_to_size(sizes)};
           });
  return out;
}

Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  Tensor out = raw::narrow(self, dim, start, length);
  if (recording(self)) {
    const int64_t d = wrap_dim("narrow", dim, self);
    const int64_t from = start < 0 ? start + self.sizes()[d] : start;
    record("SliceBackward0", out, {self}, {},
           [d, from, sizes = self.impl().sizes](Node&, const Tensor& grad) {
             return Tensors{narrow_backward(grad, sizes, d, from)};
           });
  }
  return out;
}

Tensor select(const Tensor& self, int64_t dim, int64_t index) {
  check<IndexError>(
      self.dim() > 0,
      "select: select() cannot be applied to a 0-dim tensor. Use item() for its number");
  const int64_t d = wrap_dim("select", dim, self);
  const int64_t size = self.sizes()[d];
  check<IndexError>(index >= -size && index < size, "select: index ", index,
                    " out of range for tensor of size ", self.sizes(), " at dimension ", d,
                    "; expected ", -size, " <= index < ", size);
  Dims shape = self.impl().sizes, strides = self.impl().strides;
  const int64_t at = index < 0 ? index + size : index;
  const int64_t offset = self.storage_offset() + at * strides[d];
  shape.erase(d), strides.erase(d);
  Tensor out = raw::as_strided(self, shape, strides, offset);
  if (recording(self))
    record("SelectBackward0", out, {self}, {},
           [d, at, sizes = self.impl().sizes](Node&, const Tensor& grad) {
             return Tensors{narrow_backward(grad.unsqueeze(d), sizes, d, at)};
           });
  return out;
}

}  // namespace gradus
