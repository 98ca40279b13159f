// Task 2.3: an order in which each node of a graph stands before its inputs.
#include <algorithm>
#include <unordered_set>

#include "core/autodiff.h"

namespace course {

std::vector<Node*> order(Node* root) {
  // BEGIN SOLUTION 2.3
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
    if (input != nullptr && seen.insert(input).second) path.push_back({input, 0});
  }
  std::reverse(done.begin(), done.end());
  return done;
  // END SOLUTION 2.3
}

}  // namespace course
