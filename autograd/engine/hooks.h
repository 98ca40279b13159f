// Functions that see gradients on their way through the graph, and may replace them.
#pragma once

#include <functional>

#include "gradus/tensor/tensor.h"

namespace gradus {

// Of one tensor: sees the gradient of one output of an operation.
struct TensorHook {
  uint32_t output_nr;
  unsigned handle;
  const void* retains;  // the AutogradMeta whose gradient it keeps, for retain_grad(); or null
  std::function<Tensor(const Tensor&)> call;
};

namespace autograd {

// Of a node: sees, and returns, all gradients that are about to enter it.
struct FunctionPreHook {
  virtual ~FunctionPreHook() = default;
  virtual Tensors operator()(const Tensors& grads) = 0;
};

// Of a node: sees what left it (outputs) and what had entered it (inputs); returns what leaves.
struct FunctionPostHook {
  virtual ~FunctionPostHook() = default;
  virtual Tensors operator()(const Tensors& outputs, const Tensors& inputs) = 0;
  // At the accumulator of a leaf: see Node::rows_ready.
  virtual void rows_ready(const Tensor&, int64_t) {}
  // At the accumulator of a leaf: see Node::room.
  virtual Tensor room() { return Tensor(); }
};

}  // namespace autograd

struct NodeHooks {
  std::vector<TensorHook> tensor;
  std::vector<std::unique_ptr<autograd::FunctionPreHook>> before;
  std::vector<std::unique_ptr<autograd::FunctionPostHook>> after;
};

}  // namespace gradus
