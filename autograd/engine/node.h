// The graph: a Node per recorded operation, with an Edge to the node of each of its inputs.
#pragma once

#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "gradus/autograd/engine/anomaly_mode.h"
#include "gradus/autograd/engine/hooks.h"
#include "gradus/autograd/engine/saved.h"
#include "gradus/tensor/base/small_list.h"

namespace gradus {

// Where a gradient goes: input `input_nr` of a node's backward. No function: nowhere.
struct Edge {
  std::shared_ptr<Node> function;
  uint32_t input_nr = 0;
  bool is_valid() const { return function != nullptr; }
  friend bool operator==(const Edge&, const Edge&) = default;
};
using edge_list = std::vector<Edge>;

class Node : public std::enable_shared_from_this<Node> {
 public:
  // The shape, dtype and device that a gradient must have: those of its tensor.
  struct Meta {
    Dims sizes;
    ScalarType dtype = kFloat;
    Device device = kCPU;
  };

  explicit Node(edge_list&& next_edges = {});
  // REQUIRES: name outlives the node.
  explicit Node(const char* name);
  virtual ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  // Gradients of the forward outputs in, gradients of the forward inputs out (undefined: zero).
  Tensors operator()(Tensors&& grads) { return apply(std::move(grads)); }
  // Frees what the backward pass needed.
  virtual void release_variables();

  // The name given to the constructor; without one, the name of the class.
  virtual std::string name() const;
  // The name in messages, without libtorch's namespace.
  std::string label() const;
  // Nodes made later by a thread have larger numbers. The backward pass runs large numbers first.
  uint64_t sequence_nr() const { return sequence_nr_; }
  std::shared_ptr<Node> getptr() { return shared_from_this(); }

  // --- Edges to the nodes of the forward inputs
  const edge_list& next_edges() const { return next_edges_; }
  const Edge& next_edge(size_t i) const { return next_edges_[i]; }
  uint32_t num_outputs() const { return static_cast<uint32_t>(next_edges_.size()); }
  void add_next_edge(Edge edge) { next_edges_.push_back(std::move(edge)); }
  void reserve_next_edges(size_t count) { next_edges_.reserve(count); }
  void set_next_edge(size_t i, Edge edge) { next_edges_[i] = std::move(edge); }
  void set_next_edges(edge_list&& edges) { next_edges_ = std::move(edges); }
  // Whether forward input i requires grad, or any in the ranges [first, last).
  // Errors: IndexError where there is no such input.
  bool should_compute_output(size_t i) const;
  bool should_compute_output(std::initializer_list<std::pair<size_t, size_t>> ranges) const;
  // Whether the gradient of forward input i is needed. autograd::grad() computes only the gradients
  // that lead to those it was asked for.
  bool wants(size_t i) const;

  // --- The forward outputs
  uint32_t num_inputs() const { return static_cast<uint32_t>(metas_.size()); }
  const Meta& meta(size_t i) const { return metas_[i]; }
  uint32_t add_input_metadata(const Tensor& forward_output);

  // --- Saved tensors
  void save(const Tensor& tensor, std::optional<uint32_t> output_nr) {
    saved_.add() = Saved(tensor, output_nr);
  }
  // The i-th saved tensor; undefined beyond the last. Errors: Error after release_variables(), or
  // where it was changed in place.
  Tensor saved(size_t i);

  // --- Hooks
  // Returns a handle for del_post_hook.
  uintptr_t add_post_hook(std::unique_ptr<autograd::FunctionPostHook>&& hook);
  // Whether there was such a hook.
  bool del_post_hook(uintptr_t handle);
  void add_pre_hook(std::unique_ptr<autograd::FunctionPreHook>&& hook);
  // The hooks of the gradients that enter: the node's own list, or that of its leaf.
  virtual std::vector<TensorHook>& tensor_hooks() { return hooks().tensor; }
  // Null where there are none.
  virtual const std::vector<TensorHook>* find_tensor_hooks() const {
    return hooks_ ? &hooks_->tensor : nullptr;
  }
  const NodeHooks* find_hooks() const { return hooks_.get(); }

  // Where the operation was called; null unless AnomalyMode or a NanGuard was on then.
  const autograd::ForwardCall* forward_call() const { return forward_call_.get(); }

 protected:
  virtual Tensors apply(Tensors&& grads) = 0;
  // Makes it run as soon as its gradients have arrived, before all other nodes.
  void run_first() { sequence_nr_ = UINT64_MAX; }

 private:
  NodeHooks& hooks();

  const char* name_ = nullptr;
  uint64_t sequence_nr_;
  edge_list next_edges_;
  SmallList<Meta, 1> metas_;
  SmallList<Saved, 2> saved_;
  bool released_ = false;
  std::mutex mutex_;  // guards the two above: backward passes may share a node
  std::unique_ptr<NodeHooks> hooks_;
  std::unique_ptr<autograd::ForwardCall> forward_call_;

  friend void end_node(Node* node, void (*end)(Node*));
  void (*end_)(Node*) = nullptr;
  Node* next_to_end_ = nullptr;
};

// Ends a node's life by `end`. A node that owned the last handle to the next one would end it
// recursively; here the nodes of a chain wait in a list and end one after the other.
void end_node(Node* node, void (*end)(Node*));
inline void delete_node(Node* node) {
  end_node(node, [](Node* n) { delete n; });
}

template <class N>
struct NodeAllocator : std::allocator<N> {
  template <class Other>
  struct rebind {
    using other = NodeAllocator<Other>;
  };
  NodeAllocator() = default;
  template <class Other>
  NodeAllocator(const NodeAllocator<Other>&) {}  // NOLINT: implicit, as allocators convert
  void destroy(Node* node) {
    end_node(node, [](Node* n) { n->~Node(); });
  }
};
template <class N, class... Args>
std::shared_ptr<N> make_node(Args&&... args) {
  return std::allocate_shared<N>(NodeAllocator<N>(), std::forward<Args>(args)...);
}
// Puts the label of a node into a message (error.h).
inline void append(std::string& out, const Node& node) { out += node.label(); }
unsigned new_hook_handle();
// The name of a type as C++ writes it.
std::string readable_name(const std::type_info& type);

namespace autograd {
using gradus::Edge, gradus::edge_list, gradus::Node;
inline void deleteNode(Node* node) { delete_node(node); }
}  // namespace autograd

}  // namespace gradus
