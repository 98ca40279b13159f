// The forms of schedules along half a cosine.
#include "gradus/optim/schedulers/cosine.h"

#include <cmath>
#include <numbers>

namespace gradus::optim {

namespace {
// The number after a `part` (0 to 1) of the way from one number to another.
double along_cosine(double from, double to, double part) {
  return to + (from - to) * (1 + std::cos(std::numbers::pi * part)) / 2;
}

int64_t at_least_one(const char* name, int64_t value) {
  check(value >= 1, name, " is ", value, ", expected 1 or more; give a larger number");
  return value;
}

Scheduled one_cycle(const OneCycleLROptions& o, int64_t step, size_t group) {
  const double peak = o.max_lr()[o.max_lr().size() == 1 ? 0 : group];
  const double low = peak / o.div_factor(), end = low / o.final_div_factor();
  const double steps = static_cast<double>(o.total_steps()), at = static_cast<double>(step);
  struct Phase {
    double end, from, to, from_momentum, to_momentum;
  };
  const double most = o.max_momentum(), least = o.base_momentum();
  const double up = o.pct_start() * steps - 1;
  std::vector<Phase> phases = {{up, low, peak, most, least}};
  if (o.three_phase()) {
    phases.push_back({2 * up, peak, low, least, most});
    phases.push_back({steps - 1, low, end, most, most});
  } else {
    phases.push_back({steps - 1, peak, end, least, most});
  }
  double begin = 0;
  size_t i = 0;
  for (; i + 1 < phases.size() && at > phases[i].end; ++i) begin = phases[i].end;
  const Phase& now = phases[i];
  const double part =
      now.end > begin ? (at - begin) / (now.end - begin) : 1;  // a phase may be empty
  const auto between = [&](double from, double to) {
    return o.anneal_strategy() == "cos" ? along_cosine(from, to, part) : from + (to - from) * part;
  };
  const double lr = between(now.from, now.to);
  return o.cycle_momentum() ? Scheduled(lr, between(now.from_momentum, now.to_momentum))
                            : Scheduled(lr);
}

void check_options(const OneCycleLROptions& o, size_t groups) {
  at_least_one("OneCycleLR: total_steps", o.total_steps());
  check(o.max_lr().size() == 1 || o.max_lr().size() == groups, "OneCycleLR: max_lr has ",
        o.max_lr().size(), " rates for ", groups, " parameter groups; give one for each");
  check(o.pct_start() >= 0 && o.pct_start() <= 1, "OneCycleLR: pct_start is ", o.pct_start(),
        ", expected a number from 0 to 1; give a part of total_steps, such as 0.3");
  check(o.anneal_strategy() == "cos" || o.anneal_strategy() == "linear",
        "OneCycleLR: anneal_strategy is \"", o.anneal_strategy(),
        "\", expected \"cos\" or \"linear\"; give one of them");
  check(o.div_factor() > 0, "OneCycleLR: div_factor is ", o.div_factor(),
        ", expected a number above 0; give max_lr divided by the first rate");
  check(o.final_div_factor() > 0, "OneCycleLR: final_div_factor is ", o.final_div_factor(),
        ", expected a number above 0; give the first rate divided by the last");
}
}  // namespace

CosineAnnealingLR::CosineAnnealingLR(Optimizer& optimizer, int64_t T_max, double eta_min)
    : ClosedFormLR(optimizer, [=](double base, int64_t step, size_t) {
        const auto length = static_cast<double>(at_least_one("CosineAnnealingLR: T_max", T_max));
        return along_cosine(base, eta_min, static_cast<double>(step) / length);
      }) {}

CosineAnnealingWarmRestarts::CosineAnnealingWarmRestarts(Optimizer& optimizer, int64_t T_0,
                                                         int64_t T_mult, double eta_min)
    : ClosedFormLR(optimizer, [=](double base, int64_t step, size_t) {
        int64_t length = at_least_one("CosineAnnealingWarmRestarts: T_0", T_0);
        if (at_least_one("CosineAnnealingWarmRestarts: T_mult", T_mult) == 1) step %= length;
        for (; step >= length; length *= T_mult) step -= length;
        return along_cosine(base, eta_min, static_cast<double>(step) / static_cast<double>(length));
      }) {}

OneCycleLR::OneCycleLR(Optimizer& optimizer, const OneCycleLROptions& options)
    : ClosedFormLR(optimizer, [options, groups = optimizer.param_groups().size()](
                                  double, int64_t step, size_t group) {
        check_options(options, groups);
        check(step <= options.total_steps(), "OneCycleLR: Tried to step ", step,
              " times. The specified number of total steps is ", options.total_steps(),
              "; make it with total_steps = ", step, " or more");
        return one_cycle(options, step, group);
      }) {}

}  // namespace gradus::optim
