// Ties the node of a recorded operation to its operands and its output.
#include "gradus/autograd/engine/record.h"

#include "gradus/autograd/engine/own_result.h"

namespace gradus {

namespace {

template <class Saved>
void connect(std::shared_ptr<Node> node, const Tensor& output, TensorRefs inputs,
             const Saved& saved) {
  own_unless_shared(output, inputs);
  node->reserve_next_edges(inputs.size());
  for (const Tensor& input : inputs)
    node->add_next_edge(input.defined() ? gradient_edge(input) : Edge{});
  const auto defined = [](const Tensor& x) { return x.defined(); };
  auto first = saved.begin(), last = saved.end();
  while (first != last && !defined(*(last - 1))) --last;
  for (; first != last; ++first) {
    const Tensor& tensor = *first;
    node->save(tensor, tensor.is_same(output) ? std::optional<uint32_t>(0) : std::nullopt);
  }
  node->add_input_metadata(output);
  set_history(output, std::move(node), 0);
}

}  // namespace

void record_node(std::shared_ptr<Node> node, const Tensor& output, TensorRefs inputs,
                 TensorRefs saved) {
  connect(std::move(node), output, inputs, saved);
}
void record_node(std::shared_ptr<Node> node, const Tensor& output, TensorRefs inputs,
                 const Tensors& saved) {
  connect(std::move(node), output, inputs, saved);
}

}  // namespace gradus
