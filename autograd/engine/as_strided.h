// Views by geometry: sizes, strides and an offset describe any view, so as_strided can take every
// view of a tensor again.
#pragma once

#include "gradus/autograd/engine/node.h"

namespace gradus {

struct Geometry {
  Dims sizes, strides;
  int64_t offset;
};
Geometry geometry_of(const Tensor& x);
// The geometry of x, which shares a storage with `other`. Where one of them is complex and the
// other real, both are counted in real numbers: a complex tensor gets a last dimension for its
// parts.
Geometry geometry_beside(const Tensor& other, const Tensor& x);
// grad, which belongs to a tensor with such a geometry, in that form; and back.
Tensor in_geometry(const Tensor& grad, const Geometry& geometry);
Tensor from_geometry(const Tensor& parts, bool is_complex);

// A copy of x with the strides of `like`, and element 0 at offset 0. Differentiable.
Tensor laid_out(const Tensor& x, const Geometry& like);

// The geometry of such a view of x. Errors: ValueError for numbers below 0 and for elements beyond
// the storage.
Geometry checked_geometry(const char* op, const Tensor& x, IntArrayRef size, IntArrayRef stride,
                          int64_t storage_offset);

// A node that reads the elements of `view` out of the base, by the view's geometry.
std::shared_ptr<Node> as_strided_node(const Tensor& base, const Tensor& view);

}  // namespace gradus
