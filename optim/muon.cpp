// Muon: its options and its step.
#include "gradus/optim/muon.h"

#include <algorithm>
#include <cmath>

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/cuda/runtime/graph.h"
#include "gradus/tensor/base/observed.h"
#include "gradus/tensor/factories.h"

namespace gradus::optim {

void MuonOptions::validate() const {
  OptimizerOptions::validate();
  check(ns_steps_ >= 0 && ns_steps_ < 100, "Muon: ns_steps = ", ns_steps_,
        ", expected 0 or more and below 100");
  const std::string name = adjust_lr_fn_.value_or("original");
  check(name == "original" || name == "match_rms_adamw" || name == "spectral_unclamped",
        "Muon: adjust_lr_fn = \"", name,
        "\", expected \"original\", \"match_rms_adamw\" or \"spectral_unclamped\"");
}

namespace {
void check_matrix(const Tensor& parameter) {
  check(parameter.dim() == 2, "Muon: a parameter has shape ", parameter.sizes(),
        ", expected 2 dimensions; give it to AdamW");
}

double scale_of(const MuonOptions& options, const Tensor& parameter) {
  const double a = static_cast<double>(parameter.size(0)),
               b = static_cast<double>(parameter.size(1));
  const std::string name = options.adjust_lr_fn().value_or("original");
  if (name == "match_rms_adamw") return 0.2 * std::sqrt(std::max(a, b));
  return std::sqrt(name == "original" ? std::max(1.0, a / b) : a / b);
}

// The iteration of Newton and Schulz, x = a x + (b x x' + c (x x')^2) x, on the matrix with its
// shorter side as rows.
Tensor orthogonal(const Tensor& update, const MuonOptions& options) {
  const auto [a, b, c] = options.ns_coefficients();
  const bool tall = update.size(0) > update.size(1);
  Tensor x = (tall ? update.t() : update).to(kBFloat16);
  x = x / x.norm().clamp_min(options.eps());
  for (int64_t i = 0; i < options.ns_steps(); ++i) {
    const Tensor gram = x.matmul(x.t());
    x = x.addmm(gram.addmm(gram, gram, b, c), x, a, 1);
  }
  return tall ? x.t() : x;
}
}  // namespace

std::unique_ptr<OptimizerParamState> Muon::new_state() const {
  return std::make_unique<MuonParamState>();
}

Muon::Muon(std::vector<OptimizerParamGroup> groups, const MuonOptions& defaults)
    : Optimizer(std::move(groups), defaults.clone()) {
  for (const Tensor& parameter : parameters()) check_matrix(parameter);
}

Tensor Muon::step(LossClosure closure) {
  const Observed<Optimizer> observed(*this);
  check<Error>(
      !cuda::is_current_stream_capturing(),
      "Muon: step() cannot be captured for a graph, because its learning rate would stay as "
      "it is now; call it after replay()");
  const Tensor loss = evaluate(closure);
  const NoGradGuard guard;
  check_some(typeid(*this), parameters().size());
  for (const Tensor& parameter : parameters()) {
    check_matrix(parameter);
    if (parameter.grad().defined()) check_gradient(parameter);
  }
  // All updates are computed before the first parameter changes.
  struct Update {
    Tensor parameter, momentum, change;
    double keep, rate;
  };
  std::vector<Update> updates;
  for (const OptimizerParamGroup& group : param_groups()) {
    const auto& options = static_cast<const MuonOptions&>(group.options());
    for (Tensor parameter : group.params()) {
      if (!parameter.grad().defined() || parameter.numel() == 0) continue;
      const Tensor grad = parameter.grad().to(computed_type(parameter.dtype()));
      const Tensor kept = static_cast<MuonParamState&>(state_of(parameter)).momentum_buffer();
      const Tensor momentum = (kept.defined() ? beside(kept, parameter) : zeros_like(grad))
                                  .lerp(grad, 1 - options.momentum());
      const Tensor update = options.nesterov() ? grad.lerp(momentum, options.momentum()) : momentum;
      updates.push_back({parameter, momentum,
                         orthogonal(update, options).to(parameter.scalar_type()),
                         1 - options.lr() * options.weight_decay(),
                         -options.lr() * scale_of(options, parameter)});
    }
  }
  for (Update& update : updates) {
    static_cast<MuonParamState&>(state_of(update.parameter)).momentum_buffer(update.momentum);
    update.parameter.mul_(update.keep).add_(update.change, update.rate);
  }
  return loss;
}

}  // namespace gradus::optim
