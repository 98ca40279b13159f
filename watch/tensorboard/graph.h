// The graph that autograd recorded, as TensorBoard draws it.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "gradus/nn/module.h"

namespace gradus::watch::detail {

// A GraphDef: a node for each operation that led to the outputs, named after its derivative and
// placed in the module whose parameter it reads, and one for each parameter and each of the inputs.
std::string graph_of(const nn::Module& model, const Tensors& inputs, const Tensors& outputs);

// A tensor that the graph knows: itself, but with a history of its own.
inline Tensor traced(const Tensor& input, Tensors& inputs) {
  Tensor out = input.detach();
  if (out.is_floating_point()) out.requires_grad_();
  inputs.push_back(out);
  return out;
}
template <class T>
const T& traced(const T& input, Tensors&) {
  return input;
}

// The tensors of a result.
inline void collect(const Tensor& x, Tensors& out) { out.push_back(x); }
template <class... Parts>
void collect(const std::tuple<Parts...>& parts, Tensors& out) {
  std::apply([&](const auto&... part) { (collect(part, out), ...); }, parts);
}
template <class T>
void collect(const std::vector<T>& parts, Tensors& out) {
  for (const T& part : parts) collect(part, out);
}

}  // namespace gradus::watch::detail
