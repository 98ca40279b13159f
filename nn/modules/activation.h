// Activations as modules.
#pragma once

#include "gradus/nn/cloneable.h"

namespace gradus::nn {

// max(x, 0), elementwise.
struct ReLUImpl : Cloneable<ReLUImpl> {
  ReLUImpl() : Cloneable("ReLU") {}
  void reset() override {}
  Tensor forward(const Tensor& input) { return gradus::relu(input); }
};
GRADUS_MODULE(ReLU);

}  // namespace gradus::nn
