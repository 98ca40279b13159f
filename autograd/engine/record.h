// How a public function records itself:
//
//   Tensor y = raw::map(UnaryOp::exp, x);
//   if (recording(x))
//     record("ExpBackward0", y, {x}, {y}, [](Node& n, const Tensor& grad) {
//       return Tensors{grad * n.saved(0)};
//     });
//
// The lambda may capture numbers and shapes. Tensors go through the saved list, which is checked
// for changes in place and freed after the backward pass.
#pragma once

#include <functional>
#include <initializer_list>
#include <type_traits>

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/autograd/engine/meta.h"
#include "gradus/autograd/functions.h"

namespace gradus {

// Whether x is part of the graph. An inference tensor never is, even where it requires grad.
inline bool in_graph(const Tensor& x) {
  return x.defined() && x.requires_grad() && !x.is_inference();
}
// Whether an operation on these tensors is recorded.
template <class... T>
bool recording(const T&... inputs) {
  return GradMode::is_enabled() && (... || in_graph(inputs));
}

template <class F>
class LambdaNode final : public Node {
 public:
  LambdaNode(const char* name, F backward) : Node(name), backward_(std::move(backward)) {}

 private:
  Tensors apply(Tensors&& grads) override {
    if constexpr (std::is_invocable_v<F, Node&, const Tensor&>)
      return backward_(*this, grads[0]);
    else
      return backward_(*this, grads);
  }
  F backward_;
};

// x where the derivative reads it; otherwise an undefined tensor, which costs nothing to save.
inline const Tensor& if_used(bool used, const Tensor& x) {
  static const Tensor none;
  return used ? x : none;
}

inline bool recording(ArrayRef<Tensor> inputs) {
  if (!GradMode::is_enabled()) return false;
  for (const Tensor& input : inputs)
    if (in_graph(input)) return true;
  return false;
}

using TensorRefs = std::initializer_list<std::reference_wrapper<const Tensor>>;

// Makes the node output's history: its edges lead to the inputs, and it keeps the saved tensors,
// but for undefined ones at the end.
void record_node(std::shared_ptr<Node> node, const Tensor& output, TensorRefs inputs,
                 TensorRefs saved);
void record_node(std::shared_ptr<Node> node, const Tensor& output, TensorRefs inputs,
                 const Tensors& saved);

// backward(node, grad) returns the gradients of `inputs` in order; undefined ones count as zero.
// `saved` may be a Tensors as well.
template <class Saved = TensorRefs, class F>
void record(const char* name, const Tensor& output, TensorRefs inputs, const Saved& saved,
            F backward) {
  record_node(make_node<LambdaNode<F>>(name, std::move(backward)), output, inputs, saved);
}

// The same for functions of lists, which save nothing: backward(node, grads) gets the gradients of
// all outputs, some of which may be undefined.
template <class F>
void record_lists(const char* name, ArrayRef<Tensor> outputs, ArrayRef<Tensor> inputs, F backward) {
  auto node = make_node<LambdaNode<F>>(name, std::move(backward));
  for (const Tensor& input : inputs) node->add_next_edge(gradient_edge(input));
  for (const Tensor& output : outputs) set_history(output, node, node->add_input_metadata(output));
}

}  // namespace gradus
