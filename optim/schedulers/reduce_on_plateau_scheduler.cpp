// Lower learning rates once a metric no longer improves.
#include "gradus/optim/schedulers/reduce_on_plateau_scheduler.h"

#include <algorithm>
#include <iostream>
#include <limits>

#include "gradus/optim/check_state.h"
#include "gradus/tensor/factories.h"

namespace gradus::optim {

ReduceLROnPlateauScheduler::ReduceLROnPlateauScheduler(Optimizer& optimizer, SchedulerMode mode,
                                                       double factor, int patience,
                                                       double threshold,
                                                       ThresholdMode threshold_mode, int cooldown,
                                                       const std::vector<float>& min_lr, double eps,
                                                       bool verbose)
    : optimizer_(optimizer),
      mode_(mode),
      factor_(factor),
      patience_(patience),
      threshold_(threshold),
      threshold_mode_(threshold_mode),
      cooldown_(cooldown),
      min_lrs_(min_lr),
      eps_(eps),
      verbose_(verbose),
      best_(mode == min ? std::numeric_limits<double>::infinity()
                        : -std::numeric_limits<double>::infinity()) {
  check(factor < 1, "ReduceLROnPlateauScheduler: Factor should be < 1.0, got ", factor,
        "; give a part of the rate, such as 0.1");
  const size_t groups = optimizer.param_groups().size();
  if (min_lrs_.empty()) min_lrs_.assign(groups, 0);
  check(min_lrs_.size() == groups, "ReduceLROnPlateauScheduler: min_lr has ", min_lrs_.size(),
        " numbers, expected ", groups, ", one for each parameter group; leave it out for 0");
}

void ReduceLROnPlateauScheduler::step(double metric) {
  ++steps_;
  if (is_better(metric)) {
    best_ = metric;
    bad_steps_ = 0;
  } else {
    ++bad_steps_;
  }
  if (cooldown_left_ > 0) {
    --cooldown_left_;
    bad_steps_ = 0;
  }
  if (bad_steps_ <= patience_) return;
  reduce_lr();
  cooldown_left_ = cooldown_;
  bad_steps_ = 0;
}

OrderedDict<std::string, Tensor> ReduceLROnPlateauScheduler::state_dict() const {
  OrderedDict<std::string, Tensor> out;
  out.insert("best", full({}, best_, kDouble));
  out.insert("num_bad_epochs", full({}, bad_steps_, kLong));
  out.insert("cooldown_counter", full({}, cooldown_left_, kLong));
  out.insert("last_epoch", full({}, steps_, kLong));
  return out;
}

void ReduceLROnPlateauScheduler::load_state_dict(const OrderedDict<std::string, Tensor>& state) {
  check_state("ReduceLROnPlateauScheduler", state_dict(), state);
  best_ = state["best"].item<double>();
  bad_steps_ = state["num_bad_epochs"].item<int>();
  cooldown_left_ = state["cooldown_counter"].item<int>();
  steps_ = state["last_epoch"].item<int>();
}

bool ReduceLROnPlateauScheduler::is_better(double metric) const {
  const double sign = mode_ == min ? -1 : 1;
  const double bar =
      threshold_mode_ == rel ? best_ * (1 + sign * threshold_) : best_ + sign * threshold_;
  return mode_ == min ? metric < bar : metric > bar;
}

void ReduceLROnPlateauScheduler::reduce_lr() {
  auto& groups = optimizer_.param_groups();
  for (size_t g = 0; g < std::min(groups.size(), min_lrs_.size()); ++g) {
    OptimizerOptions& options = groups[g].options();
    const double old = options.get_lr();
    const double next = std::max(old * factor_, static_cast<double>(min_lrs_[g]));
    if (old - next <= eps_) continue;
    options.set_lr(next);
    if (verbose_)
      std::cout << "Step " << steps_ << ": the learning rate of group " << g << " is now " << next
                << '\n';
  }
}

}  // namespace gradus::optim
