#include "gradus/optim/optimizer.h"

#include "gradus/autograd/engine/engine.h"

namespace gradus::optim {

Optimizer::Optimizer(std::vector<OptimizerParamGroup> groups,
                     std::unique_ptr<OptimizerOptions> defaults)
    : defaults_(std::move(defaults)) {
  for (OptimizerParamGroup& group : groups) add_param_group(std::move(group));
  check(!parameters().empty(), "Optimizer: the list of parameters is empty");
}

void Optimizer::add_param_group(OptimizerParamGroup group) {
  Tensors known = parameters();
  for (const Tensor& parameter : group.params()) {
    check(parameter.is_leaf(), "Optimizer: a parameter of shape ", parameter.sizes(),
          " was computed from others; only leaves can be optimized");
    for (const Tensor& other : known)
      check(!other.is_same(parameter), "Optimizer: a parameter of shape ", parameter.sizes(),
            " is listed twice; list it once");
    known.push_back(parameter);
  }
  if (!group.has_options()) group.set_options(defaults_->clone());
  group.options().validate();
  groups_.push_back(std::move(group));
}

void Optimizer::zero_grad(bool set_to_none) {
  for (const OptimizerParamGroup& group : groups_)
    for (const Tensor& parameter : group.params()) autograd::clear_grad(parameter, set_to_none);
}

Tensors Optimizer::parameters() const {
  Tensors out;
  for (const OptimizerParamGroup& group : groups_)
    out.insert(out.end(), group.params().begin(), group.params().end());
  return out;
}

void Optimizer::check_step(const char* algorithm) const {
  for (const OptimizerParamGroup& group : groups_)
    for (const Tensor& parameter : group.params()) {
      const Tensor& grad = parameter.grad();
      if (!grad.defined()) continue;
      check(grad.sizes() == parameter.sizes() && grad.device() == parameter.device(), algorithm,
            ": a parameter has shape ", parameter.sizes(), " on ", parameter.device(),
            ", and its gradient ", grad.sizes(), " on ", grad.device(),
            "; call zero_grad() and backward() after the parameter has been replaced");
      const auto kept = state_.find(&parameter.impl());
      if (kept == state_.end() || !kept->second) continue;
      for (const auto& [name, field] : kept->second->fields()) {
        const auto* const tensor = std::get_if<Tensor*>(&field);
        if (!tensor || !(*tensor)->defined()) continue;
        check((*tensor)->sizes() == parameter.sizes(), algorithm, ": a parameter has shape ",
              parameter.sizes(), ", and its ", name, " ", (*tensor)->sizes(),
              "; make a new optimizer after the parameter has been replaced");
      }
    }
}

OptimizerParamState& Optimizer::state_of(const Tensor& parameter) {
  std::unique_ptr<OptimizerParamState>& kept = state_[&parameter.impl()];
  if (!kept) kept = new_state();
  return *kept;
}

}  // namespace gradus::optim
