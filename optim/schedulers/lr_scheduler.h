// The base of all schedules of learning rates: a step sets the rates of an optimizer's groups.
#pragma once

#include <string>
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

  // The state of the schedule itself: "last_epoch", the number of steps, and "base_lrs", the first
  // rate of each group (NaN: none was noted). The optimizer's state has the present rates. Options
  // and functions are not in it. A schedule of one's own with more adds it.
  virtual OrderedDict<std::string, Tensor> state_dict() const;
  // Errors: ValueError that lists what is missing, unknown, or does not fit; nothing changes then.
  virtual void load_state_dict(const OrderedDict<std::string, Tensor>& state);

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
