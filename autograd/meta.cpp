#include "gradus/autograd/meta.h"

#include "gradus/autograd/engine.h"
#include "gradus/autograd/grad_mode.h"
#include "gradus/tensor/raw.h"

namespace gradus {

AutogradMeta& ensure_meta(const Tensor& x) {
  if (!x.impl().autograd) x.impl().autograd = std::make_unique<AutogradMeta>();
  return *meta_of(x);
}

AccumulateGrad::AccumulateGrad(const Tensor& leaf) : Node("AccumulateGrad"), leaf_(leaf) {
  add_input(leaf);
}

TensorList AccumulateGrad::apply(const TensorList& grads) {
  const Tensor& fresh = grads[0];
  if (!fresh.defined()) return {};
  AutogradMeta& meta = ensure_meta(leaf_);
  const std::lock_guard lock(meta.mutex);
  if (GradMode::is_enabled()) {  // the gradient has a graph of its own: never change it in place
    meta.grad = meta.grad.defined() ? meta.grad.add(fresh) : fresh;
  } else if (meta.grad.defined()) {
    raw::zip_(BinaryOp::add, meta.grad, fresh);
    meta.grad.impl().storage->bump_version();
  } else {
    // Taken as it is where nobody else holds it: `grads` does, once.
    const bool sole = fresh.impl_ptr().use_count() == 1 && fresh.impl().storage.use_count() == 1 &&
                      fresh.is_contiguous();
    meta.grad = sole ? raw::alias(fresh) : raw::clone(fresh);
  }
  return {};
}

Edge gradient_edge(const Tensor& x) {
  AutogradMeta* meta = meta_of(x);
  if (!meta) return {};
  if (meta->grad_fn) {
    if (x.is_view()) {
      const auto* base = static_cast<AutogradMeta*>(x.impl().view_of->autograd.get());
      check<Error>((base ? base->rebased : 0) == meta->base_rebased, "a view of shape ", x.sizes(),
                   " is used after the tensor that it views was "
                   "changed in place by a recorded operation; take the view again");
    }
    return {meta->grad_fn, meta->output_nr};
  }
  if (!meta->requires_grad) return {};
  const std::lock_guard lock(meta->mutex);
  std::shared_ptr<Node> node = meta->accumulator.lock();
  if (!node) meta->accumulator = node = make_node<AccumulateGrad>(x);
  return {std::move(node), 0};
}

void set_history(const Tensor& x, std::shared_ptr<Node> node, uint32_t output_nr) {
  AutogradMeta& meta = ensure_meta(x);
  meta.grad_fn = std::move(node);
  meta.output_nr = output_nr;
  if (x.is_view()) {
    const auto* base = static_cast<AutogradMeta*>(x.impl().view_of->autograd.get());
    meta.base_rebased = base ? base->rebased : 0;
  }
}

bool Tensor::requires_grad() const {
  const AutogradMeta* meta = meta_of(*this);
  return meta && (meta->requires_grad || meta->grad_fn);
}

const Tensor& Tensor::set_requires_grad(bool requires_grad) const {
  check<TypeError>(!requires_grad || is_floating_point(), "requires_grad_: dtype ", dtype(),
                   " is not a floating point type, and only those have gradients");
  check<Error>(requires_grad || is_leaf(),
               "requires_grad_: this tensor was computed from others (by ",
               is_leaf() ? "" : grad_fn()->name(),
               "), so it requires grad as they do; use detach() for one that does not");
  if (is_leaf() && (requires_grad || impl().autograd))
    ensure_meta(*this).requires_grad = requires_grad;
  return *this;
}

Tensor& Tensor::requires_grad_(bool requires_grad) {
  set_requires_grad(requires_grad);
  return *this;
}

const Tensor& Tensor::grad() const {
  static const Tensor none;
  const AutogradMeta* meta = meta_of(*this);
  return meta ? meta->grad : none;
}

Tensor& Tensor::mutable_grad() const { return ensure_meta(*this).grad; }

bool Tensor::is_leaf() const {
  const AutogradMeta* meta = meta_of(*this);
  return !meta || !meta->grad_fn;
}

const std::shared_ptr<Node>& Tensor::grad_fn() const {
  static const std::shared_ptr<Node> none;
  const AutogradMeta* meta = meta_of(*this);
  return meta ? meta->grad_fn : none;
}

uint32_t Tensor::output_nr() const {
  const AutogradMeta* meta = meta_of(*this);
  return meta ? meta->output_nr : 0;
}

unsigned Tensor::register_hook(std::function<Tensor(const Tensor&)> hook) const {
  check<Error>(requires_grad(),
               "register_hook: the tensor does not require grad, so no gradient "
               "will come; call requires_grad_() first");
  AutogradMeta& meta = ensure_meta(*this);
  const unsigned handle = new_hook_handle();
  auto& hooks = meta.grad_fn ? meta.grad_fn->tensor_hooks() : meta.hooks;
  hooks.push_back({meta.output_nr, handle, std::move(hook)});
  return handle;
}

void Tensor::remove_hook(unsigned handle) const {
  AutogradMeta* meta = meta_of(*this);
  const auto is_it = [handle](const TensorHook& hook) { return hook.handle == handle; };
  const size_t removed =
      meta ? std::erase_if(meta->grad_fn ? meta->grad_fn->tensor_hooks() : meta->hooks, is_it) : 0;
  check(removed == 1, "remove_hook: the tensor has no hook ", handle);
}

void Tensor::retain_grad() const {
  check<Error>(requires_grad(), "retain_grad: the tensor does not require grad");
  AutogradMeta& meta = ensure_meta(*this);
  if (is_leaf() || meta.retains_grad) return;
  meta.retains_grad = true;
  register_hook([weak = std::weak_ptr(impl_)](const Tensor& grad) {
    if (auto impl = weak.lock()) {
      Tensor& kept = Tensor(impl).mutable_grad();
      kept = kept.defined() ? kept.add(grad) : grad.clone();
    }
    return Tensor();
  });
}

void Tensor::backward(const Tensor& gradient, std::optional<bool> retain_graph,
                      bool create_graph) const {
  autograd::backward({*this}, {gradient}, retain_graph, create_graph);
}

Tensor Tensor::detach() const { return raw::alias(*this); }

Tensor& Tensor::detach_() {
  check<Error>(!is_view(),
               "detach_: the tensor is a view; use detach(), which returns a new tensor");
  if (AutogradMeta* meta = meta_of(*this)) {
    meta->grad_fn = nullptr;
    meta->requires_grad = false;
    meta->output_nr = 0;
  }
  return *this;
}

}  // namespace gradus
