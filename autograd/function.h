// Function<T>: a differentiable function of one's own, as in libtorch.
//
//   struct Cube : autograd::Function<Cube> {
//     static Tensor forward(autograd::AutogradContext* ctx, const Tensor& x) {
//       ctx->save_for_backward({x});
//       return x * x * x;
//     }
//     static TensorList backward(autograd::AutogradContext* ctx, TensorList grads) {
//       const Tensor x = ctx->get_saved_variables()[0];
//       return {grads[0] * 3 * x * x};
//     }
//   };
//   Tensor y = Cube::apply(x);
#pragma once

#include <map>
#include <variant>

#include "gradus/autograd/record.h"

namespace gradus::autograd {

using Variable = Tensor;
using variable_list = TensorList;
using tensor_list = TensorList;

// A value kept in ctx->saved_data between forward and backward.
class SavedValue {
 public:
  SavedValue() = default;
  template <class T>
  requires std::is_arithmetic_v<T> SavedValue(T value)
      : value_(Scalar(value)) {}                                        // NOLINT: implicit
  SavedValue(Tensor value) : value_(std::move(value)) {}                // NOLINT
  SavedValue(std::vector<int64_t> value) : value_(std::move(value)) {}  // NOLINT
  // Errors: std::bad_variant_access where the value is of another kind.
  int64_t toInt() const { return std::get<Scalar>(value_).toLong(); }
  double toDouble() const { return std::get<Scalar>(value_).toDouble(); }
  bool toBool() const { return std::get<Scalar>(value_).toBool(); }
  const Tensor& toTensor() const { return std::get<Tensor>(value_); }
  const std::vector<int64_t>& toIntVector() const { return std::get<std::vector<int64_t>>(value_); }

 private:
  std::variant<Scalar, Tensor, std::vector<int64_t>> value_;
};

// What forward hands to backward. Tensors belong into save_for_backward, which catches changes in
// place; saved_data is for everything else.
class AutogradContext {
 public:
  std::map<std::string, SavedValue> saved_data;

  void save_for_backward(TensorList tensors) { to_save_ = std::move(tensors); }
  TensorList get_saved_variables() const;
  // These outputs get no gradient.
  void mark_non_differentiable(const TensorList& outputs) { non_differentiable_ = outputs; }
  // false: a gradient that nobody sent arrives undefined instead of as zeros. Default true.
  void set_materialize_grads(bool value) { materialize_grads_ = value; }
  bool needs_input_grad(size_t output_edge_index) const { return node_->wants(output_edge_index); }

 private:
  template <class T>
  friend class FunctionNode;
  template <class T>
  friend class Function;
  TensorList to_save_, non_differentiable_;
  size_t saved_ = 0;
  bool materialize_grads_ = true;
  Node* node_ = nullptr;
};

template <class T>
class FunctionNode final : public Node {
 public:
  FunctionNode() { context.node_ = this; }
  AutogradContext context;
  std::vector<bool> is_tensor;  // of the arguments of forward, in order

 private:
  TensorList apply(TensorList&& grads) override;
  std::recursive_mutex mutex_;  // T::backward may change the context, and threads may share a node
};

template <class T>
class Function {
 public:
  // Runs T::forward without recording, and records T::backward for it. Returns what forward does.
  template <class... Args>
  static auto apply(Args&&... args);
};

// For the templates below.
void connect(Node& node, const std::vector<const Tensor*>& inputs);
void finish(const std::shared_ptr<Node>& node, TensorList& outputs,
            const TensorList& non_differentiable, const TensorList& to_save);
TensorList materialize(const Node& node, const TensorList& grads, bool zeros);
TensorList tensors_only(const Node& node, const std::vector<bool>& is_tensor, TensorList grads);

template <class T>
TensorList FunctionNode<T>::apply(TensorList&& grads) {
  const std::lock_guard lock(mutex_);
  TensorList out = T::backward(&context, materialize(*this, grads, context.materialize_grads_));
  return tensors_only(*this, is_tensor, std::move(out));
}

template <class T>
template <class... Args>
auto Function<T>::apply(Args&&... args) {
  auto node = make_node<FunctionNode<T>>();
  std::vector<const Tensor*> inputs;
  const auto note = [&](const auto& arg) {
    constexpr bool tensor = std::is_same_v<std::decay_t<decltype(arg)>, Tensor>;
    if constexpr (tensor) inputs.push_back(&arg);
    node->is_tensor.push_back(tensor);
  };
  (note(args), ...);
  bool records = false;
  for (const Tensor* input : inputs) records |= recording(*input);
  connect(*node, inputs);
  auto result = [&] {
    const NoGradGuard guard;
    return T::forward(&node->context, std::forward<Args>(args)...);
  }();
  if (!records) return result;
  AutogradContext& context = node->context;
  context.saved_ = context.to_save_.size();
  if constexpr (std::is_same_v<decltype(result), Tensor>) {
    TensorList outputs{result};
    finish(node, outputs, context.non_differentiable_, context.to_save_);
    result = outputs[0];
  } else {
    finish(node, result, context.non_differentiable_, context.to_save_);
  }
  context.to_save_.clear();
  context.non_differentiable_.clear();
  return result;
}

}  // namespace gradus::autograd
