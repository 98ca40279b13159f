// Views by geometry: any view of a tensor can be taken again by as_strided.
#pragma once

#include "gradus/autograd/engine/node.h"

namespace gradus {

struct Geometry {
  Dims sizes, strides;
  int64_t offset;
};
Geometry geometry_of(const Tensor& x);

// The same elements in memory of their own that has the strides of `like`, whose element 0 lies at
// offset 0. Differentiable.
Tensor laid_out(const Tensor& x, const Geometry& like);

// A node that reads `view`, as a geometry, out of base.
std::shared_ptr<Node> as_strided_node(const Tensor& base, const Tensor& view);

}  // namespace gradus
