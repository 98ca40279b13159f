// The backward pass: counting edges, the queue of nodes, hooks, and sums of gradients.
#include "gradus/autograd/engine/graph_task.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "gradus/autograd/engine/any_dtype.h"
#include "gradus/autograd/engine/engine.h"
#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/autograd/functions.h"
#include "gradus/tensor/base/observed.h"
#include "gradus/tensor/base/thread.h"
#include "gradus/tensor/batching/storage.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::autograd {

namespace {

// The backward pass that runs on this thread. One within another takes its place until it ends.
struct Running {
  GraphTask* task = nullptr;
  Node* node = nullptr;
  int depth = 0;  // of backward passes within one another
  GraphTask* outermost = nullptr;
};
thread_local constinit Running running;

constexpr int kMaxDepth = 60;  // on one stack

class Scope {
 public:
  explicit Scope(Running inner) : outer_(std::exchange(running, inner)) {}
  ~Scope() { running = outer_; }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Running outer_;
};

bool has_nan(const Tensor& x) {
  if (!is_differentiable(x.dtype()) || x.numel() == 0) return false;
  const Tensor count = raw::reduce(ReduceOp::sum, raw::zip(BinaryOp::ne, x, x), {});
  return raw::item(count).toLong() > 0;
}

void run_hooks(const Node& node, Tensors& grads) {
  const std::vector<TensorHook>* found = node.find_tensor_hooks();
  if (!found) return;
  for (const TensorHook& hook : std::vector<TensorHook>(*found)) {  // hooks may remove hooks
    Tensor& grad = grads[hook.output_nr];
    if (hook.accumulated || !grad.defined()) continue;
    Tensor replaced = hook.call(grad);
    if (!replaced.defined()) continue;
    check<Error>(replaced.sizes() == grad.sizes() && replaced.dtype() == grad.dtype() &&
                     replaced.device() == grad.device(),
                 "backward: a hook has changed the gradient of output ", hook.output_nr, " of ",
                 node, " from ", grad.dtype(), " ", grad.sizes(), " on ", grad.device(), " to ",
                 replaced.dtype(), " ", replaced.sizes(), " on ", replaced.device(),
                 "; return one of the same kind");
    grad = std::move(replaced);
  }
}

// Whether somebody sees what the node computes before it is summed up.
bool is_watched(const Node& node) {
  const NodeHooks* hooks = node.find_hooks();
  return (hooks && !hooks->after.empty()) ||
         (AnomalyMode::is_enabled() && AnomalyMode::should_check_nan());
}

// Whether a GPU adds grad to the sum as it is: no digit is lost. The sum has the dtype wanted.
bool is_added_as_is(const Tensor& sum, const Tensor& grad) {
  const bool is_half = grad.dtype() == kHalf || grad.dtype() == kBFloat16;
  return sum.defined() && sum.dtype() == kFloat && is_half && grad.is_cuda() &&
         !GradMode::is_enabled() && !batching::here();
}

}  // namespace

bool in_backward_pass() { return running.task != nullptr; }
Node* evaluating_node() { return running.node; }
bool needed_by_task(const Node* node) { return !running.task || running.task->needs(node); }
bool enters_alone(const Node& sender, size_t index) {
  return running.node == &sender && running.task->enters_alone(sender, index);
}

bool may_be_wide(const Node& sender, size_t index) {
  return running.node == &sender && running.task->may_be_wide(sender, index);
}

Tensor sum_to_add(const Node& sender, size_t index, std::optional<ScalarType> dtype) {
  return running.node == &sender ? running.task->sum_to_add(sender, index, dtype) : Tensor();
}

Tensor room_for_copy(const Node& sender, size_t index) {
  return running.node == &sender ? running.task->room_for_copy(sender, index) : Tensor();
}

Tensor room_for_sums(const Node& sender, size_t index) {
  return running.node == &sender ? running.task->room_for_sums(sender, index) : Tensor();
}

Tensor sums_of(const Node& node, size_t index, const Tensor& grad) {
  return running.node == &node ? running.task->sums_of(node, index, grad) : Tensor();
}

Tensor fit(Tensor grad, const Node::Meta& meta, const Node* sender, size_t index) {
  if (grad.sizes() != IntArrayRef(meta.sizes)) {
    if (!broadcasts_to(meta.sizes, grad.sizes()))
      fail<Error>("backward: ", sender ? sender->label() + " returned an " : "an ",
                  "invalid gradient at index ", index, " - got ", grad.sizes(),
                  " but expected shape compatible with ", meta.sizes);
    grad = grad.sum_to_size(meta.sizes);
  }
  if (grad.is_complex() && !isComplexType(meta.dtype)) grad = real(grad);
  if (grad.dtype() != meta.dtype) grad = grad.to(meta.dtype);
  if (grad.device() != meta.device) grad = grad.to(meta.device);
  return grad;
}

void queue_callback(std::function<void()> f) {
  check<Error>(running.outermost != nullptr,
               "queue_callback: no backward pass runs on this thread; call it in a hook or in the "
               "backward of a function");
  running.outermost->add_callback(std::move(f));
}

void GraphTask::add_root(const Edge& root, Tensor grad) {
  discover(root.function.get());
  roots_.emplace_back(root, std::move(grad));
}

bool GraphTask::needs(const Node* node) const {
  if (!captures_) return true;
  const auto at = states_.find(node);
  return at == states_.end() || at->second.needed;
}

bool GraphTask::leads_to_capture(const Node& node) const {
  if (is_captured(node)) return true;
  for (const Edge& edge : node.next_edges())
    if (edge.is_valid() && states_.at(edge.function.get()).needed) return true;
  return false;
}

// Counts the edges that lead to every node reachable from a root, and finds which lead to a
// capture. A node is left after all nodes that its edges point to.
void GraphTask::discover(Node* root) {
  const auto enter = [&](Node* node) {
    const auto [at, fresh] = states_.try_emplace(node);
    if (fresh) at->second.grads.resize(node->num_inputs());
    return fresh;
  };
  if (!enter(root)) return;
  std::vector<std::pair<Node*, size_t>> path{{root, 0}};
  while (!path.empty()) {
    auto& [node, next] = path.back();
    if (next < node->next_edges().size()) {
      Node* child = node->next_edges()[next++].function.get();
      if (!child) continue;
      if (enter(child)) path.emplace_back(child, 0);
      ++states_.at(child).pending;
      continue;
    }
    if (captures_) states_.at(node).needed = leads_to_capture(*node);
    path.pop_back();
  }
}

void GraphTask::execute() {
  GraphTask* const outermost = running.outermost ? running.outermost : this;
  if (running.depth < kMaxDepth) {
    const Scope scope({this, nullptr, running.depth + 1, outermost});
    return run_all();
  }
  // A stack of its own: the depth is then bounded by memory alone.
  std::exception_ptr error;
  detail::Thread other("backward: a deep graph",
                       [&, modes = thread_modes, here = cuda_thread_state()] {
                         thread_modes = modes;
                         try {
                           here();
                           const Scope scope({this, nullptr, 1, outermost});
                           run_all();
                         } catch (...) {
                           error = std::current_exception();
                         }
                       });
  other.join();
  if (error) std::rethrow_exception(error);
}

void GraphTask::run_all() {
  for (auto& [edge, grad] : roots_) {
    Tensor& sum = states_.at(edge.function.get()).grads[edge.input_nr];
    sum = sum.defined() ? sum.add(grad) : std::move(grad);
  }
  for (auto& [edge, grad] : roots_)
    if (states_.at(edge.function.get()).pending == 0) push(edge.function.get());
  while (!ready_.empty()) {
    Node* node = ready_.top();
    ready_.pop();
    process(node);
  }
  for (size_t i = 0; i < callbacks_.size(); ++i) callbacks_[i]();  // they may add more
}

void GraphTask::push(Node* node) {
  if (!std::exchange(states_.at(node).queued, true)) ready_.push(node);
}

void GraphTask::process(Node* node) {
  State& state = states_.at(node);
  Tensors grads = std::move(state.grads);
  came_ = std::exchange(state.copied, {});
  run_hooks(*node, grads);
  if (captures_)
    for (Capture& capture : *captures_)
      if (capture.edge.function.get() == node) capture.grad = grads[capture.edge.input_nr];
  deliver(node, applies(node, grads) ? call(node, std::move(grads)) : Tensors{});
  came_ = {};
}

bool GraphTask::applies(Node* node, const Tensors& grads) const {
  if (std::none_of(grads.begin(), grads.end(), [](const Tensor& g) { return g.defined(); }))
    return false;
  if (!captures_) return true;
  if (!needs(node)) return false;
  if (node->next_edges().empty()) return accumulate_;
  return std::any_of(node->next_edges().begin(), node->next_edges().end(),
                     [&](const Edge& e) { return e.is_valid() && needs(e.function.get()); });
}

bool GraphTask::enters_alone(const Node& sender, size_t index) const {
  const Edge& edge = sender.next_edge(index);
  const State& state = states_.at(edge.function.get());
  if (state.pending != 1 || state.grads[edge.input_nr].defined() || is_captured(*edge.function))
    return false;
  const NodeHooks *before = edge.function->find_hooks(), *after = sender.find_hooks();
  const std::vector<TensorHook>* hooks = edge.function->find_tensor_hooks();
  return (!after || after->after.empty()) && (!hooks || hooks->empty()) &&
         (!before || before->before.empty());
}

bool GraphTask::may_be_wide(const Node& sender, size_t index) {
  constexpr size_t kBits = 64;
  const Node& next = *sender.next_edge(index).function;
  if (index >= kBits || GradMode::is_enabled() || !dynamic_cast<const TakesAnyDtype*>(&next) ||
      next.num_outputs() != 1 || !next.next_edge(0).is_valid() || !enters_alone(sender, index))
    return false;
  const Edge& back = next.next_edge(0);
  if (back.function->meta(back.input_nr).dtype != kFloat) return false;
  wide_ |= uint64_t{1} << index;
  return true;
}

Tensor GraphTask::sum_to_add(const Node& sender, size_t index, std::optional<ScalarType> dtype) {
  const Edge& edge = sender.next_edge(index);
  Tensor& sum = states_.at(edge.function.get()).grads[edge.input_nr];
  if (!sum.defined() || GradMode::is_enabled() || batching::here() || is_watched(sender)) return {};
  const bool fits = dtype ? sum.dtype() == *dtype && sum.is_contiguous(sum.suggest_memory_format())
                          : sum.is_contiguous();
  return fits ? std::exchange(sum, Tensor()) : Tensor();
}

// Whether the gradient goes to a node on a GPU that gets no other one any more, but for the sum so
// far that the sender adds.
bool GraphTask::comes_last(const Node& sender, size_t index) const {
  const Edge& edge = sender.next_edge(index);
  const State& state = states_.at(edge.function.get());
  return state.pending == 1 && !state.grads[edge.input_nr].defined() &&
         edge.function->meta(edge.input_nr).device.is_cuda() && !GradMode::is_enabled() &&
         !batching::here() && !is_watched(sender);
}

Tensor GraphTask::room_for_copy(const Node& sender, size_t index) {
  const Edge& edge = sender.next_edge(index);
  const Node& next = *edge.function;
  const Node::Meta& own = next.meta(edge.input_nr);
  if (own.dtype != kFloat || !dynamic_cast<const HandsOn*>(&next) || !comes_last(sender, index))
    return {};
  for (const Edge& onward : next.next_edges()) {
    if (!onward.is_valid() || !needs(onward.function.get())) continue;
    const Node::Meta& wanted = onward.function->meta(onward.input_nr);
    const bool is_half = wanted.dtype == kHalf || wanted.dtype == kBFloat16;
    if (!is_half || wanted.device != own.device ||
        IntArrayRef(wanted.sizes) != IntArrayRef(own.sizes))
      continue;
    made_.index = index;
    return made_.copy = raw::empty(own.sizes, wanted.dtype, own.device);
  }
  return {};
}

// Whether the node would add up the columns of the gradient to come by this edge in a pass apart.
bool GraphTask::sums_for_bias(const Edge& edge) const {
  if (!edge.is_valid() || !dynamic_cast<const AddsBias*>(edge.function.get())) return false;
  const Node& node = *edge.function;
  const Node::Meta& own = node.meta(edge.input_nr);
  const bool is_half = own.dtype == kHalf || own.dtype == kBFloat16;
  const Edge bias = node.num_outputs() > 2 ? node.next_edge(2) : Edge();
  return is_half && numel_of(own.sizes) >= kLargeMatrix && states_.at(&node).pending == 1 &&
         bias.is_valid() && needs(bias.function.get());
}

Tensor GraphTask::room_for_sums(const Node& sender, size_t index) {
  if (!comes_last(sender, index)) return {};
  const Edge& edge = sender.next_edge(index);
  const Node& next = *edge.function;
  const Node::Meta& own = next.meta(edge.input_nr);
  const bool copied = made_.copy.defined() && made_.index == index;
  const auto wants = [&](const Edge& onward) { return sums_for_bias(onward); };
  if (copied ? std::none_of(next.next_edges().begin(), next.next_edges().end(), wants)
             : !sums_for_bias(edge))
    return {};
  made_.index = index;
  return made_.sums = raw::empty({own.sizes.back()}, kFloat, own.device);
}

Tensor GraphTask::sums_of(const Node& node, size_t index, const Tensor& grad) {
  if (!came_.sums.defined() || !came_.is_of(grad)) return {};
  may_be_wide(node, index);  // else they are rounded
  return came_.sums;
}

bool GraphTask::Copied::is_of(const Tensor& x) const {
  return grad.defined() && x.is_same(grad) && version == grad.impl().storage->version();
}
bool GraphTask::Copied::has_copy(const Node::Meta& wanted) const {
  return copy.defined() && copy.dtype() == wanted.dtype &&
         copy.sizes() == IntArrayRef(wanted.sizes) && copy.device() == wanted.device;
}

// Whether the next node takes the gradient in that dtype. No digit is lost that a conversion would
// keep, and none is kept that it would round off but where the sender has asked.
bool GraphTask::takes_as_is(const Node& sender, size_t index, ScalarType dtype) const {
  const Edge& edge = sender.next_edge(index);
  const ScalarType wanted = edge.function->meta(edge.input_nr).dtype;
  if (dtype == wanted || !isFloatingType(dtype) || GradMode::is_enabled()) return false;
  const bool asked = index < 64 && (wide_ >> index & 1) != 0;
  return (asked || promoteTypes(dtype, wanted) == wanted) &&
         dynamic_cast<const TakesAnyDtype*>(edge.function.get()) && enters_alone(sender, index);
}

Tensors GraphTask::call(Node* node, Tensors grads) {
  wide_ = 0, made_ = {};
  const Scope scope({this, node, running.depth, running.outermost});
  const Observed<Node> observed(*node);
  try {
    const NodeHooks* hooks = node->find_hooks();
    if (hooks)
      for (const auto& hook : hooks->before) grads = (*hook)(grads);
    Tensors seen;
    if (hooks && !hooks->after.empty()) seen = grads;
    Tensors out = (*node)(std::move(grads));
    if (hooks)
      for (const auto& hook : hooks->after) out = (*hook)(out, seen);
    if (AnomalyMode::is_enabled() && AnomalyMode::should_check_nan())
      for (size_t i = 0; i < out.size(); ++i)
        check<Error>(!out[i].defined() || !has_nan(out[i]), "Function '", *node,
                     "' returned nan values in its ", i, "th output.");
    if (!keep_graph_) node->release_variables();
    return out;
  } catch (Error& error) {
    if (AnomalyMode::is_enabled())
      ForwardCall::report(*node, error);
    else
      error.add_context("\nin the backward of " + node->label());
    throw;
  }
}

void GraphTask::deliver(Node* node, Tensors out) {
  const edge_list& edges = node->next_edges();
  check<Error>(out.empty() || out.size() >= edges.size(), "backward: ", *node, " returned ",
               out.size(), " gradients, expected ", edges.size());
  for (size_t i = 0; i < edges.size(); ++i) {
    if (!edges[i].is_valid()) continue;
    Node* next = edges[i].function.get();
    State& state = states_.at(next);
    if (i < out.size() && out[i].defined()) {
      const Node::Meta& wanted = next->meta(edges[i].input_nr);
      Copied beside = made_.index == i ? std::exchange(made_, {}) : Copied();
      if (came_.is_of(out[i]) && came_.has_copy(wanted))
        out[i] = came_.copy, beside.sums = came_.sums;
      Tensor& sum = state.grads[edges[i].input_nr];
      std::optional<Node::Meta> as_is;
      if (takes_as_is(*node, i, out[i].scalar_type()) || is_added_as_is(sum, out[i]))
        as_is = wanted, as_is->dtype = out[i].scalar_type();
      Tensor grad = fit(std::move(out[i]), as_is ? *as_is : wanted, node, i);
      const bool is_first = !sum.defined();
      sum = is_first ? std::move(grad) : sum.add(grad);
      if (is_first && (beside.copy.defined() || beside.sums.defined())) {
        beside.grad = sum, beside.version = sum.impl().storage->version();
        state.copied = std::move(beside);
      }
    }
    if (--state.pending == 0) push(next);
  }
}

}  // namespace gradus::autograd
