#include "gradus/autograd/function.h"

#include <algorithm>

#include "gradus/tensor/factories.h"
#include "gradus/tensor/raw.h"

namespace gradus::autograd {

TensorList AutogradContext::get_saved_variables() const {
  TensorList out;
  for (size_t i = 0; i < saved_; ++i) out.push_back(node_->saved(i));
  return out;
}

void connect(Node& node, const std::vector<const Tensor*>& inputs) {
  for (const Tensor* input : inputs)
    node.add_next_edge(input->defined() ? gradient_edge(*input) : Edge{});
}

void finish(const std::shared_ptr<Node>& node, TensorList& outputs,
            const TensorList& non_differentiable, const TensorList& to_save) {
  const auto among = [](const TensorList& list, const Tensor& x) {
    return std::any_of(list.begin(), list.end(), [&](const Tensor& y) { return y.is_same(x); });
  };
  for (const Tensor& tensor : to_save) {
    std::optional<uint32_t> output_nr;
    for (size_t i = 0; i < outputs.size(); ++i)
      if (tensor.is_same(outputs[i])) output_nr = static_cast<uint32_t>(i);
    node->save(tensor, output_nr);
  }
  // Handles of their own: an input that is handed through as an output keeps its own history.
  const TensorList before = outputs;
  for (Tensor& output : outputs) output = raw::alias(output);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const uint32_t nr = node->add_input_metadata(outputs[i]);
    if (isFloatingType(outputs[i].dtype()) && !among(non_differentiable, before[i]))
      set_history(outputs[i], node, nr);
  }
}

TensorList materialize(const Node& node, const TensorList& grads, bool fill) {
  TensorList out = grads;
  for (size_t i = 0; fill && i < out.size(); ++i) {
    const Node::Meta& meta = node.meta(i);
    if (!out[i].defined())
      out[i] = zeros(meta.sizes, TensorOptions(meta.dtype).device(meta.device));
  }
  return out;
}

TensorList tensors_only(const Node& node, const std::vector<bool>& is_tensor, TensorList grads) {
  check<Error>(grads.size() == is_tensor.size(), node.name(), ": backward returned ", grads.size(),
               " gradients, and forward took ", is_tensor.size(),
               " arguments; return one each, Tensor() where there is none");
  TensorList out;
  for (size_t i = 0; i < grads.size(); ++i) {
    if (is_tensor[i])
      out.push_back(std::move(grads[i]));
    else
      check<Error>(!grads[i].defined(), node.name(), ": backward returned a gradient for argument ",
                   i, ", which is no Tensor; return Tensor() for it");
  }
  return out;
}

}  // namespace gradus::autograd
