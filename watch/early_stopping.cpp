// EarlyStopping: the best figure, and how long ago it was.
#include "gradus/watch/early_stopping.h"

#include <cmath>

#include "gradus/optim/check_state.h"
#include "gradus/tensor/factories.h"

namespace gradus::watch {

EarlyStopping::EarlyStopping(EarlyStoppingOptions options)
    : options_(options), best_(options.mode() == Mode::Min ? HUGE_VAL : -HUGE_VAL) {
  check(options.patience() >= 1, "EarlyStopping: patience is ", options.patience(),
        ", expected 1 or more");
  check(options.min_delta() >= 0 && std::isfinite(options.min_delta()),
        "EarlyStopping: min_delta is ", options.min_delta(),
        ", expected a finite number that is not negative; mode says which direction is better");
}

bool EarlyStopping::step(double metric) {
  improved_ = options_.mode() == Mode::Min ? metric < best_ - options_.min_delta()
                                           : metric > best_ + options_.min_delta();
  if (improved_) {
    best_ = metric;
    waited_ = 0;
  } else {
    ++waited_;
  }
  stop_ = waited_ >= options_.patience() || (options_.check_finite() && !std::isfinite(metric));
  return stop_;
}

OrderedDict<std::string, Tensor> EarlyStopping::state_dict() const {
  OrderedDict<std::string, Tensor> out;
  out.insert("best_score", full({}, best_, kDouble));
  out.insert("wait_count", full({}, waited_, kLong));
  out.insert("stopped", full({}, stop_ ? 1 : 0, kLong));
  return out;
}

void EarlyStopping::load_state_dict(const OrderedDict<std::string, Tensor>& state) {
  optim::check_state("EarlyStopping", state_dict(), state);
  best_ = state["best_score"].item<double>();
  waited_ = state["wait_count"].item<int64_t>();
  stop_ = state["stopped"].item<int64_t>() != 0;
  improved_ = false;
}

}  // namespace gradus::watch
