// The data that autograd keeps beside a tensor, and the accumulator of a leaf's gradient.
#pragma once

#include <atomic>
#include <mutex>

#include "gradus/autograd/engine/node.h"

namespace gradus {

struct AutogradMeta final : AutogradMetaBase {
  bool requires_grad = false;  // of a leaf; a tensor with a grad_fn requires grad by it
  bool retains_grad = false;
  uint32_t output_nr = 0;  // which output of grad_fn this tensor is
  Tensor grad;
  std::shared_ptr<Node> grad_fn;  // null: a leaf
  std::weak_ptr<Node> accumulator;
  std::vector<TensorHook> hooks;  // of a leaf; others keep theirs at grad_fn
  std::mutex mutex;               // guards grad and accumulator
  // The half type in which a product took the last result of this weight of a normalisation
  // (autocast::room_for_copy). Float: none.
  std::atomic<ScalarType> copied_as = kFloat;
};

// Null where the tensor has nothing to do with gradients.
inline AutogradMeta* meta_of(const Tensor& x) {
  return static_cast<AutogradMeta*>(x.impl().autograd.get());
}
AutogradMeta& ensure_meta(const Tensor& x);

// Whether this handle is the only one to the tensor, and the tensor the only owner of its memory.
bool owns_alone(const Tensor& x);

// Adds `fresh` to the leaf's (or other tensor's) grad(). Where there is no grad() yet, `fresh`
// becomes it: without a copy where `take`, or where nobody else holds it.
void accumulate_grad(const Tensor& leaf, const Tensor& fresh, bool take = false);

// Adds its input to the leaf's grad().
class AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(const Tensor& leaf);
  std::vector<TensorHook>& tensor_hooks() override { return ensure_meta(leaf_).hooks; }
  const std::vector<TensorHook>* find_tensor_hooks() const override {
    return &ensure_meta(leaf_).hooks;
  }

  // Hooks are called in their order.
  void add_post_accumulate_hook(std::shared_ptr<autograd::PostAccumulateGradHook> hook) {
    post_accumulate_.push_back(std::move(hook));
  }
  void del_post_accumulate_hook(const autograd::PostAccumulateGradHook* hook) {
    std::erase_if(post_accumulate_, [hook](const auto& each) { return each.get() == hook; });
  }
  // The only hook, where no other sees the next gradient and there is none yet to add it to; null
  // otherwise.
  autograd::PostAccumulateGradHook* sole_hook() const;
  // The gradient that enters next is this one. grad() becomes it, though others may hold it.
  void take_next(const Tensor& grad) { next_ = grad; }

  Tensor variable() const { return leaf_; }

 private:
  Tensors apply(Tensors&& grads) override;
  Tensor leaf_, next_;
  std::vector<std::shared_ptr<autograd::PostAccumulateGradHook>> post_accumulate_;
};

// Where the gradient of x goes; invalid where x does not require grad.
Edge gradient_edge(const Tensor& x);
// Makes x output `output_nr` of node.
void set_history(const Tensor& x, std::shared_ptr<Node> node, uint32_t output_nr);

}  // namespace gradus
