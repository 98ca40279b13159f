// The step of a schedule that is a function of the number of steps.
#include "gradus/optim/schedulers/closed_form_lr.h"

namespace gradus::optim {

namespace {
// The option called momentum or, in Adam's options, beta1.
void set_momentum(OptimizerOptions& options, double value) {
  for (const Field& field : options.fields())
    if (field.name == "momentum" || field.name == "betas.0") {
      *std::get<double*>(field.value) = value;
      return;
    }
  fail(algorithm_name(typeid(options)),
       " has neither momentum nor betas, which this schedule changes; set cycle_momentum to false");
}
}  // namespace

ClosedFormLR::ClosedFormLR(Optimizer& optimizer, Form form)
    : LRScheduler(optimizer), form_(std::move(form)) {
  set_lrs(rates_after(0));
}

void ClosedFormLR::step(int64_t epoch) {
  check(epoch >= 0, algorithm_name(typeid(*this)), ": the step is ", epoch, ", expected 0 or more");
  set_lrs(rates_after(epoch));
  step_count_ = static_cast<unsigned>(epoch);
}

void ClosedFormLR::load_state_dict(const OrderedDict<std::string, Tensor>& state) {
  const Tensor* const steps = state.find("last_epoch");
  const bool is_number = steps && steps->defined() && steps->numel() == 1;
  if (const int64_t step = is_number ? steps->item<int64_t>() : -1; step >= 0)
    for (size_t g = 0; g < optimizer().param_groups().size(); ++g)
      form_(optimizer().param_groups()[g].options().get_lr(), step, g);
  LRScheduler::load_state_dict(state);
}

std::vector<double> ClosedFormLR::rates_after(int64_t step) {
  std::vector<Scheduled> all;
  auto& groups = optimizer().param_groups();
  for (OptimizerParamGroup& group : groups) {
    if (!group.initial_lr()) group.set_initial_lr(group.options().get_lr());
    all.push_back(form_(*group.initial_lr(), step, all.size()));
  }
  std::vector<double> rates;
  for (size_t g = 0; g < groups.size(); ++g) {
    if (all[g].momentum) set_momentum(groups[g].options(), *all[g].momentum);
    rates.push_back(all[g].lr);
  }
  return rates;
}

}  // namespace gradus::optim
