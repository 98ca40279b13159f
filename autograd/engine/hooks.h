// Functions that see gradients on their way through the graph, and may replace them.
#pragma once

#include <functional>

#include "gradus/tensor/tensor.h"

namespace gradus {

// A hook of one tensor: it sees the gradient of one output of an operation.
struct TensorHook {
  uint32_t output_nr;
  unsigned handle;
  const void* retains;  // the AutogradMeta whose gradient it keeps, for retain_grad(); or null
  std::function<Tensor(const Tensor&)> call;
  bool accumulated = false;  // of a leaf: it sees the leaf when its grad() has been added to
};

namespace autograd {

// A hook of a node: it sees all gradients that are about to enter the node, and returns those that
// do.
struct FunctionPreHook {
  virtual ~FunctionPreHook() = default;
  virtual Tensors operator()(const Tensors& grads) = 0;
};

// A hook of a node: it sees the gradients that the node computed (outputs) and those that entered
// it (inputs), and returns those that leave.
struct FunctionPostHook {
  virtual ~FunctionPostHook() = default;
  virtual Tensors operator()(const Tensors& outputs, const Tensors& inputs) = 0;
};

// A hook of a leaf: it is called when grad() has been added to.
struct PostAccumulateGradHook {
  virtual ~PostAccumulateGradHook() = default;
  virtual void operator()(const Tensor& leaf) = 0;
  // --- Before that, where a gradient is to become grad() as it is computed, unseen by other hooks
  // The memory to compute it in, of its shape, dtype and device. Undefined: any.
  virtual Tensor memory() { return Tensor(); }
  // Tells that its first `rows` rows are computed when the current stream has done what is queued
  // on it so far. grad() becomes this very tensor, so they may be sent away, and even be changed.
  virtual void rows_computed(const Tensor& /*grad*/, int64_t /*rows*/) {}
};

}  // namespace autograd

struct NodeHooks {
  std::vector<TensorHook> tensor;
  std::vector<std::unique_ptr<autograd::FunctionPreHook>> before;
  std::vector<std::unique_ptr<autograd::FunctionPostHook>> after;
};

}  // namespace gradus
