// LOSES: before its inputs
// Breadth first: by the shortest distance from the root, where the longest decides.
#include <algorithm>
#include <unordered_set>

#include "core/autodiff.h"

namespace course {

std::vector<Node*> order(Node* root) {
  std::unordered_set<Node*> seen{root};
  std::vector<Node*> out{root};
  for (size_t i = 0; i < out.size(); ++i)
    for (const auto& input : out[i]->inputs)
      if (input != nullptr && seen.insert(input.get()).second) out.push_back(input.get());
  return out;
}

}  // namespace course
