// GraphDef from autograd's nodes.
#include "gradus/watch/tensorboard/graph.h"

#include <algorithm>
#include <map>
#include <set>

#include "gradus/autograd/engine/meta.h"
#include "gradus/watch/tensorboard/wire.h"

namespace gradus::watch::detail {

namespace {

// All nodes that the outputs come from, in the order of the forward pass; those of leaves come
// last, in the order in which they were met.
std::vector<const Node*> nodes_of(const Tensors& outputs) {
  std::vector<const Node*> out, waiting;
  std::set<const Node*> known;
  const auto meet = [&](const Node* node) {
    if (node != nullptr && known.insert(node).second) waiting.push_back(node);
  };
  for (const Tensor& output : outputs)
    if (output.defined()) meet(gradient_edge(output).function.get());
  while (!waiting.empty()) {
    out.push_back(waiting.back());
    waiting.pop_back();
    for (const Edge& edge : out.back()->next_edges()) meet(edge.function.get());
  }
  std::stable_sort(out.begin(), out.end(), [](const Node* a, const Node* b) {
    return a->sequence_nr() < b->sequence_nr();
  });
  return out;
}

// "layers.0.weight" as "layers/0/weight".
std::string path_of(std::string name) {
  std::replace(name.begin(), name.end(), '.', '/');
  return name;
}

// "AddmmBackward0" as "Addmm".
std::string operation_of(const Node& node) {
  const std::string label = node.label();
  return label.substr(0, label.find("Backward"));
}

class Names {
 public:
  Names(const nn::Module& model, const Tensors& inputs) {
    for (const auto& parameter : model.named_parameters())
      if (parameter.value().defined())
        leaves_[&parameter.value().impl()] = path_of(parameter.key());
    for (size_t i = 0; i < inputs.size(); ++i)
      leaves_[&inputs[i].impl()] = "input" + (i > 0 ? std::to_string(i) : std::string());
  }
  // The name of the leaf that a node adds gradients to; empty for other nodes and leaves.
  std::string leaf(const Node& node) const {
    const auto* end = dynamic_cast<const AccumulateGrad*>(&node);
    if (end == nullptr) return "";
    const auto found = leaves_.find(&end->variable().impl());
    return found == leaves_.end() ? "" : found->second;
  }
  // A name of its own for each node.
  std::string unique(const Node& node) {
    std::string name = leaf(node);
    if (name.empty()) {
      for (const Edge& edge : node.next_edges()) {
        const std::string parameter = edge.is_valid() ? leaf(*edge.function) : "";
        if (const size_t slash = parameter.rfind('/'); slash != std::string::npos)
          name = parameter.substr(0, slash + 1);
      }
      name += operation_of(node);
    }
    const int before = used_[name]++;
    return before == 0 ? name : name + "_" + std::to_string(before);
  }

 private:
  std::map<const TensorImpl*, std::string> leaves_;
  std::map<std::string, int> used_;
};

// The attribute that TensorBoard shows at the edges behind the node.
Message shape_attribute(const Node& node) {
  Message list;
  for (size_t i = 0; i < node.num_inputs(); ++i) {
    Message shape;
    for (const int64_t size : node.meta(i).sizes) shape.message(2, Message().integer(1, size));
    list.message(7, shape);
  }
  return Message().text(1, "_output_shapes").message(2, Message().message(1, list));
}

}  // namespace

std::string graph_of(const nn::Module& model, const Tensors& inputs, const Tensors& outputs) {
  const std::vector<const Node*> nodes = nodes_of(outputs);
  Names names(model, inputs);
  std::map<const Node*, std::string> name_of;
  for (const Node* node : nodes) name_of[node] = names.unique(*node);
  Message graph;
  for (const Node* node : nodes) {
    const std::string leaf = names.leaf(*node);
    Message entry;
    entry.text(1, name_of[node]);
    entry.text(2, leaf.empty()                ? operation_of(*node)
                  : leaf.starts_with("input") ? "Placeholder"
                                              : "Parameter");
    for (const Edge& edge : node->next_edges()) {
      if (!edge.is_valid()) continue;
      const std::string number = edge.input_nr > 0 ? ":" + std::to_string(edge.input_nr) : "";
      entry.text(3, name_of[edge.function.get()] + number);
    }
    graph.message(1, entry.message(5, shape_attribute(*node)));
  }
  constexpr int64_t kProducer = 22;  // of the versions of this format
  return graph.message(4, Message().integer(1, kProducer)).bytes();
}

}  // namespace gradus::watch::detail
