// LOSES: null inputs
// Takes a null input for a node.
#include <algorithm>
#include <unordered_set>

#include "core/autodiff.h"

namespace course {

std::vector<Node*> order(Node* root) {
  struct Visit {
    Node* node;
    size_t next;  // which input comes next
  };
  std::vector<Node*> done;  // each after its inputs
  std::unordered_set<Node*> seen{root};
  std::vector<Visit> path{{root, 0}};
  while (!path.empty()) {
    auto& [node, next] = path.back();
    if (next == node->inputs.size()) {
      done.push_back(node);
      path.pop_back();
      continue;
    }
    Node* const input = node->inputs[next++].get();
    if (seen.insert(input).second) path.push_back({input, 0});
  }
  std::reverse(done.begin(), done.end());
  return done;
}

}  // namespace course
