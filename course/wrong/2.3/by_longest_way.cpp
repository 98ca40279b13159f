// LOSES: many ways
// Finds the longest distance of each node by following every way: 2^60 of them.
#include <algorithm>
#include <unordered_map>

#include "core/autodiff.h"

namespace course {

std::vector<Node*> order(Node* root) {
  std::unordered_map<Node*, long> far{{root, 0}};
  std::vector<Node*> out;
  std::vector<std::pair<Node*, long>> waiting{{root, 0}};
  while (!waiting.empty()) {
    const auto [node, at] = waiting.back();
    waiting.pop_back();
    far[node] = std::max(far[node], at);
    for (const auto& input : node->inputs)
      if (input != nullptr) waiting.push_back({input.get(), at + 1});
  }
  for (const auto& [node, at] : far) out.push_back(node);
  std::sort(out.begin(), out.end(), [&](Node* a, Node* b) { return far[a] < far[b]; });
  return out;
}

}  // namespace course
