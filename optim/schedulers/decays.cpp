// The forms of schedules that multiply the first rate.
#include "gradus/optim/schedulers/decays.h"

#include <algorithm>
#include <cmath>

namespace gradus::optim {

namespace {
void check_factor(const char* name, double factor, bool zero_too) {
  check(factor <= 1 && (zero_too ? factor >= 0 : factor > 0), name, " is ", factor,
        zero_too ? ", expected a number from 0 to 1" : ", expected a number above 0, up to 1",
        "; give a part of the first rate, such as 0.1");
}

int64_t positive(const char* name, int64_t steps) {
  check(steps > 0, name, " is ", steps, ", expected 1 or more; give a number of steps");
  return steps;
}

// The share of `total` steps that are done.
double done(int64_t step, int64_t total) {
  return static_cast<double>(std::min(step, total)) / static_cast<double>(total);
}
}  // namespace

ConstantLR::ConstantLR(Optimizer& optimizer, double factor, int64_t total_iters)
    : ClosedFormLR(optimizer, [=](double base, int64_t step, size_t) {
        check_factor("ConstantLR: factor", factor, true);
        return step < total_iters ? base * factor : base;
      }) {}

LinearLR::LinearLR(Optimizer& optimizer, double start_factor, double end_factor,
                   int64_t total_iters)
    : ClosedFormLR(optimizer, [=](double base, int64_t step, size_t) {
        check_factor("LinearLR: start_factor", start_factor, false);
        check_factor("LinearLR: end_factor", end_factor, true);
        positive("LinearLR: total_iters", total_iters);
        return base * (start_factor + (end_factor - start_factor) * done(step, total_iters));
      }) {}

ExponentialLR::ExponentialLR(Optimizer& optimizer, double gamma)
    : ClosedFormLR(optimizer, [=](double base, int64_t step, size_t) {
        return base * std::pow(gamma, step);
      }) {}

MultiStepLR::MultiStepLR(Optimizer& optimizer, std::vector<int64_t> milestones, double gamma)
    : ClosedFormLR(optimizer, [=](double base, int64_t step, size_t) {
        const auto passed = std::count_if(milestones.begin(), milestones.end(),
                                          [&](int64_t milestone) { return milestone <= step; });
        return base * std::pow(gamma, passed);
      }) {}

PolynomialLR::PolynomialLR(Optimizer& optimizer, int64_t total_iters, double power)
    : ClosedFormLR(optimizer, [=](double base, int64_t step, size_t) {
        return base *
               std::pow(1 - done(step, positive("PolynomialLR: total_iters", total_iters)), power);
      }) {}

LambdaLR::LambdaLR(Optimizer& optimizer, Lambda lr_lambda)
    : ClosedFormLR(optimizer, [f = std::move(lr_lambda)](double base, int64_t step, size_t) {
        return base * f(step);
      }) {}

LambdaLR::LambdaLR(Optimizer& optimizer, std::vector<Lambda> lr_lambdas)
    : ClosedFormLR(optimizer, [f = std::move(lr_lambdas), groups = optimizer.param_groups().size()](
                                  double base, int64_t step, size_t group) {
        check(f.size() == groups, "LambdaLR: there are ", f.size(), " functions for ", groups,
              " parameter groups; give one for each");
        return base * f[group](step);
      }) {}

SequentialLR::SequentialLR(Optimizer& optimizer, const std::vector<ClosedFormLR>& schedulers,
                           std::vector<int64_t> milestones)
    : ClosedFormLR(optimizer, [=](double base, int64_t step, size_t group) {
        check(schedulers.size() == milestones.size() + 1, "SequentialLR: there are ",
              schedulers.size(), " schedulers and ", milestones.size(),
              " milestones, expected one scheduler more than milestones");
        const auto next = std::upper_bound(milestones.begin(), milestones.end(), step);
        const int64_t begin = next == milestones.begin() ? 0 : *(next - 1);
        const auto index = static_cast<size_t>(next - milestones.begin());
        return schedulers[index].form()(base, step - begin, group);
      }) {}

ChainedScheduler::ChainedScheduler(Optimizer& optimizer,
                                   const std::vector<ClosedFormLR>& schedulers)
    : ClosedFormLR(optimizer, [=](double base, int64_t step, size_t group) {
        Scheduled out(base);
        for (const ClosedFormLR& each : schedulers) {
          const Scheduled next = each.form()(out.lr, step, group);
          out.lr = next.lr;
          if (next.momentum) out.momentum = next.momentum;
        }
        return out;
      }) {}

}  // namespace gradus::optim
