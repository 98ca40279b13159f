// Function<T>: a user-defined differentiable function, as in libtorch.
//
//   struct Cube : autograd::Function<Cube> {
//     static Tensor forward(autograd::AutogradContext* ctx, const Tensor& x) {
//       ctx->save_for_backward({x});
//       return x * x * x;
//     }
//     static Tensors backward(autograd::AutogradContext* ctx, Tensors grads) {
//       const Tensor x = ctx->get_saved_variables()[0];
//       return {grads[0] * 3 * x * x};
//     }
//   };
//   Tensor y = Cube::apply(x);
#pragma once

#include <map>
#include <typeinfo>

#include "gradus/autograd/engine/record.h"
#include "gradus/autograd/tools/saved_value.h"

namespace gradus::autograd {

using Variable = Tensor;
using variable_list = Tensors;
using tensor_list = Tensors;
using IndexRange = std::pair<size_t, size_t>;  // [first, last)

// A new leaf that shares the memory of data.
inline Variable make_variable(const Tensor& data, bool requires_grad = false) {
  return data.defined() ? data.detach().set_requires_grad(requires_grad) : Variable();
}

// Carries values from forward to backward. Tensors belong in save_for_backward, which detects
// changes in place; saved_data is for everything else.
class AutogradContext {
 public:
  AutogradContext() = default;
  AutogradContext(const AutogradContext&) = delete;
  AutogradContext& operator=(const AutogradContext&) = delete;

  std::map<std::string, SavedValue> saved_data;

  void save_for_backward(Tensors tensors) { to_save_ = std::move(tensors); }
  // Errors: Error after the graph was freed, or where one of them was changed in place.
  Tensors get_saved_variables() const;
  // Says that forward has changed these inputs in place and returns them.
  void mark_dirty(const Tensors& inputs) { dirty_ = inputs; }
  // Marks outputs that get no gradient.
  void mark_non_differentiable(const Tensors& outputs) { non_differentiable_ = outputs; }
  // false: a gradient that did not arrive is undefined; true (the default): it is zeros.
  void set_materialize_grads(bool value) { materialize_grads_ = value; }
  // Whether the gradient of that Tensor among forward's arguments is needed; they count in order.
  bool needs_input_grad(size_t output_edge_index) const { return node_->wants(output_edge_index); }
  // Whether any in the ranges [first, last) is needed.
  bool needs_input_grad(std::initializer_list<IndexRange> ranges) const;

 private:
  friend class FunctionNodeBase;
  Tensors to_save_, dirty_, non_differentiable_;
  size_t saved_ = 0;
  bool materialize_grads_ = true;
  Node* node_ = nullptr;
};

// The common part of the nodes of all Functions.
class FunctionNodeBase : public Node {
 public:
  FunctionNodeBase() { context.node_ = this; }

  // Notes an argument of forward.
  template <class A>
  void note(const A& argument) {
    if constexpr (std::is_same_v<A, Tensor>)
      note_tensor(argument);
    else if constexpr (std::is_same_v<A, std::optional<Tensor>>)
      argument ? note_tensor(*argument) : is_tensor_.push_back(false);
    else if constexpr (std::is_convertible_v<const A&, TensorList>)
      for (const Tensor& input : TensorList(argument)) note_tensor(input);
    else
      is_tensor_.push_back(false);
  }
  bool records() const;
  // Sets the history of forward's results.
  void finish(Tensors& outputs);

  AutogradContext context;

 protected:
  Tensors materialize(Tensors&& grads) const;
  // The gradients of the Tensors among forward's arguments; each element of a list counts as one.
  // Errors: Error where backward did not return one gradient for each argument.
  Tensors tensors_only(Tensors&& grads) const;
  std::recursive_mutex mutex_;  // T::backward may change the context, and threads may share a node

 private:
  void note_tensor(const Tensor& input);
  Tensor output(const Tensor& result);
  Tensors inputs_;
  std::vector<bool> is_tensor_;  // of the arguments of forward, in order
};

template <class T>
class FunctionNode final : public FunctionNodeBase {
 public:
  std::string name() const override {
    return "torch::autograd::CppNode<" + readable_name(typeid(T)) + ">";
  }

 private:
  Tensors apply(Tensors&& grads) override {
    const std::lock_guard lock(mutex_);
    return tensors_only(T::backward(&context, materialize(std::move(grads))));
  }
};

template <class T>
class Function {
 public:
  // Runs T::forward without recording it, and records T::backward in its place. Returns what
  // T::forward returns.
  template <class... Args>
  static auto apply(Args&&... args) {
    auto node = make_node<FunctionNode<T>>();
    (node->note(args), ...);
    const bool records = node->records();
    auto result = [&] {
      const NoGradGuard guard;
      return T::forward(&node->context, std::forward<Args>(args)...);
    }();
    if (!records) return result;
    if constexpr (std::is_same_v<decltype(result), Tensor>) {
      Tensors outputs{result};
      node->finish(outputs);
      result = outputs[0];
    } else {
      node->finish(result);
    }
    return result;
  }
};

}  // namespace gradus::autograd
