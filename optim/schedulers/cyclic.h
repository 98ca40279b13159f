// CyclicLR and SWALR: rates between two bounds, and towards a constant one, as in PyTorch.
#pragma once

#include <string>

#include "gradus/optim/schedulers/closed_form_lr.h"

namespace gradus::optim {

struct CyclicLROptions {
  CyclicLROptions(double base_lr, double max_lr)
      : CyclicLROptions(std::vector<double>{base_lr}, std::vector<double>{max_lr}) {}
  // One for each group.
  CyclicLROptions(std::vector<double> base_lr, std::vector<double> max_lr)
      : base_lr_(std::move(base_lr)), max_lr_(std::move(max_lr)) {}
  GRADUS_OPTION(CyclicLROptions, std::vector<double>, base_lr);
  GRADUS_OPTION(CyclicLROptions, std::vector<double>, max_lr);
  GRADUS_OPTION(CyclicLROptions, int64_t, step_size_up) = 2000;
  GRADUS_OPTION(CyclicLROptions, std::optional<int64_t>, step_size_down);  // as step_size_up
  // "triangular"; "triangular2": each cycle is half as high as the last; "exp_range": the height is
  // multiplied by gamma in each step.
  GRADUS_OPTION(CyclicLROptions, std::string, mode) = "triangular";
  GRADUS_OPTION(CyclicLROptions, double, gamma) = 1;
  // Takes the place of `mode`: the height as a function of the cycle, which counts from 1, or with
  // scale_mode "iterations" of the step.
  GRADUS_OPTION(CyclicLROptions, std::function<double(double)>, scale_fn);
  GRADUS_OPTION(CyclicLROptions, std::string, scale_mode) = "cycle";
  // Whether momentum, or beta1, goes from max_momentum to base_momentum and back meanwhile.
  GRADUS_OPTION(CyclicLROptions, bool, cycle_momentum) = true;
  GRADUS_OPTION(CyclicLROptions, double, base_momentum) = 0.8;
  GRADUS_OPTION(CyclicLROptions, double, max_momentum) = 0.9;
};

// Rises from base_lr to max_lr and falls back, again and again: Smith, "Cyclical learning rates for
// training neural networks" (2017). The rates of the groups do not matter.
// Errors: ValueError for options out of range.
struct CyclicLR : ClosedFormLR {
  CyclicLR(Optimizer& optimizer, const CyclicLROptions& options);
  CyclicLR(Optimizer& optimizer, double base_lr, double max_lr)
      : CyclicLR(optimizer, CyclicLROptions(base_lr, max_lr)) {}
};

// Goes from the rates that the groups have at its first step to swa_lr in anneal_epochs steps, and
// stays there: for averages of weights (averaged_model.h). Another schedule may run before.
//
//   for (int64_t epoch = 0; epoch < 100; ++epoch) {
//     ...
//     if (epoch < 75) { decay.step(); } else { average.update_parameters(net); swa.step(); }
//   }
class SWALR : public LRScheduler {
 public:
  // anneal_strategy: "cos" or "linear". Errors: ValueError for another one, for anneal_epochs below
  // 0, and where there are not as many rates as groups.
  SWALR(Optimizer& optimizer, double swa_lr, int64_t anneal_epochs = 10,
        const std::string& anneal_strategy = "cos");
  SWALR(Optimizer& optimizer, std::vector<double> swa_lr, int64_t anneal_epochs = 10,
        const std::string& anneal_strategy = "cos");

 private:
  std::vector<double> get_lrs() override { return rates_at(step_count_ + 1); }
  std::vector<double> rates_at(int64_t step) const;
  // How much of the way is done before that step.
  double done(int64_t step) const;

  std::vector<double> swa_lr_;
  int64_t anneal_epochs_;
  bool linear_;
};

}  // namespace gradus::optim
