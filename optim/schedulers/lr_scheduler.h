// What all schedules of learning rates share: a step sets the rates of an optimizer's groups.
#pragma once

#include <vector>

#include "gradus/optim/optimizer.h"

namespace gradus::optim {

// A schedule of one's own derives from this and says get_lrs(). The optimizer must outlive it.
class LRScheduler {
 public:
  explicit LRScheduler(Optimizer& optimizer) : optimizer_(optimizer) {}
  virtual ~LRScheduler() = default;

  // Called after each step, or each epoch, of the optimizer.
  void step();

 protected:
  // The next rate of each group; step_count_ is the number of earlier steps.
  // Errors: of step(), ValueError where these are not as many as the groups.
  virtual std::vector<double> get_lrs() = 0;
  std::vector<double> get_current_lrs() const;
  void set_lrs(const std::vector<double>& rates);
  Optimizer& optimizer() const { return optimizer_; }

  unsigned step_count_ = 0;

 private:
  Optimizer& optimizer_;
};

}  // namespace gradus::optim
