// LOSES: not wanted
// Adds a gradient that is empty: a tensor without memory.
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
  std::unordered_map<Node*, Tensor> arrived;  // at nodes whose turn has not come
  arrived[root] = gradient;
  for (Node* const node : order(root)) {
    const Tensor sum = std::exchange(arrived[node], {});
    if (sum.empty()) continue;
    if (!node->gradients) {
      add(node->gradient, sum);
      continue;
    }
    const std::vector<Tensor> parts = node->gradients(sum);
    for (size_t i = 0; i < parts.size(); ++i)
      if (node->inputs[i] != nullptr) add(arrived[node->inputs[i].get()], parts[i]);
  }
}

}  // namespace course
