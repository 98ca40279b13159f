// LOSES: before its inputs
// Preorder: a node comes when it is met first, which may be before others that use it.
#include <algorithm>
#include <unordered_set>

#include "core/autodiff.h"

namespace course {

std::vector<Node*> order(Node* root) {
  std::unordered_set<Node*> seen{root};
  std::vector<Node*> out, waiting{root};
  while (!waiting.empty()) {
    Node* const node = waiting.back();
    waiting.pop_back();
    out.push_back(node);
    for (const auto& input : node->inputs)
      if (input != nullptr && seen.insert(input.get()).second) waiting.push_back(input.get());
  }
  return out;
}

}  // namespace course
