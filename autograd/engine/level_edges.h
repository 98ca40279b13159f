// Gradients that leave a level of vmap: a tensor from outside of it has one for all samples.
#pragma once

#include "gradus/autograd/engine/node.h"
#include "gradus/tensor/level.h"
#include "gradus/tensor/tensor.h"

namespace gradus {

// A level, and the tensors from outside that operations in it were recorded with.
struct GraphLevel : batching::Level {
  Tensors captured;
};

// As gradient_edge, whatever the level.
Edge own_edge(const Tensor& x);
// gradient_edge under vmap: for a tensor from outside of the innermost level an edge that sums over
// its samples. REQUIRES: batching::here(), which is a GraphLevel.
Edge edge_into_level(const Tensor& x);

}  // namespace gradus
