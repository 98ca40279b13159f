// The hooks of tensors: register_hook, register_post_accumulate_grad_hook, remove_hook,
// retain_grad.
#include <algorithm>

#include "gradus/autograd/engine/meta.h"

namespace gradus {

namespace {

std::vector<TensorHook>& hooks_of(const Tensor& x) {
  const auto& node = x.grad_fn();
  return node ? node->tensor_hooks() : ensure_meta(x).hooks;
}

// Hooks that retain a gradient come last, since they keep what the others make of it.
void insert(std::vector<TensorHook>& hooks, TensorHook hook) {
  const auto at = std::find_if(hooks.begin(), hooks.end(),
                               [](const TensorHook& other) { return other.retains; });
  hooks.insert(hook.retains ? hooks.end() : at, std::move(hook));
}

}  // namespace

unsigned Tensor::add_hook(std::function<Tensor(const Tensor&)> hook, bool accumulated) const {
  const char* const op = accumulated ? "register_post_accumulate_grad_hook" : "register_hook";
  check<Error>(requires_grad(), op,
               ": cannot register a hook on a variable that doesn't require gradient; "
               "call requires_grad_() first");
  check<Error>(!accumulated || is_leaf(), op,
               ": post accumulate grad hooks cannot be registered on non-leaf tensors; use "
               "register_hook(), which sees their gradient");
  const unsigned handle = new_hook_handle();
  insert(hooks_of(*this), {output_nr(), handle, nullptr, std::move(hook), accumulated});
  return handle;
}

void Tensor::remove_hook(unsigned handle) const {
  const size_t removed = std::erase_if(
      hooks_of(*this), [handle](const TensorHook& hook) { return hook.handle == handle; });
  check(removed == 1, "remove_hook: Invalid index: the tensor has no hook ", handle,
        "; give what register_hook() returned, once");
}

void Tensor::retain_grad() const {
  check<Error>(requires_grad(),
               "retain_grad: can't retain_grad on Tensor that has requires_grad=False; call "
               "requires_grad_() first");
  AutogradMeta& meta = ensure_meta(*this);
  const auto& node = grad_fn();
  if (!node || meta.retains_grad) return;
  meta.retains_grad = true;
  const auto keep = [weak = std::weak_ptr(impl_)](const Tensor& grad) {
    if (auto impl = weak.lock()) {
      Tensor& kept = Tensor(impl).mutable_grad();
      kept = kept.defined() ? kept.add(grad) : grad.clone();
    }
    return Tensor();
  };
  insert(node->tensor_hooks(), {output_nr(), new_hook_handle(), &meta, keep});
}

bool Tensor::retains_grad() const {
  const AutogradMeta* meta = meta_of(*this);
  return meta && meta->retains_grad;
}

}  // namespace gradus
