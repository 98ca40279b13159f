// Graph: nodes that the judge describes, for the runners of tasks 2.3 and 2.4.
#pragma once

#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

#include "core/autodiff.h"
#include "runner/message.h"

// "nodes" is how many there are. Edge i goes from node users[i] to its next input, node inputs[i]; -1
// is an input that is null. Nodes are made in the order of their numbers.
struct Graph {
  std::vector<std::shared_ptr<course::Node>> nodes;

  explicit Graph(const Message& in) {
    for (long i = in.number("nodes"); i > 0; --i) nodes.push_back(std::make_shared<course::Node>());
    const std::vector<long> users = in.longs("users"), inputs = in.longs("inputs");
    for (size_t i = 0; i < users.size(); ++i)
      nodes.at(users[i])->inputs.push_back(inputs[i] < 0 ? nullptr : nodes.at(inputs[i]));
  }
  // Numbers of nodes; -1 for a pointer that is none of them.
  std::vector<long> numbers(const std::vector<course::Node*>& found) const {
    std::map<const course::Node*, long> number;
    for (size_t i = 0; i < nodes.size(); ++i) number[nodes[i].get()] = static_cast<long>(i);
    std::vector<long> out;
    for (const course::Node* each : found) out.push_back(number.count(each) ? number[each] : -1);
    return out;
  }
  // The numbers of a node's inputs; -1 for null.
  std::vector<long> inputs_of(size_t node) const {
    std::vector<course::Node*> all;
    for (const auto& each : nodes[node]->inputs) all.push_back(each.get());
    return numbers(all);
  }
  ~Graph() {
    for (const auto& each : nodes) each->inputs.clear();
  }
};
