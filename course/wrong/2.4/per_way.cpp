// LOSES: calls
// Calls a node's function for each gradient that reaches it: right values, and exponential work.
#include "core/autodiff.h"

namespace course {

void backward(Node* root, Tensor gradient) {
  if (!root->gradients) {
    if (root->gradient.empty()) root->gradient = make(gradient.sizes);
    for (long i = 0; i < gradient.count(); ++i) root->gradient.write()[i] += gradient.read()[i];
    return;
  }
  const std::vector<Tensor> parts = root->gradients(gradient);
  for (size_t i = 0; i < parts.size(); ++i)
    if (root->inputs[i] != nullptr && !parts[i].empty()) backward(root->inputs[i].get(), parts[i]);
}

}  // namespace course
