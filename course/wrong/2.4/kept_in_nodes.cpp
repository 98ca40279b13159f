// LOSES: twice, given tensors
// Collects in Node::gradient of inner nodes too, and leaves it there for the next time.
#include <unordered_map>

#include "core/autodiff.h"

namespace course {

void backward(Node* root, Tensor gradient) {
  const auto add = [](Tensor& sum, const Tensor& x) {
    if (sum.empty()) sum = make(x.sizes);
    const float* const from = x.read();
    float* const to = sum.write();
    for (long i = 0; i < x.count(); ++i) to[i] += from[i];
  };
  add(root->gradient, gradient);
  for (Node* const node : order(root)) {
    const Tensor sum = node->gradient;
    if (sum.empty() || !node->gradients) continue;
    const std::vector<Tensor> parts = node->gradients(sum);
    for (size_t i = 0; i < parts.size(); ++i)
      if (node->inputs[i] != nullptr && !parts[i].empty()) add(node->inputs[i]->gradient, parts[i]);
  }
}

}  // namespace course
