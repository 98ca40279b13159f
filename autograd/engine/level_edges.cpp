// Edges from inside of a level of vmap to tensors from outside.
#include "gradus/autograd/engine/level_edges.h"

#include <algorithm>

#include "gradus/autograd/engine/record.h"
#include "gradus/tensor/batching/storage.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

namespace {

constexpr const char* kSum = "VmapSumBackward0";

// The sum of x over the samples of the innermost level, for all of them.
Tensor sum_of_samples(const Tensor& x) {
  batching::Level& level = *batching::here();
  Tensor out;
  {
    const Tensor rows = batching::leave(level, x, 0);
    const batching::Scope outside(level.outer);
    out = raw::alias(*raw::try_view(raw::reduce(ReduceOp::sum, rows, IntArrayRef{0}), x.sizes()));
  }
  out = batching::enter(level, out, std::nullopt);
  if (recording(x))
    record(kSum, out, {x}, {}, [](Node&, const Tensor& grad) { return Tensors{grad}; });
  return out;
}

}  // namespace

Edge edge_into_level(const Tensor& x) {
  auto& level = static_cast<GraphLevel&>(*batching::here());
  Edge edge = own_edge(x);
  if (!edge.is_valid() || batching::depth_of(x) >= level.depth) return edge;
  const bool known = std::ranges::any_of(level.captured, [&](const Tensor& other) {
    const Edge its = own_edge(other);
    return its.function == edge.function && its.input_nr == edge.input_nr;
  });
  if (!known) level.captured.push_back(x);
  const auto backward = [](Node&, const Tensor& grad) { return Tensors{sum_of_samples(grad)}; };
  auto node = make_node<LambdaNode<decltype(backward)>>(kSum, backward);
  node->add_next_edge(std::move(edge));
  node->add_input_metadata(x);
  return {std::move(node), 0};
}

}  // namespace gradus
