// The forms of CyclicLR, and the step of SWALR.
#include "gradus/optim/schedulers/cyclic.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace gradus::optim {

namespace {
void check_cyclic(const CyclicLROptions& o, size_t groups) {
  const auto check_rates = [&](const char* name, const std::vector<double>& rates) {
    check(rates.size() == 1 || rates.size() == groups, "CyclicLR: ", name, " has ", rates.size(),
          " rates for ", groups, " parameter groups; give one for each");
  };
  check_rates("base_lr", o.base_lr());
  check_rates("max_lr", o.max_lr());
  check(o.step_size_up() > 0 && o.step_size_down().value_or(1) > 0, "CyclicLR: step_size_up is ",
        o.step_size_up(), " and step_size_down ", o.step_size_down().value_or(o.step_size_up()),
        ", expected 1 or more; give numbers of steps");
  check(o.mode() == "triangular" || o.mode() == "triangular2" || o.mode() == "exp_range",
        "CyclicLR: mode is \"", o.mode(),
        "\", expected \"triangular\", \"triangular2\" or \"exp_range\"; give one of them");
  check(o.scale_mode() == "cycle" || o.scale_mode() == "iterations", "CyclicLR: scale_mode is \"",
        o.scale_mode(), "\", expected \"cycle\" or \"iterations\"; give one of them");
}

// The height of a cycle as a part of that of the first.
double height(const CyclicLROptions& o, double cycle, double step) {
  if (o.scale_fn()) return o.scale_fn()(o.scale_mode() == "cycle" ? cycle : step);
  if (o.mode() == "triangular2") return 1 / std::exp2(cycle - 1);
  return o.mode() == "exp_range" ? std::pow(o.gamma(), step) : 1;
}

Scheduled cyclic(const CyclicLROptions& o, int64_t step, size_t group) {
  const auto up = static_cast<double>(o.step_size_up());
  const auto total = up + static_cast<double>(o.step_size_down().value_or(o.step_size_up()));
  const auto at = static_cast<double>(step);
  const double cycle = std::floor(1 + at / total), x = 1 + at / total - cycle, top = up / total;
  const double part = x <= top ? x / top : (x - 1) / (top - 1);
  const double share = part * height(o, cycle, at);
  const auto of_group = [&](const std::vector<double>& rates) {
    return rates[rates.size() == 1 ? 0 : group];
  };
  const double low = of_group(o.base_lr());
  const double lr = low + (of_group(o.max_lr()) - low) * share;
  if (!o.cycle_momentum()) return lr;
  return {lr, o.max_momentum() - (o.max_momentum() - o.base_momentum()) * share};
}
}  // namespace

CyclicLR::CyclicLR(Optimizer& optimizer, const CyclicLROptions& options)
    : ClosedFormLR(optimizer, [options, groups = optimizer.param_groups().size()](
                                  double, int64_t step, size_t group) {
        check_cyclic(options, groups);
        return cyclic(options, step, group);
      }) {}

SWALR::SWALR(Optimizer& optimizer, double swa_lr, int64_t anneal_epochs,
             const std::string& anneal_strategy)
    : SWALR(optimizer, std::vector<double>(optimizer.param_groups().size(), swa_lr), anneal_epochs,
            anneal_strategy) {}

SWALR::SWALR(Optimizer& optimizer, std::vector<double> swa_lr, int64_t anneal_epochs,
             const std::string& anneal_strategy)
    : LRScheduler(optimizer),
      swa_lr_(std::move(swa_lr)),
      anneal_epochs_(anneal_epochs),
      linear_(anneal_strategy == "linear") {
  check(swa_lr_.size() == optimizer.param_groups().size(), "SWALR: swa_lr has ", swa_lr_.size(),
        " rates for ", optimizer.param_groups().size(), " parameter groups; give one for each");
  check(anneal_epochs >= 0, "SWALR: anneal_epochs is ", anneal_epochs, ", expected 0 or more");
  check(linear_ || anneal_strategy == "cos", "SWALR: anneal_strategy is \"", anneal_strategy,
        "\", expected \"cos\" or \"linear\"; give one of them");
  if (anneal_epochs == 0) set_lrs(swa_lr_);
}

double SWALR::done(int64_t step) const {
  const double part = std::clamp(
      static_cast<double>(step) / static_cast<double>(std::max<int64_t>(anneal_epochs_, 1)), 0.0,
      1.0);
  return linear_ ? part : (1 - std::cos(std::numbers::pi * part)) / 2;
}

// The rates at the beginning follow from the present ones: so another schedule may have run before.
std::vector<double> SWALR::rates_at(int64_t step) const {
  const double before = done(step - 1), now = done(step);
  std::vector<double> rates = get_current_lrs();
  for (size_t g = 0; g < rates.size(); ++g) {
    const double first = before == 1 ? swa_lr_[g] : (rates[g] - before * swa_lr_[g]) / (1 - before);
    rates[g] = swa_lr_[g] * now + first * (1 - now);
  }
  return rates;
}

}  // namespace gradus::optim
