// The products that a layer adds up, by its class and the shapes of a call.
#pragma once

#include <optional>

#include "gradus/nn/module.h"

namespace gradus::watch::detail {

// The cost of a call of a layer, and the shape of its output.
struct LayerCost {
  int64_t multiply_adds = 0;
  std::vector<int64_t> output_size;
};

// Whether forward() of this layer returns more than one tensor, so that no output hook fits it:
// recurrent layers, LSTMCell, MultiheadAttention.
bool returns_several(const nn::Module& layer);
// The cost of such a layer, where keys have the shape of the queries. Nothing for other layers.
std::optional<LayerCost> cost_by_input(const nn::Module& layer, const Tensor& input);
// The products of a layer that returns one tensor: linear layers, convolutions, cells, and layers
// that multiply each element by a weight; 0 for others.
int64_t multiply_adds(const nn::Module& layer, const Tensor& input, const Tensor& output);

}  // namespace gradus::watch::detail
