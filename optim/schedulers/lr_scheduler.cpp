// The step of a schedule.
#include "gradus/optim/schedulers/lr_scheduler.h"

#include <cmath>
#include <limits>

#include "gradus/optim/check_state.h"
#include "gradus/tensor/factories.h"

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

OrderedDict<std::string, Tensor> LRScheduler::state_dict() const {
  std::vector<double> base;
  for (const OptimizerParamGroup& group : optimizer_.param_groups())
    base.push_back(group.initial_lr().value_or(std::nan("")));
  OrderedDict<std::string, Tensor> out;
  out.insert("last_epoch", full({}, static_cast<int64_t>(step_count_), kLong));
  out.insert("base_lrs", tensor(base, kDouble));
  return out;
}

void LRScheduler::load_state_dict(const OrderedDict<std::string, Tensor>& state) {
  check_state(algorithm_name(typeid(*this)), LRScheduler::state_dict(), state);
  const auto steps = state["last_epoch"].item<int64_t>();
  constexpr auto kMost = std::numeric_limits<unsigned>::max();
  check(steps >= 0 && steps <= kMost, algorithm_name(typeid(*this)),
        ": load_state_dict: last_epoch is ", steps, ", expected a number from 0 to ", kMost,
        "; give what state_dict() returned");
  step_count_ = static_cast<unsigned>(steps);
  auto& groups = optimizer_.param_groups();
  for (size_t g = 0; g < groups.size(); ++g) {
    const auto rate = state["base_lrs"][static_cast<int64_t>(g)].item<double>();
    if (!std::isnan(rate)) groups[g].set_initial_lr(rate);
  }
}

void LRScheduler::set_lrs(const std::vector<double>& rates) {
  auto& groups = optimizer_.param_groups();
  check(rates.size() == groups.size(), algorithm_name(typeid(*this)), ": there are ", rates.size(),
        " learning rates for ", groups.size(), " parameter groups; give one for each");
  for (size_t g = 0; g < groups.size(); ++g) groups[g].options().set_lr(rates[g]);
}

}  // namespace gradus::optim
