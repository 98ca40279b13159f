// A scale for the loss. It keeps gradients of 16 bits from vanishing and overflowing. See
// Micikevicius et al., "Mixed precision training" (2018), section 3.2. The rule for the scale is
// PyTorch's.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "gradus/optim/optimizer.h"

namespace gradus::amp {

struct GradScalerOptions {
  GRADUS_OPTION(GradScalerOptions, double, init_scale) = 65536;
  // The scale falls by backoff_factor after an update with an infinite or NaN gradient. It grows by
  // growth_factor after growth_interval updates without one.
  GRADUS_OPTION(GradScalerOptions, double, growth_factor) = 2;
  GRADUS_OPTION(GradScalerOptions, double, backoff_factor) = 0.5;
  GRADUS_OPTION(GradScalerOptions, int64_t, growth_interval) = 2000;
  // false: scale() and step() are those of a training without a scaler.
  GRADUS_OPTION(GradScalerOptions, bool, enabled) = true;
};

// torch.amp.GradScaler of Python, which libtorch lacks:
//
//   scaler.scale(loss).backward();
//   scaler.step(optimizer);   // does nothing where a gradient is not finite
//   scaler.update();
//
// The scale is a number on the device of
// the losses, so that a step on a GPU waits for nothing and can be captured for a cuda::Graph
// (Optimizer::step_unless says which steps).
class GradScaler {
 public:
  // Errors: ValueError for a growth_factor of 1 or less, a backoff_factor of 1 or more.
  explicit GradScaler(const GradScalerOptions& options = {});
  GradScaler(const GradScaler&) = delete;
  GradScaler& operator=(const GradScaler&) = delete;

  Tensor scale(const Tensor& outputs) const;
  // Divides the gradients of the optimizer by the scale, to clip them before step().
  // Errors: Error where it was called since the last update(), or after step(); ValueError for
  // gradients of float16, which would lose what the scale is for.
  void unscale_(optim::Optimizer& optimizer);
  // Steps, unless a gradient is infinite or NaN. Returns what optimizer.step() returns.
  // Errors: Error where it was called since the last update(); those of unscale_ and of the step.
  Tensor step(optim::Optimizer& optimizer);
  // Ends an iteration: the next scale, or new_scale.
  // Errors: Error where no gradients were looked at since the last update().
  void update(std::optional<double> new_scale = std::nullopt);

  // Waits for the device.
  double get_scale() const;
  double get_growth_factor() const { return options_.growth_factor(); }
  double get_backoff_factor() const { return options_.backoff_factor(); }
  int64_t get_growth_interval() const { return options_.growth_interval(); }
  bool is_enabled() const { return options_.enabled(); }

  // The names are PyTorch's: scale, growth_factor, backoff_factor, growth_interval,
  // _growth_tracker.
  OrderedDict<std::string, Tensor> state_dict() const;
  // Errors: ValueError that lists what is missing, unknown, or does not fit; nothing changes then.
  void load_state_dict(const OrderedDict<std::string, Tensor>& state);

 private:
  struct Seen {
    Tensor found_inf;  // 1 where a gradient is not finite, else 0
    bool stepped;
  };

  // The scale for tensors of that device, which it moves to from the CPU.
  Tensor scale_on(const Device& device) const;

  GradScalerOptions options_;
  mutable Tensor scale_, growth_tracker_;  // updates since the scale changed; both Double
  std::unordered_map<const optim::Optimizer*, Seen> seen_;  // since the last update
};

// Tells observers (tensor/base/observed.h) of a call of scale(), unscale_() or update(). A scaler
// handles gradients that are not finite from its first scale() to the end of update().
struct ScaledPass {
  const GradScaler* scaler;
  bool ends;
};

}  // namespace gradus::amp
