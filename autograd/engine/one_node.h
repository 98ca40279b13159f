// Functions that public functions compute, and that stand in the graph as one node.
#pragma once

#include "gradus/autograd/engine/record.h"

namespace gradus {

template <class F>
Tensor without_graph(F f) {
  NoGradGuard guard;
  return f();
}

// value(x), whose derivative is gradient(grad, x): both are written with public functions.
template <class Value, class Gradient>
Tensor one_node(const char* node, const Tensor& self, Value value, Gradient gradient) {
  Tensor out = without_graph([&] { return value(self); });
  if (recording(self))
    record(node, out, {self}, {self},
           [gradient](Node& n, const Tensor& grad) { return Tensors{gradient(grad, n.saved(0))}; });
  return out;
}

// x in the type that its numbers are computed with.
inline Tensor widened(const Tensor& x) { return x.to(computed_type(x.dtype())); }

// The same for functions of several steps: a narrow type is rounded to once, at the end.
template <class Value, class Gradient>
Tensor one_wide_node(const char* node, const Tensor& self, Value value, Gradient gradient) {
  return one_node(
      node, self, [&](const Tensor& x) { return value(widened(x)).to(x.dtype()); },
      [gradient](const Tensor& grad, const Tensor& x) {
        return gradient(widened(grad), widened(x));
      });
}

}  // namespace gradus
