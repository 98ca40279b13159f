// Lower learning rates once a metric no longer improves.
#pragma once

#include <string>
#include <vector>

#include "gradus/optim/optimizer.h"

namespace gradus::optim {

// Multiplies the rates by `factor` when the metric was not better than its best for more than
// `patience` steps, and then waits for `cooldown` steps. Better is: below best (1 - threshold),
// or best - threshold for ThresholdMode abs; with SchedulerMode max, above best (1 + threshold) or
// best + threshold. No rate falls below its group's min_lr, nor changes by eps or less.
class ReduceLROnPlateauScheduler {
 public:
  enum SchedulerMode { min, max };
  enum ThresholdMode { rel, abs };

  // min_lr holds a number for each group; empty: 0. `verbose` prints each change.
  // Errors: ValueError for a factor of 1 or more, and another number of min_lr.
  ReduceLROnPlateauScheduler(Optimizer& optimizer, SchedulerMode mode = min, double factor = 0.1,
                             int patience = 10, double threshold = 1e-4,
                             ThresholdMode threshold_mode = rel, int cooldown = 0,
                             const std::vector<float>& min_lr = {}, double eps = 1e-8,
                             bool verbose = false);
  virtual ~ReduceLROnPlateauScheduler() = default;

  // Called after each validation, with its loss or another metric.
  void step(double metric);

  // The state of the schedule itself, with PyTorch's names: best, num_bad_epochs, cooldown_counter
  // and last_epoch. The optimizer's state has the present rates. Options are not in it.
  OrderedDict<std::string, Tensor> state_dict() const;
  // Errors: ValueError that lists what is missing, unknown, or does not fit; nothing changes then.
  void load_state_dict(const OrderedDict<std::string, Tensor>& state);

 private:
  bool is_better(double metric) const;
  void reduce_lr();

  Optimizer& optimizer_;
  SchedulerMode mode_;
  double factor_;
  int patience_;
  double threshold_;
  ThresholdMode threshold_mode_;
  int cooldown_;
  std::vector<float> min_lrs_;
  double eps_;
  bool verbose_;

  double best_;
  int steps_ = 0, bad_steps_ = 0, cooldown_left_ = 0;
};

}  // namespace gradus::optim
