// The entries to the backward pass: backward, grad and queue_callback.
#pragma once

#include <functional>
#include <optional>

#include "gradus/tensor/tensor.h"

namespace gradus::autograd {

// Adds the gradients of the sum of `tensors` to the leaves' grad(); where `inputs` is not empty, to
// the grad() of these tensors alone. Each tensor is weighted by its entry of grad_tensors; an
// undefined entry means 1 and needs a tensor of one element.
// create_graph: the gradients can be differentiated again; implies retain_graph.
// Errors: Error where a tensor requires no grad, a weight's shape differs, or the graph was freed.
void backward(const Tensors& tensors, const Tensors& grad_tensors = {},
              std::optional<bool> retain_graph = std::nullopt, bool create_graph = false,
              const Tensors& inputs = {});

// The gradients of the same sum with respect to `inputs`. No grad() changes. An input that the
// outputs do not depend on is an Error; with allow_unused its gradient is undefined.
Tensors grad(const Tensors& outputs, const Tensors& inputs, const Tensors& grad_outputs = {},
             std::optional<bool> retain_graph = std::nullopt, bool create_graph = false,
             bool allow_unused = false);

// Calls f when the backward pass of this thread has computed all gradients; of nested passes, the
// outermost. backward() throws what f throws. Errors: Error where no pass runs.
void queue_callback(std::function<void()> f);

// Makes x.grad() undefined; without set_to_none, fills it with zeros.
void clear_grad(const Tensor& x, bool set_to_none);

}  // namespace gradus::autograd
