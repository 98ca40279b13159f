// Hooks of Python as functions that C++ calls.
#pragma once

#include "gradus/nn/module.h"
#include "objects.h"
#include "tensor.h"

namespace gradus::python {

// Each returns what the hook returned; None is an undefined tensor.
struct TensorHookCall {
  Held hook;
  Tensor operator()(const Tensor& grad) const;
};
struct ForwardPreHook {
  Held hook;
  Tensor operator()(nn::Module& module, const Tensor& input) const;
};
struct ForwardHook {
  Held hook;
  Tensor operator()(nn::Module& module, const Tensor& input, const Tensor& output) const;
};

}  // namespace gradus::python
