// A scale for the loss.
#include "gradus/optim/grad_scaler.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/optim/schedulers/state.h"
#include "gradus/tensor/factories.h"

namespace gradus::amp {

GradScaler::GradScaler(const GradScalerOptions& options)
    : options_(options), scale_(options.init_scale()) {
  check(options.growth_factor() > 1, "GradScaler: growth_factor is ", options.growth_factor(),
        ", expected a number above 1");
  check(options.backoff_factor() < 1, "GradScaler: backoff_factor is ", options.backoff_factor(),
        ", expected a number below 1");
}

Tensor GradScaler::scale(const Tensor& outputs) const {
  return options_.enabled() ? outputs * scale_ : outputs;
}

// The largest element says whether all are finite: one pass, and one number to wait for.
void GradScaler::unscale_(optim::Optimizer& optimizer) {
  if (!options_.enabled()) return;
  const auto known = seen_.find(&optimizer);
  check<Error>(known == seen_.end(),
               known != seen_.end() && known->second.stepped
                   ? "unscale_() is being called after step()."
                   : "unscale_() has already been called on this optimizer since the last "
                     "update().");
  const NoGradGuard guard;
  Tensors gradients, largest;
  for (const Tensor& parameter : optimizer.parameters())
    if (parameter.grad().defined() && parameter.grad().numel() > 0)
      gradients.push_back(parameter.grad().detach());
  for (const Tensor& gradient : gradients)
    check(gradient.scalar_type() != kHalf,
          "Attempting to unscale FP16 gradients; keep the parameters in float32");
  for (Tensor gradient : gradients) {
    gradient.mul_(1 / scale_);
    const Tensor most = gradient.norm(std::numeric_limits<double>::infinity());
    largest.push_back(most.to(gradients[0].device(), kFloat));
  }
  const bool finite = largest.empty() || std::isfinite(stack(largest).sum().item<float>());
  seen_[&optimizer] = {finite, false};
}

Tensor GradScaler::step(optim::Optimizer& optimizer) {
  if (!options_.enabled()) return optimizer.step();
  if (!seen_.contains(&optimizer)) unscale_(optimizer);
  Seen& seen = seen_[&optimizer];
  check<Error>(!seen.stepped, "step() has already been called since the last update().");
  const Tensor loss = seen.finite ? optimizer.step() : Tensor();
  seen.stepped = true;
  return loss;
}

void GradScaler::update(std::optional<double> new_scale) {
  if (!options_.enabled()) return;
  check<Error>(new_scale || !seen_.empty(),
               "No inf checks were recorded prior to update; call "
               "step(optimizer) or unscale_(optimizer) first");
  const bool finite =
      std::all_of(seen_.begin(), seen_.end(), [](const auto& one) { return one.second.finite; });
  seen_.clear();
  if (new_scale) {
    scale_ = *new_scale;
  } else if (!finite) {
    scale_ *= options_.backoff_factor();
    growth_tracker_ = 0;
  } else if (++growth_tracker_ == options_.growth_interval()) {
    // A scale beyond float32 would make every loss infinite.
    const double grown = scale_ * options_.growth_factor();
    if (std::isfinite(static_cast<float>(grown))) scale_ = grown;
    growth_tracker_ = 0;
  }
}

OrderedDict<std::string, Tensor> GradScaler::state_dict() const {
  OrderedDict<std::string, Tensor> out;
  if (!options_.enabled()) return out;
  out.insert("scale", full({}, scale_, kDouble));
  out.insert("growth_factor", full({}, options_.growth_factor(), kDouble));
  out.insert("backoff_factor", full({}, options_.backoff_factor(), kDouble));
  out.insert("growth_interval", full({}, options_.growth_interval(), kLong));
  out.insert("_growth_tracker", full({}, growth_tracker_, kLong));
  return out;
}

void GradScaler::load_state_dict(const OrderedDict<std::string, Tensor>& state) {
  if (!options_.enabled()) return;
  optim::check_state("GradScaler", state_dict(), state);
  scale_ = state["scale"].item<double>();
  options_.growth_factor(state["growth_factor"].item<double>())
      .backoff_factor(state["backoff_factor"].item<double>())
      .growth_interval(state["growth_interval"].item<int64_t>());
  growth_tracker_ = state["_growth_tracker"].item<int64_t>();
}

}  // namespace gradus::amp
