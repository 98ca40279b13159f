// The step of every optimizer of optimizers.def: all but an algorithm's coefficients and formula.
#include <algorithm>
#include <typeinfo>

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/optim/step.h"
#include "gradus/tensor/base/observed.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::optim {

Tensor Optimizer::step(LossClosure closure) {
  const Observed<Optimizer> observed(*this);
  const Tensor loss = evaluate(closure);
  const NoGradGuard guard;
  std::vector<Due> due = check_step();
  const bool gated = can_gate(due);
  std::vector<void*> uncertain;
  if (gated)
    for (const Due& one : due) uncertain.push_back(&one.parameter->impl());
  if (count_passed_over(uncertain)) due = check_step();  // by the counts as they are now
  if (!gated && found_inf_.defined()) {
    if (found_inf_.item<double>() != 0) return loss;
    found_inf_ = Tensor();
  }
  std::vector<Due*> left;
  left.reserve(due.size());
  for (Due& one : due) left.push_back(&one);
  std::vector<Batch> batches;  // all, before one is changed: memory may end
  while (!left.empty()) {
    const Due& first = *left[0];
    const auto rest = std::stable_partition(left.begin(), left.end(),
                                            [&](const Due* one) { return one->goes_with(first); });
    batches.push_back(prepare({left.begin(), rest}));
    left.erase(left.begin(), rest);
  }
  for (Batch& batch : batches) step_together(batch);
  if (gated) skipped_.add_(found_inf_);
  return loss;
}

std::vector<Optimizer::Due> Optimizer::check_step() const {
  std::vector<Due> out;
  size_t parameters = 0;
  for (const OptimizerParamGroup& group : groups_) parameters += group.params().size();
  check_some(typeid(*this), parameters);
  out.reserve(parameters);
  for (size_t number = 0; number < groups_.size(); ++number) {
    const OptimizerParamGroup& group = groups_[number];
    check_options(group);
    for (const Tensor& parameter : group.params()) {
      const Tensor& grad = parameter.grad();
      if (!grad.defined() || parameter.numel() + grad.numel() == 0) continue;
      check_gradient(parameter);
      const auto kept = state_.find(&parameter.impl());
      auto made = kept == state_.end() ? new_state() : nullptr;
      OptimizerParamState& state = made ? *made : *kept->second;
      Due one{&parameter, &grad, number, computed_type(parameter.dtype()), &state, std::move(made)};
      one.step = step_of(group.options(), state);
      auto next = one.tensors.begin();
      unsigned left_out = one.step.without;
      for (const Field& field : state.fields())
        if (auto* const* count = std::get_if<int64_t*>(&field.value)) {
          one.steps = *count;
        } else if (auto* const* tensor = std::get_if<Tensor*>(&field.value)) {
          if ((*tensor)->defined() && (*tensor)->sizes() != parameter.sizes())
            fail(algorithm_name(typeid(*this)), ": a parameter has shape ", parameter.sizes(),
                 ", and its ", field.name, " ", (*tensor)->sizes(),
                 "; make a new optimizer after the parameter has been replaced");
          if (!(left_out & 1) && next != one.tensors.end()) *next++ = *tensor;
          left_out >>= 1;
        }
      out.push_back(std::move(one));
    }
  }
  return out;
}

// The elements of x in the order in memory that those of `like` have.
static Tensor in_order_of(const Tensor& like, const Tensor& x) {
  if ((x.is_contiguous() && like.is_contiguous()) || x.strides() == like.strides()) return x;
  const Tensor out = raw::empty_as(like, x.scalar_type());
  raw::copy_(out, x);
  return out;
}

Optimizer::Batch Optimizer::prepare(std::vector<Due*> due) const {
  Batch out{std::move(due), {}};
  out.updated.reserve(out.due.size());
  for (const Due* one : out.due) {
    UpdatedParameter& next = out.updated.emplace_back();
    // A copy of a parameter that has gaps in memory, or is float16 or bfloat16.
    const Tensor wide = raw::to(*one->parameter, one->dtype);
    next.parameter = wide.is_non_overlapping_and_dense() ? wide : raw::contiguous(wide);
    next.gradient = in_order_of(next.parameter, raw::to(*one->gradient, one->dtype));
    next.coefficients = one->step.coefficients;
    if (found_inf_.defined()) next.found_inf = found_inf_, next.skipped = skipped_;
    for (int k = 0; k < one->step.states; ++k) {
      const Tensor& kept = *one->tensors[k];
      if (!kept.defined()) next.fresh |= 1u << k;
      next.states[k] = kept.defined() ? in_order_of(next.parameter, beside(kept, *one->parameter))
                                      : raw::empty_as(next.parameter, next.parameter.scalar_type());
    }
  }
  return out;
}

void Optimizer::step_together(Batch& batch) {
  auto& [due, updated] = batch;
  const Step& step = due[0]->step;
  cuda::Graph* const graph = graph_of(updated[0].parameter);
  if (graph)
    capture(*graph, due, updated);
  else
    backend(updated[0].parameter).update(step.op, step.states, updated);
  for (size_t i = 0; i < due.size(); ++i) {
    Due& one = *due[i];
    if (!one.parameter->is_same(updated[i].parameter))
      raw::copy_(*one.parameter, updated[i].parameter);
    if (graph) continue;  // whose replays count
    one.parameter->impl().storage->bump_version();
    for (int k = 0; k < step.states; ++k) *one.tensors[k] = updated[i].states[k];
    if (one.steps) ++*one.steps;
    if (one.made) state_[&one.parameter->impl()] = std::move(one.made);
  }
}

}  // namespace gradus::optim
