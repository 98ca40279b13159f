// Runs the graph backwards: every node once, after all nodes that send it a gradient. The nodes
// wait in a queue ordered by their sequence number, so no call recurses, however deep the graph.
#include "gradus/autograd/engine.h"

#include <algorithm>
#include <queue>
#include <unordered_map>
#include <utility>

#include "gradus/autograd/functions.h"
#include "gradus/autograd/grad_mode.h"
#include "gradus/autograd/meta.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/raw.h"

namespace gradus::autograd {

namespace {

// A gradient is summed over broadcast dimensions and converted to the dtype and device of the
// tensor that it belongs to, so that no derivative has to.
Tensor fit(Tensor grad, const Node::Meta& meta, const Node& sender, size_t index) {
  if (grad.sizes() != IntArrayRef(meta.sizes)) {
    const auto fits = [&] {
      const size_t lead = grad.sizes().size() - meta.sizes.size();
      if (grad.sizes().size() < meta.sizes.size()) return false;
      for (size_t i = 0; i < meta.sizes.size(); ++i)
        if (meta.sizes[i] != 1 && meta.sizes[i] != grad.sizes()[lead + i]) return false;
      return true;
    };
    check<Error>(fits(), "backward: ", sender.name(), " returned a gradient of shape ",
                 grad.sizes(), " for its input ", index, " of shape ", meta.sizes);
    grad = grad.sum_to_size(meta.sizes);
  }
  if (grad.dtype() != meta.dtype) grad = grad.to(meta.dtype);
  if (grad.device() != meta.device) grad = grad.to(meta.device);
  return grad;
}

struct Task {
  int pending = 0;  // gradients still to come
  bool needed = true;
  bool queued = false;
  TensorList grads;  // one per forward output, summed so far
};

// One input of autograd::grad: the gradient that arrives at (node, input_nr).
struct Capture {
  std::shared_ptr<Node> node;
  uint32_t input_nr;
  Tensor grad;
};

class Run {
 public:
  Run(bool keep_graph, std::vector<Capture>* captures, bool accumulate)
      : keep_graph_(keep_graph), captures_(captures), accumulate_(accumulate) {}

  void start(const Edge& root, const Tensor& grad) {
    discover(root.function.get());
    roots_.push_back({root, grad});
  }

  void execute() {
    if (!accumulate_) mark_needed();
    for (auto& [edge, grad] : roots_) {
      Task& task = tasks_.at(edge.function.get());
      add(task, edge.input_nr, grad);
    }
    for (auto& [edge, grad] : roots_)
      if (tasks_.at(edge.function.get()).pending == 0) push(edge.function.get());
    while (!ready_.empty()) {
      Node* node = ready_.top().second;
      ready_.pop();
      process(node);
    }
  }

 private:
  // Counts, for every node reachable from a root, the edges that lead to it.
  void discover(Node* root) {
    if (!tasks_.try_emplace(root).second) return;
    tasks_.at(root).grads.resize(root->num_inputs());
    std::vector<Node*> stack{root};
    while (!stack.empty()) {
      Node* node = stack.back();
      stack.pop_back();
      for (const Edge& edge : node->next_edges()) {
        if (!edge.is_valid()) continue;
        auto [at, fresh] = tasks_.try_emplace(edge.function.get());
        ++at->second.pending;
        if (!fresh) continue;
        at->second.grads.resize(edge.function->num_inputs());
        stack.push_back(edge.function.get());
      }
    }
  }

  // A node is needed where a captured input can be reached from it. Edges point to smaller sequence
  // numbers, so one pass in increasing order settles it.
  void mark_needed() {
    std::vector<Node*> nodes;
    for (auto& [node, task] : tasks_) nodes.push_back(node);
    std::sort(nodes.begin(), nodes.end(),
              [](Node* a, Node* b) { return a->sequence_nr() < b->sequence_nr(); });
    for (Node* node : nodes) {
      bool needed = false;
      for (const Capture& capture : *captures_) needed |= capture.node.get() == node;
      for (const Edge& edge : node->next_edges())
        needed |= edge.is_valid() && tasks_.at(edge.function.get()).needed;
      tasks_.at(node).needed = needed;
    }
  }

  void push(Node* node) {
    if (std::exchange(tasks_.at(node).queued, true)) return;
    ready_.push({node->sequence_nr(), node});
  }

  static void add(Task& task, uint32_t input_nr, Tensor grad) {
    Tensor& sum = task.grads[input_nr];
    sum = sum.defined() ? sum.add(grad) : std::move(grad);
  }

  void process(Node* node) {
    Task& task = tasks_.at(node);
    TensorList grads = std::move(task.grads);
    for (const TensorHook& hook : std::vector<TensorHook>(node->tensor_hooks())) {
      Tensor& grad = grads[hook.output_nr];
      if (!grad.defined()) continue;
      const Tensor replaced = hook.call(grad);
      if (replaced.defined()) grad = fit(replaced, node->meta(hook.output_nr), *node, 0);
    }
    if (captures_)
      for (Capture& capture : *captures_)
        if (capture.node.get() == node) capture.grad = grads[capture.input_nr];
    const bool applies =
        runs(node, task) &&
        std::any_of(grads.begin(), grads.end(), [](const Tensor& grad) { return grad.defined(); });
    TensorList out;
    if (applies) {
      out = node->apply(grads);
      node->run_post_hooks(out, grads);
      if (!keep_graph_) node->release();
    }
    deliver(node, std::move(out));
  }

  // With captures, leaves only report, and nodes run where one of theirs is needed.
  bool runs(Node* node, const Task& task) const {
    if (accumulate_) return true;
    if (!task.needed) return false;
    for (const Edge& edge : node->next_edges())
      if (edge.is_valid() && tasks_.at(edge.function.get()).needed) return true;
    return false;
  }

  void deliver(Node* node, TensorList out) {
    const auto& edges = node->next_edges();
    check<Error>(out.empty() || out.size() >= edges.size(), "backward: ", node->name(),
                 " returned ", out.size(), " gradients, expected ", edges.size());
    for (size_t i = 0; i < edges.size(); ++i) {
      if (!edges[i].is_valid()) continue;
      Node* next = edges[i].function.get();
      Task& task = tasks_.at(next);
      if (i < out.size() && out[i].defined())
        add(task, edges[i].input_nr,
            fit(std::move(out[i]), next->meta(edges[i].input_nr), *node, i));
      if (--task.pending == 0) push(next);
    }
  }

  bool keep_graph_;
  std::vector<Capture>* captures_;
  bool accumulate_;
  std::unordered_map<Node*, Task> tasks_;
  std::vector<std::pair<Edge, Tensor>> roots_;
  std::priority_queue<std::pair<uint64_t, Node*>> ready_;
};

void run(const char* op, const TensorList& roots, const TensorList& root_grads,
         std::optional<bool> retain_graph, bool create_graph, std::vector<Capture>* captures) {
  check(root_grads.empty() || root_grads.size() == roots.size(), op, ": ", roots.size(),
        " tensors, and ", root_grads.size(), " gradients for them; expected as many, or none");
  Run state(retain_graph.value_or(create_graph), captures, captures == nullptr);
  const AutoGradMode mode(create_graph);
  for (size_t i = 0; i < roots.size(); ++i) {
    const Tensor& root = roots[i];
    const Edge edge = gradient_edge(root);
    check<Error>(edge.is_valid(), op, ": tensor ", i, " of shape ", root.sizes(),
                 " does not require grad and has no grad_fn; nothing it was computed from "
                 "requires grad");
    Tensor grad = i < root_grads.size() ? root_grads[i] : Tensor();
    if (!grad.defined()) {
      check<Error>(root.numel() == 1, op,
                   ": grad can be implicitly created only for scalar outputs, and tensor ", i,
                   " has shape ", root.sizes(), "; pass a gradient, or reduce it with sum() first");
      grad = ones_like(root);
    }
    check<Error>(grad.sizes() == root.sizes(), op, ": gradient ", i, " has shape ", grad.sizes(),
                 ", and its tensor ", root.sizes());
    state.start(edge, fit(grad, edge.function->meta(edge.input_nr), *edge.function, i));
  }
  state.execute();
}

std::vector<Capture> captures_of(const char* op, const TensorList& inputs) {
  std::vector<Capture> out;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Edge edge = gradient_edge(inputs[i]);
    check<Error>(edge.is_valid(), op, ": input ", i, " of shape ", inputs[i].sizes(),
                 " does not require grad; call requires_grad_() on it before computing");
    out.push_back({edge.function, edge.input_nr, Tensor()});
  }
  return out;
}

}  // namespace

void backward(const TensorList& tensors, const TensorList& grad_tensors,
              std::optional<bool> retain_graph, bool create_graph, const TensorList& inputs) {
  if (inputs.empty())
    return run("backward", tensors, grad_tensors, retain_graph, create_graph, nullptr);
  auto captures = captures_of("backward", inputs);
  run("backward", tensors, grad_tensors, retain_graph, create_graph, &captures);
  const AutoGradMode mode(create_graph);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!captures[i].grad.defined()) continue;
    Tensor& grad = inputs[i].mutable_grad();
    grad = grad.defined() ? grad.add(captures[i].grad) : captures[i].grad;
  }
}

void clear_grad(const Tensor& x, bool set_to_none) {
  if (!x.grad().defined()) return;
  Tensor& grad = x.mutable_grad();
  if (set_to_none) {
    grad = Tensor();
  } else {
    grad = grad.detach();
    grad.zero_();
  }
}

TensorList grad(const TensorList& outputs, const TensorList& inputs, const TensorList& grad_outputs,
                std::optional<bool> retain_graph, bool create_graph, bool allow_unused) {
  check(!inputs.empty(), "grad: no inputs were given; list the tensors to differentiate by");
  auto captures = captures_of("grad", inputs);
  run("grad", outputs, grad_outputs, retain_graph, create_graph, &captures);
  TensorList out;
  for (size_t i = 0; i < captures.size(); ++i) {
    check<Error>(allow_unused || captures[i].grad.defined(),
                 "grad: the outputs do not depend on "
                 "input ",
                 i, " of shape ", inputs[i].sizes(), "; pass allow_unused = true if that is meant");
    out.push_back(captures[i].grad);
  }
  return out;
}

}  // namespace gradus::autograd
