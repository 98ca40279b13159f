// The graph: a Node per recorded operation, with an Edge to the node of each of its inputs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gradus/tensor/tensor.h"

namespace gradus {

// Where a gradient goes: input `input_nr` of a node's backward. No function: nowhere.
struct Edge {
  std::shared_ptr<Node> function;
  uint32_t input_nr = 0;
  bool is_valid() const { return function != nullptr; }
};

// A tensor kept for the backward pass. Unpacking checks that it has not been changed in place.
class Saved {
 public:
  // output_nr: the tensor is that output of the owning node; it is kept without its history, which
  // would own the node that owns it.
  Saved(const Tensor& tensor, std::optional<uint32_t> output_nr);
  // Errors: Error where the tensor was changed since.
  Tensor unpack(const std::shared_ptr<Node>& owner) const;

 private:
  Tensor tensor_;
  uint32_t version_ = 0;
  std::optional<uint32_t> output_nr_;
};

// A function that sees the gradient of one forward output, and may replace it.
struct TensorHook {
  uint32_t output_nr;
  unsigned handle;
  std::function<Tensor(const Tensor&)> call;
};

class Node : public std::enable_shared_from_this<Node> {
 public:
  // What a gradient must look like: that of the tensor it belongs to.
  struct Meta {
    Dims sizes;
    ScalarType dtype;
    Device device;
  };
  using PostHook = std::function<void(const TensorList& outputs, const TensorList& inputs)>;

  explicit Node(std::string name);
  virtual ~Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  // Gradients of the forward outputs in, gradients of the forward inputs out (undefined: zero).
  virtual TensorList apply(const TensorList& grads) = 0;
  // Frees what the backward pass needed.
  virtual void release();
  virtual std::vector<TensorHook>& tensor_hooks() { return tensor_hooks_; }

  const std::string& name() const { return name_; }
  // Later nodes have larger numbers, so an edge always points to a smaller one.
  uint64_t sequence_nr() const { return sequence_nr_; }
  const std::vector<Edge>& next_edges() const { return next_edges_; }
  size_t num_inputs() const { return metas_.size(); }
  const Meta& meta(size_t i) const { return metas_[i]; }
  // Whether the gradient of forward input i is needed at all.
  bool wants(size_t i) const { return next_edges_[i].is_valid(); }
  // The i-th saved tensor. Errors: Error after release(), or where it was changed in place.
  Tensor saved(size_t i);

  unsigned add_post_hook(PostHook hook);
  void run_post_hooks(const TensorList& outputs, const TensorList& inputs) const;

  // For recording.
  void add_next_edge(Edge edge) { next_edges_.push_back(std::move(edge)); }
  uint32_t add_input(const Tensor& forward_output);
  void save(const Tensor& tensor, std::optional<uint32_t> output_nr) {
    saved_.emplace_back(tensor, output_nr);
  }

 private:
  std::string name_;
  uint64_t sequence_nr_;
  std::vector<Edge> next_edges_;
  std::vector<Meta> metas_;
  std::vector<Saved> saved_;
  bool released_ = false;
  std::vector<TensorHook> tensor_hooks_;
  std::vector<PostHook> post_hooks_;
};

// Frees nodes one after the other, however long the chain of them.
struct NodeDeleter {
  void operator()(Node* node) const;
};
template <class N, class... Args>
std::shared_ptr<N> make_node(Args&&... args) {
  return std::shared_ptr<N>(new N(std::forward<Args>(args)...), NodeDeleter{});
}

}  // namespace gradus
