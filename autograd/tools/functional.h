// jacobian, hessian, vjp, jvp, vhp and hvp, as in torch.autograd.functional, and vmap.
//
// A function takes a list of tensors and returns a list of tensors, or takes one and returns one.
// It receives copies of the handles of the inputs that require grad.
//
// create_graph: the results can be differentiated by inputs that require grad.
// strict: an output that does not depend on an input is an Error; otherwise its derivative is zero.
#pragma once

#include <functional>

#include "gradus/autograd/tools/vmap.h"
#include "gradus/tensor/tensor.h"

namespace gradus::autograd::functional {

using ListFunction = std::function<Tensors(const Tensors&)>;
using TensorFunction = std::function<Tensor(const Tensor&)>;

// out[i][j] is d f(inputs)[i] / d inputs[j], of the sizes of that output followed by those of that
// input. Complexity: one backward for each element of each output.
std::vector<Tensors> jacobian(const ListFunction& f, const Tensors& inputs,
                              bool create_graph = false, bool strict = false);
Tensor jacobian(const TensorFunction& f, const Tensor& input, bool create_graph = false,
                bool strict = false);

// out[i][j] is the second derivative of f's one output, of one element, by inputs[i] and inputs[j].
std::vector<Tensors> hessian(const ListFunction& f, const Tensors& inputs,
                             bool create_graph = false, bool strict = false);
Tensor hessian(const TensorFunction& f, const Tensor& input, bool create_graph = false,
               bool strict = false);

// The results of a function, and a product with its derivatives.
struct Product {
  Tensors outputs, product;
};

// v^T times the Jacobian. v: one tensor for each output, of its shape. v may be omitted where there
// is one output of one element.
Product vjp(const ListFunction& f, const Tensors& inputs, const Tensors& v = {},
            bool create_graph = false, bool strict = false);
// The Jacobian times v, by two backward passes. v: one tensor for each input, of its shape. v may
// be omitted where there is one input of one element.
Product jvp(const ListFunction& f, const Tensors& inputs, const Tensors& v = {},
            bool create_graph = false, bool strict = false);
// v^T times the Hessian, and the Hessian times v, of a function with one output of one element. The
// results are equal; vhp is faster.
Product vhp(const ListFunction& f, const Tensors& inputs, const Tensors& v = {},
            bool create_graph = false, bool strict = false);
Product hvp(const ListFunction& f, const Tensors& inputs, const Tensors& v = {},
            bool create_graph = false, bool strict = false);

}  // namespace gradus::autograd::functional
