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

// A copy of x with the strides of `like`, and element 0 at offset 0. Differentiable.
Tensor laid_out(const Tensor& x, const Geometry& like);

// A node that reads the elements of `view` out of the base, by the view's geometry.
std::shared_ptr<Node> as_strided_node(const Tensor& base, const Tensor& view);

}  // namespace gradus
