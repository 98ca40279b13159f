// LOSES: deep
// Right, but by recursion: 100,000 calls do not fit into the stack.
#include <algorithm>
#include <unordered_set>

#include "core/autodiff.h"

namespace course {

static void visit(Node* node, std::unordered_set<Node*>& seen, std::vector<Node*>& done) {
  if (node == nullptr || !seen.insert(node).second) return;
  for (const auto& input : node->inputs) visit(input.get(), seen, done);
  done.push_back(node);
}

std::vector<Node*> order(Node* root) {
  std::unordered_set<Node*> seen;
  std::vector<Node*> done;
  visit(root, seen, done);
  std::reverse(done.begin(), done.end());
  return done;
}

}  // namespace course
