// Less memory for more time: what a part of the computation would keep for its backward pass is
// computed again there.
#pragma once

#include <functional>

#include "gradus/tensor/tensor.h"

namespace gradus::autograd {

// f(inputs), with its gradients, while none of the tensors that f saves for the backward pass is
// kept. When the backward pass first reads one of them, f runs once more, on the same inputs and
// the same random numbers, and each of them is freed once it has been read. Checkpoints may stand
// within one another; backward(), grad() and create_graph work as without, also for tensors that f
// captured. f must compute the same each time, and `inputs` must not be changed in place in
// between. Errors: those of f; at the backward pass Error where f saved another number of tensors.
Tensors checkpoint(const std::function<Tensors(const Tensors&)>& f, const Tensors& inputs);
Tensor checkpoint(const std::function<Tensor(const Tensor&)>& f, const Tensor& input);

}  // namespace gradus::autograd
