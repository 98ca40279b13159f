// Modules that tests of DataParallel share.
#pragma once

#include "tests/nn/parallel/devices.h"

namespace gradus {

// Two layers with a bias, one without, and a scale of its own.
struct MlpImpl : nn::Cloneable<MlpImpl> {
  MlpImpl(int64_t in_, int64_t hidden_, int64_t out_) : in(in_), hidden(hidden_), out(out_) {
    reset();
  }
  void reset() override {
    body = register_module(
        "body", nn::Sequential(nn::Linear(in, hidden), nn::ReLU(),
                               nn::Linear(nn::LinearOptions(hidden, hidden).bias(false))));
    head = register_module("head", nn::Linear(hidden, out));
    scale = register_parameter("scale", ones({out}));
  }
  Tensor forward(const Tensor& x) { return head(body->forward(x).tanh()) * scale; }
  int64_t in, hidden, out;
  nn::Sequential body{nullptr};
  nn::Linear head{nullptr};
  Tensor scale;
};
GRADUS_MODULE(Mlp);

}  // namespace gradus
