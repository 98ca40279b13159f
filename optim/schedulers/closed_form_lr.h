// A schedule that is a function of the number of steps.
#pragma once

#include <functional>
#include <optional>

#include "gradus/optim/schedulers/lr_scheduler.h"

namespace gradus::optim {

// The values that a schedule sets; the momentum stays where it has no value.
struct Scheduled {
  Scheduled(double rate) : lr(rate) {}  // NOLINT: implicit, so that a form may return a number
  Scheduled(double rate, double beta) : lr(rate), momentum(beta) {}
  double lr;
  std::optional<double> momentum{};
};

// Sets the rates when it is made, for step 0, and after each step. All rates come from those that
// the groups had when the first such schedule of the optimizer was made, so schedules do not add
// up; SequentialLR puts one after another. Schedules of PyTorch that libtorch lacks are of this
// kind.
class ClosedFormLR : public LRScheduler {
 public:
  // `base` is the first rate of the group of that number.
  using Form = std::function<Scheduled(double base, int64_t step, size_t group)>;

  ClosedFormLR(Optimizer& optimizer, Form form);

  using LRScheduler::step;
  // Goes to that step: so a training that is resumed finds its place.
  void step(int64_t epoch);
  int64_t last_epoch() const { return step_count_; }
  std::vector<double> get_last_lr() const { return get_current_lrs(); }
  const Form& form() const { return form_; }
  // Errors: also those of the form, for a step that it does not have: OneCycleLR's total_steps.
  void load_state_dict(const OrderedDict<std::string, Tensor>& state) override;

 private:
  std::vector<double> get_lrs() override { return rates_after(last_epoch() + 1); }
  std::vector<double> rates_after(int64_t step);

  Form form_;
};

}  // namespace gradus::optim
