// GradScaler: scales the loss, looks for gradients that are not finite (found_inf), and adapts.
#include "gradus/optim/grad_scaler.h"

#include <limits>

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/optim/check_state.h"
#include "gradus/tensor/base/observed.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::amp {

GradScaler::GradScaler(const GradScalerOptions& options)
    : options_(options),
      scale_(full({}, options.init_scale(), kDouble)),
      growth_tracker_(zeros({}, kDouble)) {
  check(options.growth_factor() > 1, "GradScaler: growth_factor is ", options.growth_factor(),
        ", expected a number above 1");
  check(options.backoff_factor() < 1, "GradScaler: backoff_factor is ", options.backoff_factor(),
        ", expected a number below 1");
}

Tensor GradScaler::scale_on(const Device& device) const {
  if (scale_.is_cpu() && device.is_cuda()) {
    scale_ = scale_.to(device);
    growth_tracker_ = growth_tracker_.to(device);
  }
  return scale_.to(device);
}

// The scale has the type in which a number would multiply the outputs.
Tensor GradScaler::scale(const Tensor& outputs) const {
  if (!options_.enabled()) return outputs;
  const Observed<ScaledPass> observed({this, /*ends=*/false});
  const ScalarType type = computed_type(outputs.dtype());
  return (outputs.to(type) * scale_on(outputs.device()).to(type)).to(outputs.scalar_type());
}

// The largest element says whether all are finite: one pass.
void GradScaler::unscale_(optim::Optimizer& optimizer) {
  if (!options_.enabled()) return;
  const Observed<ScaledPass> observed({this, /*ends=*/false});
  const auto known = seen_.find(&optimizer);
  check<Error>(
      known == seen_.end(),
      known != seen_.end() && known->second.stepped
          ? "GradScaler: unscale_() is being called after step(). Call it before."
          : "GradScaler: unscale_() has already been called on this optimizer since the last "
            "update(). Call it once a step.");
  const NoGradGuard guard;
  Tensors gradients, largest;
  for (const Tensor& parameter : optimizer.parameters())
    if (parameter.grad().defined() && parameter.grad().numel() > 0)
      gradients.push_back(parameter.grad().detach());
  ScalarType magnitude = kFloat;
  for (const Tensor& gradient : gradients) {
    check(gradient.scalar_type() != kHalf,
          "GradScaler: Attempting to unscale FP16 gradients; keep the parameters in float32");
    if (gradient.dtype() == kDouble) magnitude = kDouble;
  }
  Tensor inverse;  // where and as the last gradient takes it
  for (Tensor gradient : gradients) {
    const ScalarType type = computed_type(gradient.dtype());
    if (!inverse.defined() || inverse.device() != gradient.device() || inverse.dtype() != type)
      inverse = scale_on(gradient.device()).reciprocal().to(type);
    if (gradient.dtype() == type)
      gradient.mul_(inverse);
    else
      gradient.copy_(gradient.to(type).mul_(inverse));
    const Tensor most = gradient.norm(std::numeric_limits<double>::infinity());
    largest.push_back(most.to(gradients[0].device(), magnitude));
  }
  Tensor found = largest.empty() ? zeros({}, kDouble)
                                 : isfinite(stack(largest)).all().logical_not().to(kDouble);
  seen_[&optimizer] = {std::move(found), false};
}

Tensor GradScaler::step(optim::Optimizer& optimizer) {
  if (!options_.enabled()) return optimizer.step();
  if (!seen_.contains(&optimizer)) unscale_(optimizer);
  Seen& seen = seen_[&optimizer];
  check<Error>(
      !seen.stepped,
      "GradScaler: step() has already been called since the last update(). Call update() first.");
  const Tensor loss = optimizer.step_unless(seen.found_inf);
  seen.stepped = true;
  return loss;
}

void GradScaler::update(std::optional<double> new_scale) {
  if (!options_.enabled()) return;
  check<Error>(new_scale || !seen_.empty(),
               "GradScaler: No inf checks were recorded prior to update; call "
               "step(optimizer) or unscale_(optimizer) first");
  const Observed<ScaledPass> observed({this, /*ends=*/true});
  const NoGradGuard guard;
  if (new_scale) {
    scale_.fill_(*new_scale);
  } else {
    Tensors found;
    for (const auto& [optimizer, seen] : seen_) found.push_back(seen.found_inf.to(scale_.device()));
    const Tensor falls = stack(found).sum().ne(0);
    const Tensor updates = growth_tracker_ + 1, grows = updates.eq(options_.growth_interval());
    // A scale beyond float32 would make every loss infinite.
    const Tensor grown = scale_ * options_.growth_factor();
    const Tensor kept = where(grows.logical_and(isfinite(grown.to(kFloat))), grown, scale_);
    scale_.copy_(where(falls, scale_ * options_.backoff_factor(), kept));
    growth_tracker_.copy_(updates * falls.logical_or(grows).logical_not());
  }
  seen_.clear();
}

double GradScaler::get_scale() const { return options_.enabled() ? scale_.item<double>() : 1; }

OrderedDict<std::string, Tensor> GradScaler::state_dict() const {
  OrderedDict<std::string, Tensor> out;
  if (!options_.enabled()) return out;
  out.insert("scale", full({}, get_scale(), kDouble));
  out.insert("growth_factor", full({}, options_.growth_factor(), kDouble));
  out.insert("backoff_factor", full({}, options_.backoff_factor(), kDouble));
  out.insert("growth_interval", full({}, options_.growth_interval(), kLong));
  out.insert("_growth_tracker", growth_tracker_.to(kCPU, kLong));
  return out;
}

void GradScaler::load_state_dict(const OrderedDict<std::string, Tensor>& state) {
  if (!options_.enabled()) return;
  optim::check_state("GradScaler", state_dict(), state);
  const NoGradGuard guard;
  scale_.fill_(state["scale"].item<double>());
  options_.growth_factor(state["growth_factor"].item<double>())
      .backoff_factor(state["backoff_factor"].item<double>())
      .growth_interval(state["growth_interval"].item<int64_t>());
  growth_tracker_.fill_(state["_growth_tracker"].item<int64_t>());
}

}  // namespace gradus::amp
