// AutogradContext, and the node of a function of one's own.
#include "gradus/autograd/tools/function.h"

#include <algorithm>

#include "gradus/autograd/engine/inplace.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::autograd {

namespace {
bool among(const Tensors& list, const Tensor& x) {
  return std::any_of(list.begin(), list.end(), [&](const Tensor& y) { return y.is_same(x); });
}
}  // namespace

Tensors AutogradContext::get_saved_variables() const {
  Tensors out;
  for (size_t i = 0; i < saved_; ++i) out.push_back(node_->saved(i));
  return out;
}

bool AutogradContext::needs_input_grad(std::initializer_list<IndexRange> ranges) const {
  for (auto [first, last] : ranges)
    for (size_t i = first; i < last; ++i)
      if (needs_input_grad(i)) return true;
  return false;
}

void FunctionNodeBase::note_tensor(const Tensor& input) {
  is_tensor_.push_back(true);
  inputs_.push_back(input);
  add_next_edge(input.defined() ? gradient_edge(input) : Edge{});
}

bool FunctionNodeBase::records() const {
  return GradMode::is_enabled() && std::any_of(inputs_.begin(), inputs_.end(), [](const Tensor& x) {
           return x.defined() && x.requires_grad();
         });
}

// A result of forward as the caller gets it. An input that was changed in place is itself. Any
// other result gets a handle of its own, so that an input that is handed through keeps its own
// history. A result that shares memory with an input counts as a view of it.
Tensor FunctionNodeBase::output(const Tensor& result) {
  if (among(context.dirty_, result)) return result;
  const auto shares = [&](const Tensor& input) {
    return input.defined() && input.impl().storage == result.impl().storage;
  };
  if (std::none_of(inputs_.begin(), inputs_.end(), shares)) return raw::alias(result);
  Tensor out =
      raw::as_strided(result, result.impl().sizes, result.impl().strides, result.storage_offset());
  out.impl().creation_meta = autograd::CreationMeta::IN_CUSTOM_FUNCTION;
  return out;
}

void FunctionNodeBase::finish(Tensors& outputs) {
  for (const Tensor& dirty : context.dirty_) {
    check<Error>(among(inputs_, dirty), *this,
                 ": mark_dirty was given a tensor that is no input of forward, of shape ",
                 dirty.sizes(), "; give it an argument of forward itself, not a copy or a view");
    check_in_place("mark_dirty", dirty, true);
    dirty.impl().storage->bump_version();
  }
  context.saved_ = context.to_save_.size();
  for (const Tensor& tensor : context.to_save_) {
    const auto at = std::find_if(outputs.begin(), outputs.end(),
                                 [&](const Tensor& y) { return y.is_same(tensor); });
    save(tensor, at == outputs.end()
                     ? std::nullopt
                     : std::optional<uint32_t>(static_cast<uint32_t>(at - outputs.begin())));
  }
  for (Tensor& result : outputs) {
    const uint32_t nr = add_input_metadata(result);
    const bool differentiable =
        is_differentiable(result.dtype()) && !among(context.non_differentiable_, result);
    result = output(result);
    if (!differentiable) continue;
    if (result.is_view() &&
        result.impl().creation_meta != autograd::CreationMeta::IN_CUSTOM_FUNCTION)
      record_view_change(result, {getptr(), nr});
    else
      set_history(result, getptr(), nr);
  }
  inputs_.clear();
  context.to_save_.clear();
  context.dirty_.clear();
  context.non_differentiable_.clear();
}

Tensors FunctionNodeBase::materialize(Tensors&& grads) const {
  for (size_t i = 0; context.materialize_grads_ && i < grads.size(); ++i)
    if (!grads[i].defined())
      grads[i] = zeros(meta(i).sizes, TensorOptions(meta(i).dtype).device(meta(i).device));
  return std::move(grads);
}

Tensors FunctionNodeBase::tensors_only(Tensors&& grads) const {
  // More than there are arguments may stand there, undefined.
  while (grads.size() > is_tensor_.size() && !grads.back().defined()) grads.pop_back();
  check<Error>(grads.size() == is_tensor_.size(), *this,
               ": backward returned an incorrect number of gradients (expected ", is_tensor_.size(),
               ", got ", grads.size(),
               "); return one for each argument of forward, Tensor() where there is none");
  Tensors out;
  for (size_t i = 0; i < grads.size(); ++i) {
    if (is_tensor_[i])
      out.push_back(std::move(grads[i]));
    else
      check<Error>(!grads[i].defined(), *this, ": backward returned a gradient for argument ", i,
                   ", which is no Tensor; return Tensor() for it");
  }
  return out;
}

}  // namespace gradus::autograd
