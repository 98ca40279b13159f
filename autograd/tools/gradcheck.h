// gradcheck and gradgradcheck: compare derivatives with finite differences on every element.
#pragma once

#include <functional>

#include "gradus/tensor/tensor.h"

namespace gradus::autograd {

using CheckedFunction = std::function<Tensors(const Tensors&)>;

struct GradcheckOptions {
  double eps = 1e-6;
  double atol = 1e-5;
  double rtol = 1e-3;
};

// Compares d f_i / d x_j by backward() with central differences (f(x + eps) - f(x - eps)) / 2 eps,
// for every element of every output and every input that requires grad; of complex numbers for both
// parts. Inputs are float64 or complex128 and are restored. Returns true; throws Error naming the
// first element that disagrees. Complexity: two evaluations per input element, one backward per
// output element.
bool gradcheck(const CheckedFunction& f, const Tensors& inputs,
               const GradcheckOptions& options = {});

// The same for the second derivatives: checks the gradients of f's gradients, with random weights
// on the outputs.
bool gradgradcheck(const CheckedFunction& f, const Tensors& inputs,
                   const GradcheckOptions& options = {});

}  // namespace gradus::autograd
