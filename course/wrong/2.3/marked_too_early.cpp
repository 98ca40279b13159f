// LOSES: before its inputs
// Marks a node as met when it is put on the list, not when it is entered: it may get done before others that need it later.
#include <algorithm>
#include <unordered_set>

#include "core/autodiff.h"

namespace course {

std::vector<Node*> order(Node* root) {
  std::unordered_set<Node*> met{root};
  std::vector<Node*> done;
  std::vector<std::pair<Node*, bool>> waiting{{root, false}};
  while (!waiting.empty()) {
    const auto [node, entered] = waiting.back();
    waiting.pop_back();
    if (entered) {
      done.push_back(node);
      continue;
    }
    waiting.push_back({node, true});
    for (const auto& input : node->inputs)
      if (input != nullptr && met.insert(input.get()).second) waiting.push_back({input.get(), false});
  }
  std::reverse(done.begin(), done.end());
  return done;
}

}  // namespace course
