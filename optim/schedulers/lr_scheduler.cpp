// The step of a schedule.
#include "gradus/optim/schedulers/lr_scheduler.h"

namespace gradus::optim {

void LRScheduler::step() {
  set_lrs(get_lrs());
  ++step_count_;
}

std::vector<double> LRScheduler::get_current_lrs() const {
  std::vector<double> out;
  for (const OptimizerParamGroup& group : optimizer_.param_groups())
    out.push_back(group.options().get_lr());
  return out;
}

void LRScheduler::set_lrs(const std::vector<double>& rates) {
  auto& groups = optimizer_.param_groups();
  check(rates.size() == groups.size(), algorithm_name(typeid(*this)), ": there are ", rates.size(),
        " learning rates for ", groups.size(), " parameter groups; give one for each");
  for (size_t g = 0; g < groups.size(); ++g) groups[g].options().set_lr(rates[g]);
}

}  // namespace gradus::optim
