// checkpoint: saves memory at the cost of time. The tensors that a part of the computation would
// keep for its backward pass are computed again there.
#pragma once

#include <functional>

#include "gradus/tensor/tensor.h"

namespace gradus::autograd {

// f(inputs) with its gradients, but without keeping the tensors that f saves for the backward pass.
// The backward pass, when it first reads one of them, runs f again on the same inputs and the same
// random numbers. Each tensor is freed after it was read. Checkpoints may be nested. backward(),
// grad() and create_graph work as usual, also for tensors that f captured. REQUIRES: f computes the
// same each time, and `inputs` are not changed in place in between. Errors: those of f; in the
// backward pass, Error where f saved another number of tensors.
Tensors checkpoint(const std::function<Tensors(const Tensors&)>& f, const Tensors& inputs);
Tensor checkpoint(const std::function<Tensor(const Tensor&)>& f, const Tensor& input);

}  // namespace gradus::autograd
