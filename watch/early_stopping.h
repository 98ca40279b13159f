// EarlyStopping: the end of a training that no longer gets better.
#pragma once

#include <string>

#include "gradus/tensor/base/option.h"
#include "gradus/tensor/base/ordered_dict.h"
#include "gradus/tensor/tensor.h"

namespace gradus::watch {

// Whether a lower or a higher figure is the better one.
enum class Mode : uint8_t { Min, Max };

// patience: stop after so many steps without a better figure. min_delta: better is what differs
// from the best by more than this. check_finite: stop at a figure that is infinite or NaN.
struct EarlyStoppingOptions {
  GRADUS_OPTIONS(EarlyStoppingOptions, OPTION(int64_t, patience, 3), OPTION(double, min_delta, 0),
                 OPTION(Mode, mode, Mode::Min), OPTION(bool, check_finite, true));
};

// Says when a figure has not become better for `patience` steps.
//
//   watch::EarlyStopping stopping(watch::EarlyStoppingOptions().patience(5));
//   for (int64_t epoch = 0; epoch < epochs; ++epoch) {
//     const double loss = ...;  // on data that the model is not trained on
//     const bool stop = stopping.step(loss);
//     if (stopping.improved()) save(model, "best.safetensors");
//     if (stop) break;
//   }
class EarlyStopping {
 public:
  // Errors: ValueError for a patience below 1, and a min_delta that is negative or not finite.
  explicit EarlyStopping(EarlyStoppingOptions options = {});

  // Called after each validation. Returns whether training should stop.
  bool step(double metric);
  bool should_stop() const { return stop_; }
  // Whether the last figure is the best one so far.
  bool improved() const { return improved_; }
  // The best figure; infinite before the first one.
  double best_score() const { return best_; }
  // Steps since the best figure.
  int64_t wait_count() const { return waited_; }

  // The state that the next steps depend on, without the options.
  OrderedDict<std::string, Tensor> state_dict() const;
  // Errors: ValueError that lists what is missing, unknown, or does not fit; nothing changes then.
  void load_state_dict(const OrderedDict<std::string, Tensor>& state);

 private:
  EarlyStoppingOptions options_;
  double best_;
  int64_t waited_ = 0;
  bool improved_ = false, stop_ = false;
};

}  // namespace gradus::watch
