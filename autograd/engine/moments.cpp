// Convolutions make moments where batch norm took their last output.
#include "gradus/autograd/engine/moments.h"

#include <memory>
#include <utility>

#include "gradus/autograd/engine/made_beside.h"
#include "gradus/tensor/level.h"

namespace gradus::autograd {

namespace {

thread_local MadeBeside last_made;

// The parameter that a weight is, or that one operation made it of.
std::shared_ptr<TensorImpl> parameter_of(const Tensor& weight) {
  const AutogradMeta* const meta = meta_of(weight);
  if (!meta) return nullptr;
  if (!meta->grad_fn) return weight.impl_ptr();
  if (meta->grad_fn->num_outputs() != 1) return nullptr;
  const Node* const from = meta->grad_fn->next_edge(0).function.get();
  const auto* const parameter = dynamic_cast<const AccumulateGrad*>(from);
  return parameter ? parameter->variable().impl_ptr() : nullptr;
}

void expect_moments(const std::weak_ptr<TensorImpl>& parameter, bool expected) {
  if (const auto impl = parameter.lock(); impl && impl->autograd)
    static_cast<AutogradMeta&>(*impl->autograd).is_normalized = expected;
}

}  // namespace

bool may_make_moments(const Tensor& weight) {
  return !batching::here() && parameter_of(weight) != nullptr;
}

raw::PartMoments room_for_moments(const Tensor& weight, int64_t parts, int64_t filters) {
  const auto& meta = static_cast<const AutogradMeta&>(*parameter_of(weight)->autograd);
  if (!meta.is_normalized) return {};
  return {raw::empty({2, parts, filters}, kFloat, weight.device())};
}

void made_moments(const Tensor& output, const Tensor& weight, const raw::PartMoments& moments) {
  // Nobody took the last ones: they were made in vain, and are not made again.
  if (last_made.what().defined()) expect_moments(last_made.parameter(), false);
  last_made = {};
  if (!output.is_inference()) last_made = {output, parameter_of(weight), moments.table};
}

raw::PartMoments take_moments(const Tensor& x) {
  if (!last_made.is_of(x)) return {};
  const MadeBeside found = std::exchange(last_made, {});
  const bool unchanged = found.is_unchanged(x);
  expect_moments(found.parameter(), unchanged);
  return unchanged ? raw::PartMoments{found.what(), true} : raw::PartMoments();
}

}  // namespace gradus::autograd
