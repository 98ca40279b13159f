// Nodes that tell the engine more of their gradients: that they take one in another floating dtype
// than their tensor has, hand one on as it is, or need the sums of its columns.
#pragma once

#include "gradus/autograd/engine/record.h"

namespace gradus {

// A base of such nodes. The engine leaves a gradient as it is only where nothing is added to it.
struct TakesAnyDtype {};

// A base of nodes whose third input is a bias, which is added to each row of what they compute. The
// sums of the columns of a node's gradient are that of the bias.
struct AddsBias {};

template <class Says, class F>
class SayingNode final : public Node, public Says {
 public:
  SayingNode(const char* name, F backward) : Node(name), backward_(std::move(backward)) {}

 private:
  Tensors apply(Tensors&& grads) override {
    if constexpr (std::is_invocable_v<F, Node&, const Tensor&>)
      return backward_(*this, grads[0]);
    else
      return backward_(*this, grads);
  }
  F backward_;
};

// A base of nodes whose gradient is that of each of their inputs.
struct HandsOn {};

// A sum of two tensors.
class SumNode final : public Node, public HandsOn {
 public:
  explicit SumNode(const char* name) : Node(name) {}

 private:
  Tensors apply(Tensors&& grads) override {
    Tensors out(2);
    for (size_t i = 0; i < 2; ++i)
      if (wants(i)) out[i] = grads[0];
    return out;
  }
};

// record() of a node that says this of itself.
template <class Says, class F>
void record_saying(const char* name, const Tensor& output, TensorRefs inputs, TensorRefs saved,
                   F backward) {
  record_node(make_node<SayingNode<Says, F>>(name, std::move(backward)), output, inputs, saved);
}

// record_lists() of such a node.
template <class Says, class F>
void record_lists_saying(const char* name, const Tensor& output, ArrayRef<Tensor> inputs,
                         F backward) {
  auto node = make_node<SayingNode<Says, F>>(name, std::move(backward));
  for (const Tensor& input : inputs) node->add_next_edge(gradient_edge(input));
  set_history(output, node, node->add_input_metadata(output));
}

// Records that `output` is x in another dtype.
inline void record_conversion(const Tensor& output, const Tensor& x) {
  record_saying<TakesAnyDtype>("ToCopyBackward0", output, {x}, {},
                               [](Node&, const Tensor& grad) { return Tensors{grad}; });
}

}  // namespace gradus
