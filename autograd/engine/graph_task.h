// One run of the graph backwards: every node once, after all nodes that send it a gradient. The
// nodes wait in a queue ordered by their sequence number, so no call recurses, however deep the
// graph.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <unordered_map>

#include "gradus/autograd/engine/node.h"

namespace gradus::autograd {

// A gradient that autograd::grad() asks for: the one that arrives at input input_nr of a node.
struct Capture {
  Edge edge;
  Tensor grad;
};

class GraphTask {
 public:
  // captures: null to accumulate into all leaves. Otherwise only nodes that lead to one of the
  // captured edges run; captured leaves accumulate too where `accumulate`.
  GraphTask(bool keep_graph, std::vector<Capture>* captures, bool accumulate)
      : keep_graph_(keep_graph), captures_(captures), accumulate_(accumulate) {}

  // REQUIRES: grad has the shape, dtype and device that root.function expects.
  void add_root(const Edge& root, Tensor grad);
  // Runs on this thread. Deeply nested backward passes run on another thread, which has a fresh
  // stack, and this thread waits.
  void execute();
  // The callbacks run in their order after the last node.
  void add_callback(std::function<void()> f) { callbacks_.push_back(std::move(f)); }
  // Whether the gradients that enter a node lead to one that is asked for.
  bool needs(const Node* node) const;
  // Do what the functions below say.
  bool enters_alone(const Node& sender, size_t index) const;
  bool may_be_wide(const Node& sender, size_t index);
  Tensor sum_to_add(const Node& sender, size_t index, std::optional<ScalarType> dtype);
  Tensor room_for_copy(const Node& sender, size_t index);
  Tensor room_for_sums(const Node& sender, size_t index);
  Tensor sums_of(const Node& node, size_t index, const Tensor& grad);

 private:
  // A gradient, the same in a half type, and the sums of the columns of the last of these two.
  struct Copied {
    Tensor grad, copy, sums;
    uint32_t version = 0;  // of grad when these were made
    size_t index = 0;      // which gradient of the running node
    // Whether they are of x as it is.
    bool is_of(const Tensor& x) const;
    // Whether there is a copy in that form.
    bool has_copy(const Node::Meta& wanted) const;
  };
  struct State {
    int pending = 0;     // gradients still to come
    bool needed = true;  // leads to a capture
    bool queued = false;
    Tensors grads;  // one per forward output, summed so far
    Copied copied;  // of the gradient of the first output
  };
  struct Later {
    bool operator()(const Node* a, const Node* b) const {
      return a->sequence_nr() < b->sequence_nr();
    }
  };

  void discover(Node* root);
  bool is_captured(const Node& node) const {
    return captures_ && std::ranges::any_of(*captures_, [&](const Capture& capture) {
             return capture.edge.function.get() == &node;
           });
  }
  bool leads_to_capture(const Node& node) const;
  void run_all();
  void push(Node* node);
  void process(Node* node);
  bool applies(Node* node, const Tensors& grads) const;
  Tensors call(Node* node, Tensors grads);
  void deliver(Node* node, Tensors out);
  bool comes_last(const Node& sender, size_t index) const;
  bool sums_for_bias(const Edge& edge) const;
  bool takes_as_is(const Node& sender, size_t index, ScalarType dtype) const;

  Copied came_;        // with the gradient of the running node
  Copied made_;        // by the running node
  uint64_t wide_ = 0;  // a bit for each gradient of the running node that may_be_wide()
  bool keep_graph_;
  std::vector<Capture>* captures_;
  bool accumulate_;
  std::unordered_map<const Node*, State> states_;
  std::vector<std::pair<Edge, Tensor>> roots_;
  std::vector<std::function<void()>> callbacks_;
  std::priority_queue<Node*, std::vector<Node*>, Later> ready_;
};

// The gradient in the shape, dtype and device of its tensor: summed over broadcast dimensions and
// converted, so that derivatives need not do it. `sender`: the node that computed it; null for the
// caller of backward(). Errors: Error where the shape does not broadcast from the tensor's.
Tensor fit(Tensor grad, const Node::Meta& meta, const Node* sender, size_t index);

// Whether a backward pass runs on this thread.
bool in_backward_pass();
// The node whose backward runs on this thread, or null.
Node* evaluating_node();
// The sequence number of the next node that this thread makes.
uint64_t next_sequence_number();
// Whether the backward pass on this thread needs the gradients that enter the node; true where none
// runs.
bool needed_by_task(const Node* node);
// Whether the gradient number `index` that the running node computes is all that enters the node it
// goes to: nothing is added to it, and no hook or capture sees it first.
bool enters_alone(const Node& sender, size_t index);
// Whether the running node may give its gradient number `index` in Float instead of a half type:
// the next node converted a Float to that type, and would convert the gradient back.
bool may_be_wide(const Node& sender, size_t index);
// The sum of the gradients that have come so far where gradient number `index` of the running node
// goes, if there are some. The node must add it to its own: it is taken away. The sum is
// contiguous. A given dtype is that of the sum, which may then be dense in any memory format.
Tensor sum_to_add(const Node& sender, size_t index, std::optional<ScalarType> dtype = std::nullopt);
// Memory for gradient number `index` of the running node in a half type, beside that in Float: the
// next node hands it on to one that takes it so. Undefined where none does. REQUIRES: the node
// fills it, and its gradient is the last that the next node gets, but for sum_to_add().
Tensor room_for_copy(const Node& sender, size_t index);
// Memory for the sums of the columns of gradient number `index` of the running node, in Float; of
// the copy that room_for_copy() was asked for before, where there is one. The node that gets it
// needs them for a bias, and they save a pass over the gradient. Undefined elsewhere. REQUIRES: as
// for room_for_copy().
Tensor room_for_sums(const Node& sender, size_t index);
// The running node gives the sums of the columns of `grad`, which it got, as its gradient number
// `index`. Undefined where the sender has not made them.
Tensor sums_of(const Node& node, size_t index, const Tensor& grad);

}  // namespace gradus::autograd
