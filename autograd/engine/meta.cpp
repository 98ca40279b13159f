// A tensor's history and gradient: requires_grad, grad, grad_fn, backward, detach; AccumulateGrad.
#include "gradus/autograd/engine/meta.h"

#include <algorithm>
#include <utility>

#include "gradus/autograd/engine/as_strided.h"
#include "gradus/autograd/engine/engine.h"
#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/autograd/engine/inplace.h"
#include "gradus/autograd/engine/level_edges.h"
#include "gradus/tensor/base/warning.h"
#include "gradus/tensor/batching/storage.h"
#include "gradus/tensor/batching/undo.h"
#include "gradus/tensor/nonfinite.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

AutogradMeta& ensure_meta(const Tensor& x) {
  if (!x.impl().autograd) x.impl().autograd = std::make_unique<AutogradMeta>();
  return *meta_of(x);
}

namespace {
// Whether x lies as the gradient of a leaf does: in the leaf's order where that has no gaps in
// memory, else row-major.
bool lies_as_gradient(const Tensor& leaf, const Tensor& x) {
  if (leaf.is_contiguous() || !leaf.is_non_overlapping_and_dense()) return x.is_contiguous();
  return x.strides() == leaf.strides();
}
Tensor copy_as_gradient(const Tensor& leaf, const Tensor& x) {
  const Tensor out = leaf.is_non_overlapping_and_dense() ? raw::empty_as(leaf, x.scalar_type())
                                                         : raw::empty_like(x);
  raw::copy_(out, x);
  return out;
}
}  // namespace

bool owns_alone(const Tensor& x) {
  return x.impl_ptr().use_count() == 1 && owners_of(x.impl().storage) == 1;
}

void accumulate_grad(const Tensor& leaf, const Tensor& fresh, bool take) {
  AutogradMeta& meta = ensure_meta(leaf);
  const std::lock_guard lock(meta.mutex);
  batching::before_change(&meta, batching::depth_of(leaf), [&]() -> batching::Undo::Restore {
    return [of = std::weak_ptr(leaf.impl_ptr()), before = meta.grad] {
      const std::shared_ptr<TensorImpl> now = of.lock();
      if (now) static_cast<AutogradMeta&>(*now->autograd).grad = before;
      return now != nullptr;
    };
  });
  const auto may_take = [&] {
    return take || (owns_alone(fresh) && lies_as_gradient(leaf, fresh));
  };
  if (GradMode::is_enabled()) {  // the gradient has a graph of its own: never change it in place
    if (meta.grad.defined())
      meta.grad = meta.grad.add(fresh);
    else
      meta.grad = may_take() ? fresh : fresh.clone(MemoryFormat::Contiguous);
  } else if (meta.grad.defined()) {
    raw::zip_(BinaryOp::add, meta.grad, fresh);
    meta.grad.impl().storage->bump_version();
  } else {
    meta.grad = may_take() ? raw::alias(fresh) : copy_as_gradient(leaf, fresh);
  }
}

AccumulateGrad::AccumulateGrad(const Tensor& leaf)
    : Node("torch::autograd::AccumulateGrad"), leaf_(leaf) {
  run_first();
  add_input_metadata(leaf);
}

Tensors AccumulateGrad::apply(Tensors&& grads) {
  const Tensor expected = std::exchange(next_, Tensor());
  const Tensor& grad = grads[0];
  if (!grad.defined()) return {};
  // Post hooks are shown what entered, and may find it to be grad().
  const NodeHooks* hooks = find_hooks();
  const bool hooked = hooks && !hooks->after.empty() && grad.impl_ptr().use_count() == 2 &&
                      owners_of(grad.impl().storage) == 1 && lies_as_gradient(leaf_, grad);
  accumulate_grad(leaf_, grad, hooked || (expected.defined() && expected.is_same(grad)));
  // Hooks may remove hooks.
  for (const TensorHook& hook : std::vector<TensorHook>(tensor_hooks()))
    if (hook.accumulated) hook.call(leaf_);
  const auto called = post_accumulate_;
  for (const auto& hook : called) (*hook)(leaf_);
  return {};
}

autograd::PostAccumulateGradHook* AccumulateGrad::sole_hook() const {
  const NodeHooks* others = find_hooks();
  const bool alone = post_accumulate_.size() == 1 && (!others || others->after.empty());
  return alone && !leaf_.grad().defined() ? post_accumulate_[0].get() : nullptr;
}

namespace {

bool base_requires_grad(const TensorImpl& view) {
  const auto* meta = static_cast<const AutogradMeta*>(view.view_of->autograd.get());
  return meta && (meta->requires_grad || meta->grad_fn);
}

// Keeps the gradient of x, which another node is about to compute.
void move_retained(const AutogradMeta& meta, Node& to, uint32_t output_nr) {
  std::vector<TensorHook>& from = meta.grad_fn->tensor_hooks();
  const auto keeps = [&](const TensorHook& hook) { return hook.retains == &meta; };
  const auto hook = std::find_if(from.begin(), from.end(), keeps);
  if (hook == from.end()) return;
  to.tensor_hooks().push_back(std::move(*hook));
  to.tensor_hooks().back().output_nr = output_nr;
  from.erase(hook);
}

// The history of a view whose memory was changed since: it is read out of its base as that is now.
void replay_view(const Tensor& view) {
  static std::mutex mutex;  // replays are rare and short
  const std::lock_guard lock(mutex);
  TensorImpl& impl = view.impl();
  const uint32_t version = impl.storage->version();
  if (impl.history_version.load(std::memory_order_relaxed) == version) return;
  check_view_origin(view, "its base or another view of its base has been");
  set_history(view, as_strided_node(Tensor(impl.view_of), view), 0);
  impl.history_version.store(version, std::memory_order_release);
}

// Brings the history of a view up to date. Only then may anybody read what a replay writes, since
// another thread may replay at the same time.
void refresh(const Tensor& x) {
  const TensorImpl& impl = x.impl();
  if (!impl.view_of ||
      impl.history_version.load(std::memory_order_acquire) == impl.storage->version())
    return;
  if (base_requires_grad(impl)) replay_view(x);
}

}  // namespace

Edge own_edge(const Tensor& x) {
  refresh(x);
  AutogradMeta* meta = meta_of(x);
  if (!meta) return {};
  if (meta->grad_fn) return {meta->grad_fn, meta->output_nr};
  if (!meta->requires_grad) return {};
  const std::lock_guard lock(meta->mutex);
  std::shared_ptr<Node> node = meta->accumulator.lock();
  if (!node) meta->accumulator = node = make_node<AccumulateGrad>(x);
  return {std::move(node), 0};
}

Edge gradient_edge(const Tensor& x) {
  if (batching::here()) [[unlikely]]
    return edge_into_level(x);
  return own_edge(x);
}

void set_history(const Tensor& x, std::shared_ptr<Node> node, uint32_t output_nr) {
  AutogradMeta& meta = ensure_meta(x);
  if (meta.retains_grad && meta.grad_fn) move_retained(meta, *node, output_nr);
  meta.grad_fn = std::move(node);
  meta.output_nr = output_nr;
}

bool Tensor::requires_grad() const {
  if (is_view() && base_requires_grad(impl())) return true;
  const AutogradMeta* meta = meta_of(*this);
  return meta && (meta->requires_grad || meta->grad_fn);
}

const Tensor& Tensor::set_requires_grad(bool requires_grad) const {
  check<TypeError>(!requires_grad || is_differentiable(dtype()),
                   "requires_grad_: Only Tensors of floating point and complex dtype can require "
                   "gradients, not of ",
                   dtype(), "; convert with .to(kFloat)");
  if (!requires_grad && !is_leaf())
    fail<Error>("requires_grad_: you can only change requires_grad flags of leaf variables. ",
                grad_fn()->label(), " computed this one; use detach()");
  check<Error>(!requires_grad || !is_inference() || thread_modes.inference,
               "requires_grad_: Setting requires_grad=True on inference tensor outside "
               "InferenceMode is not allowed. clone() it and let the clone require grad");
  if (is_leaf() && (requires_grad || impl().autograd))
    ensure_meta(*this).requires_grad = requires_grad;
  return *this;
}

Tensor& Tensor::requires_grad_(bool requires_grad) const {
  set_requires_grad(requires_grad);
  return handle();
}

const Tensor& Tensor::grad() const {
  static const Tensor none;
  const AutogradMeta* meta = meta_of(*this);
  if (!meta) return none;
  if (!meta->grad.defined() && !is_leaf() && !retains_grad())
    warn(
        "grad: the tensor is not a leaf Tensor, so that backward() puts no gradient here; call "
        "retain_grad() before it, or ask a leaf");
  return meta->grad;
}

Tensor& Tensor::mutable_grad() const { return ensure_meta(*this).grad; }

bool Tensor::is_leaf() const {
  const AutogradMeta* meta = meta_of(*this);
  return !meta || !meta->grad_fn;
}

const std::shared_ptr<Node>& Tensor::grad_fn() const {
  static const std::shared_ptr<Node> none;
  refresh(*this);
  const AutogradMeta* meta = meta_of(*this);
  return meta ? meta->grad_fn : none;
}

uint32_t Tensor::output_nr() const {
  const AutogradMeta* meta = meta_of(*this);
  return meta ? meta->output_nr : 0;
}

uint32_t Tensor::_version() const {
  check<Error>(!is_inference(), "_version: an inference tensor does not count its changes");
  return impl().storage->version();
}

Tensor Tensor::_base() const {
  check<Error>(is_view(), "_base: the tensor of shape ", sizes(), " is not a view");
  return Tensor(impl().view_of);
}

void Tensor::backward(const Tensor& gradient, std::optional<bool> retain_graph, bool create_graph,
                      std::optional<TensorList> inputs) const {
  check<Error>(
      !inputs || !inputs->empty(),
      "backward: inputs is an empty list, which cannot be empty; leave it out for all leaves");
  autograd::backward({operand("backward")}, {gradient}, retain_graph, create_graph,
                     inputs ? inputs->vec() : Tensors{});
}

Tensor Tensor::detach() const { return raw::alias(operand("detach")); }

Tensor& Tensor::detach_() const {
  check<Error>(!is_view(),
               "detach_: the tensor is a view, which cannot be detached in place; use detach(), "
               "which returns a new tensor");
  if (AutogradMeta* meta = meta_of(*this)) {
    meta->grad_fn = nullptr;
    meta->requires_grad = false;
    meta->output_nr = 0;
  }
  return handle();
}

void Tensor::set_data(const Tensor& new_data) const {
  check<TypeError>(!requires_grad() || is_differentiable(new_data.dtype()),
                   "set_data: new_data has dtype ", new_data.dtype(),
                   ", and the tensor requires grad, which needs a floating one");
  before_change_of_handle(*this);
  TensorImpl& to = impl();
  const TensorImpl& from = new_data.impl();
  to.storage = from.storage, to.dtype = from.dtype, to.contiguous = from.contiguous;
  to.offset = from.offset, to.numel = from.numel, to.sizes = from.sizes, to.strides = from.strides;
  to.history_version = from.storage->version();
  // The accumulator knows the old geometry.
  if (AutogradMeta* meta = meta_of(*this)) meta->accumulator.reset();
}

}  // namespace gradus
