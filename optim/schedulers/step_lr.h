// StepLR, as libtorch has it.
#pragma once

#include "gradus/optim/schedulers/lr_scheduler.h"

namespace gradus::optim {

// Multiplies the rates by gamma at every step_size-th step, the first time in step step_size + 1.
// Python's StepLR does so one step earlier. MultiStepLR changes when Python's does.
class StepLR : public LRScheduler {
 public:
  StepLR(Optimizer& optimizer, unsigned step_size, double gamma = 0.1)
      : LRScheduler(optimizer), step_size_(step_size), gamma_(gamma) {
    check(step_size > 0, "StepLR: step_size is 0, expected 1 or more");
  }

 private:
  std::vector<double> get_lrs() override {
    std::vector<double> rates = get_current_lrs();
    if (step_count_ > 0 && step_count_ % step_size_ == 0)
      for (double& rate : rates) rate *= gamma_;
    return rates;
  }

  unsigned step_size_;
  double gamma_;
};

}  // namespace gradus::optim
