// Activations as modules.
#pragma once

#include "gradus/nn/module.h"

namespace gradus::nn {

// max(x, 0), elementwise.
struct ReLUImpl : Module {
  ReLUImpl() : Module("ReLU") {}
  Tensor forward(const Tensor& input) { return gradus::relu(input); }
};
GRADUS_MODULE(ReLU);

}  // namespace gradus::nn
