// LOSES: several uses, twice
// Assigns where it should add: the last gradient that reaches a node wins.
#include <unordered_map>

#include <algorithm>

#include "core/autodiff.h"

namespace course {

void backward(Node* root, Tensor gradient) {
  const auto add = [](Tensor& sum, const Tensor& x) {
    sum = make(x.sizes);
    std::copy(x.read(), x.read() + x.count(), sum.write());
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
      if (node->inputs[i] != nullptr && !parts[i].empty()) add(arrived[node->inputs[i].get()], parts[i]);
  }
}

}  // namespace course
