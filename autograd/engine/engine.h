// The backward pass.
#pragma once

#include <functional>
#include <optional>

#include "gradus/tensor/tensor.h"

namespace gradus::autograd {

// Accumulates the gradients of the sum of `tensors` (each weighted by its entry of grad_tensors;
// an undefined entry means 1 and needs a tensor of one element) into the leaves' grad(), or, where
// `inputs` is not empty, of those tensors alone.
// create_graph: the gradients can be differentiated again; implies retain_graph.
// Errors: Error where a tensor requires no grad, a weight's shape differs, or the graph was freed.
void backward(const Tensors& tensors, const Tensors& grad_tensors = {},
              std::optional<bool> retain_graph = std::nullopt, bool create_graph = false,
              const Tensors& inputs = {});

// The gradients of the same sum with respect to `inputs`; touches no grad(). An input that the
// outputs do not depend on is an Error, or an undefined gradient where allow_unused.
Tensors grad(const Tensors& outputs, const Tensors& inputs, const Tensors& grad_outputs = {},
             std::optional<bool> retain_graph = std::nullopt, bool create_graph = false,
             bool allow_unused = false);

// Calls f when the backward pass that runs on this thread has computed all gradients, the outermost
// where passes run within one another. What f throws, backward() throws.
// Errors: Error where none runs.
void queue_callback(std::function<void()> f);

// Forgets x.grad(), or, where not set_to_none, fills it with zeros.
void clear_grad(const Tensor& x, bool set_to_none);

}  // namespace gradus::autograd
