// Schedules along half a cosine, as in PyTorch.
#pragma once

#include <string>

#include "gradus/optim/schedulers/closed_form_lr.h"

namespace gradus::optim {

// eta_min + (lr - eta_min) (1 + cos(pi step / T_max)) / 2: Loshchilov and Hutter, "SGDR: stochastic
// gradient descent with warm restarts" (2017). The rate rises again after T_max steps.
// Errors: ValueError for a T_max below 1.
struct CosineAnnealingLR : ClosedFormLR {
  CosineAnnealingLR(Optimizer& optimizer, int64_t T_max, double eta_min = 0);
};

// The same, but it begins again after T_0 steps, then after T_mult times as many, and so on.
// Errors: ValueError for a T_0 or T_mult below 1.
struct CosineAnnealingWarmRestarts : ClosedFormLR {
  CosineAnnealingWarmRestarts(Optimizer& optimizer, int64_t T_0, int64_t T_mult = 1,
                              double eta_min = 0);
};

struct OneCycleLROptions {
  OneCycleLROptions(double max_lr, int64_t total_steps)
      : OneCycleLROptions(std::vector<double>{max_lr}, total_steps) {}
  // One for each group.
  OneCycleLROptions(std::vector<double> max_lr, int64_t total_steps)
      : max_lr_(std::move(max_lr)), total_steps_(total_steps) {}
  GRADUS_OPTION(OneCycleLROptions, std::vector<double>, max_lr);
  GRADUS_OPTION(OneCycleLROptions, int64_t, total_steps);
  GRADUS_OPTION(OneCycleLROptions, double, pct_start) = 0.3;               // of the way up
  GRADUS_OPTION(OneCycleLROptions, std::string, anneal_strategy) = "cos";  // or "linear"
  // Whether momentum, or beta1, goes from max_momentum to base_momentum and back meanwhile.
  GRADUS_OPTION(OneCycleLROptions, bool, cycle_momentum) = true;
  GRADUS_OPTION(OneCycleLROptions, double, base_momentum) = 0.85;
  GRADUS_OPTION(OneCycleLROptions, double, max_momentum) = 0.95;
  GRADUS_OPTION(OneCycleLROptions, double, div_factor) = 25;
  GRADUS_OPTION(OneCycleLROptions, double, final_div_factor) = 1e4;
  GRADUS_OPTION(OneCycleLROptions, bool, three_phase) = false;
};

// Rises from max_lr / div_factor to max_lr, and falls to the first rate divided by
// final_div_factor. three_phase: the rate falls to the first one in as many steps as it rose, and
// then on to the last. See Smith and Topin, "Super-convergence" (2018). The rates of the groups do
// not matter.
// Errors: ValueError for options out of range, and for a step beyond total_steps.
struct OneCycleLR : ClosedFormLR {
  OneCycleLR(Optimizer& optimizer, const OneCycleLROptions& options);
  OneCycleLR(Optimizer& optimizer, double max_lr, int64_t total_steps)
      : OneCycleLR(optimizer, OneCycleLROptions(max_lr, total_steps)) {}
};

}  // namespace gradus::optim
