// one_node: a composite of public functions that is recorded as one node with its own derivative.
#pragma once

#include "gradus/autograd/engine/record.h"

namespace gradus {

template <class F>
Tensor without_graph(F f) {
  NoGradGuard guard;
  return f();
}

// value(x), with the derivative gradient(grad, x). Both are written with public functions.
template <class Value, class Gradient>
Tensor one_node(const char* node, const Tensor& self, Value value, Gradient gradient) {
  Tensor out = without_graph([&] { return value(self); });
  if (recording(self))
    record(node, out, {self}, {self},
           [gradient](Node& n, const Tensor& grad) { return Tensors{gradient(grad, n.saved(0))}; });
  return out;
}

// x in the dtype that operations on it compute in: float32 for half types.
inline Tensor as_computed(const Tensor& x) { return x.to(computed_type(x.dtype())); }

// The same for functions of several steps: a half type is rounded to only once, at the end.
template <class Value, class Gradient>
Tensor one_wide_node(const char* node, const Tensor& self, Value value, Gradient gradient) {
  return one_node(
      node, self, [&](const Tensor& x) { return value(as_computed(x)).to(x.dtype()); },
      [gradient](const Tensor& grad, const Tensor& x) {
        return gradient(as_computed(grad), as_computed(x));
      });
}

}  // namespace gradus
