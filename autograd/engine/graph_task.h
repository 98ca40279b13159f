// One run of the graph backwards: every node once, after all nodes that send it a gradient. The
// nodes wait in a queue ordered by their sequence number, so no call recurses, however deep the
// graph.
#pragma once

#include <functional>
#include <queue>
#include <unordered_map>

#include "gradus/autograd/engine/node.h"

namespace gradus::autograd {

// A gradient that is asked for: the one that arrives at input input_nr of a node.
struct Capture {
  Edge edge;
  Tensor grad;
};

class GraphTask {
 public:
  // captures: null to accumulate into all leaves. Otherwise only what leads to one of the captured
  // edges runs; of the leaves, those that are captured accumulate where `accumulate`.
  GraphTask(bool keep_graph, std::vector<Capture>* captures, bool accumulate)
      : keep_graph_(keep_graph), captures_(captures), accumulate_(accumulate) {}

  // grad fits what root.function expects.
  void add_root(const Edge& root, Tensor grad);
  // Runs on this thread, or, where backward passes within one another are many, on another one
  // while this one waits.
  void execute();
  // Called, in order, when all nodes have run.
  void add_callback(std::function<void()> f) { callbacks_.push_back(std::move(f)); }
  // Whether the gradients that enter a node lead to one that is asked for.
  bool needs(const Node* node) const;
  bool keeps_graph() const { return keep_graph_; }
  // As the functions below.
  void rows_ready(const Node& sender, size_t index, const Tensor& grad, int64_t end);
  Tensor room(const Node& sender, size_t index, IntArrayRef sizes, ScalarType dtype, Device device);
  bool came_in_rows(const Node* node) const { return states_.at(node).in_rows; }

 private:
  struct State {
    int pending = 0;     // gradients still to come
    bool needed = true;  // leads to a capture
    bool queued = false;
    bool in_rows = false;  // it was told of rows of its gradient
    Tensors grads;         // one per forward output, summed so far
  };
  struct Later {
    bool operator()(const Node* a, const Node* b) const {
      return a->sequence_nr() < b->sequence_nr();
    }
  };

  void discover(Node* root);
  bool leads_to_capture(const Node& node) const;
  void run_all();
  void push(Node* node);
  void process(Node* node);
  bool applies(Node* node, const Tensors& grads) const;
  bool enters_whole(const Edge& edge, const Node& sender) const;
  Tensors call(Node* node, Tensors grads);
  void deliver(Node* node, Tensors out);

  bool keep_graph_;
  std::vector<Capture>* captures_;
  bool accumulate_;
  std::unordered_map<const Node*, State> states_;
  std::vector<std::pair<Edge, Tensor>> roots_;
  std::vector<std::function<void()>> callbacks_;
  std::priority_queue<Node*, std::vector<Node*>, Later> ready_;
};

// A gradient as its tensor wants it: summed over broadcast dimensions and converted to the dtype
// and device, so that no derivative has to. `sender`: what computed it; null for the caller of
// backward(). Errors: Error where the shape cannot be.
Tensor fit(Tensor grad, const Node::Meta& meta, const Node* sender, size_t index);

// The node whose backward runs on this thread, or null.
Node* evaluating_node();
// Whether the backward pass that runs on this thread, if any, needs the gradients that enter a
// node.
bool needed_by_task(const Node* node);
// Whether that pass, if any, keeps what it goes through for another one.
bool kept_by_task();

// To be called by a node that computes a large gradient row after row: tells the node that its
// gradient number `index` goes to of its first `end` rows, unless something else than this tensor
// as it is arrives there: a sum of several, a gradient that is hooked or captured, or of another
// shape, dtype or device. REQUIRES: the sender alone holds the tensor, and returns it.
void rows_ready(const Node& sender, size_t index, const Tensor& grad, int64_t end);
// Where such a node may compute that gradient: see Node::room. Undefined: anywhere.
Tensor room(const Node& sender, size_t index, IntArrayRef sizes, ScalarType dtype, Device device);
// Whether the node that runs was told of rows, or gave room: then only those it has shown them to,
// or who gave it, hold the tensor.
bool came_in_rows();

}  // namespace gradus::autograd
