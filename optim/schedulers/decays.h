// Schedules that multiply the first rate by a factor of the number of steps, as in PyTorch.
#pragma once

#include "gradus/optim/schedulers/closed_form_lr.h"

namespace gradus::optim {

// The factor is `factor` for the first total_iters steps, and 1 after them. Errors: ValueError for
// one not in [0, 1].
struct ConstantLR : ClosedFormLR {
  ConstantLR(Optimizer& optimizer, double factor = 1.0 / 3, int64_t total_iters = 5);
};

// The factor goes evenly from start_factor to end_factor in total_iters steps: a warm-up.
// Errors: ValueError for a start_factor not in (0, 1], for an end_factor not in [0, 1], and for no
// steps.
struct LinearLR : ClosedFormLR {
  LinearLR(Optimizer& optimizer, double start_factor = 1.0 / 3, double end_factor = 1,
           int64_t total_iters = 5);
};

// The factor is gamma^step.
struct ExponentialLR : ClosedFormLR {
  ExponentialLR(Optimizer& optimizer, double gamma);
};

// The factor is multiplied by gamma at each of the milestones. A milestone that is listed twice
// counts twice.
struct MultiStepLR : ClosedFormLR {
  MultiStepLR(Optimizer& optimizer, std::vector<int64_t> milestones, double gamma = 0.1);
};

// The factor is (1 - step / total_iters)^power, down to 0. Errors: ValueError for no steps.
struct PolynomialLR : ClosedFormLR {
  PolynomialLR(Optimizer& optimizer, int64_t total_iters = 5, double power = 1);
};

// The factor is lr_lambda(step), or that of the function for each group.
struct LambdaLR : ClosedFormLR {
  using Lambda = std::function<double(int64_t step)>;
  LambdaLR(Optimizer& optimizer, Lambda lr_lambda);
  // Errors: ValueError where these are not as many as the groups.
  LambdaLR(Optimizer& optimizer, std::vector<Lambda> lr_lambdas);
};

// One schedule after another: the next one begins, with its step 0, at each of the milestones. The
// schedules may be temporary: SequentialLR(sgd, {LinearLR(sgd), CosineAnnealingLR(sgd, 95)}, {5}).
// Errors: ValueError where there is not one schedule more than milestones.
struct SequentialLR : ClosedFormLR {
  SequentialLR(Optimizer& optimizer, const std::vector<ClosedFormLR>& schedulers,
               std::vector<int64_t> milestones);
};

// Several schedules at once: each takes the rate that the one before it gives, so that factors
// multiply. Python's changes the rate of the last step by each; that is the same where a schedule
// multiplies the rate, as all here do that have no eta_min.
struct ChainedScheduler : ClosedFormLR {
  ChainedScheduler(Optimizer& optimizer, const std::vector<ClosedFormLR>& schedulers);
};

}  // namespace gradus::optim
