// Muon, for matrices: Jordan et al., "Muon: an optimizer for hidden layers in neural networks"
// (2024), in PyTorch's form:
//
//   m = momentum * m + (1 - momentum) * grad
//   u = nesterov ? (1 - momentum) * grad + momentum * m : m
//   p = (1 - lr * weight_decay) * p - lr * scale * orthogonal(u)
//
// orthogonal(u), with the singular values of u brought to about 1, takes matrix products of
// bfloat16. libtorch has no Muon. The names are those of PyTorch's in Python.
#pragma once

#include <optional>
#include <string>
#include <tuple>

#include "gradus/optim/optimizer.h"

namespace gradus::optim {

struct MuonParamState : OptimizerParamState {
  GRADUS_FIELDS(MuonParamState, VALUE(Tensor, momentum_buffer));
};

struct MuonOptions : OptimizerCloneableOptions<MuonOptions> {
  MuonOptions(double lr = 1e-3) : lr_(lr) {}  // NOLINT: implicit, as those of libtorch
  using coefficients_t = std::tuple<double, double, double>;
  // adjust_lr_fn names the scale for a matrix [A, B]. "original" or none: sqrt(max(1, A / B)).
  // "match_rms_adamw": 0.2 sqrt(max(A, B)). "spectral_unclamped": sqrt(A / B).
  GRADUS_FIELDS(MuonOptions, AT_LEAST_0(double, lr), AT_LEAST_0(double, weight_decay, 0.1),
                AT_LEAST_0(double, momentum, 0.95), VALUE(bool, nesterov, true),
                VALUE(coefficients_t, ns_coefficients, {3.4445, -4.775, 2.0315}),
                AT_LEAST_0(double, eps, 1e-7), VALUE(int64_t, ns_steps, 5),
                VALUE(std::optional<std::string>, adjust_lr_fn));

  void validate() const override;
};

// Errors: ValueError for parameters of other than 2 dimensions; leave them to AdamW.
class Muon : public Optimizer {
 public:
  Muon(std::vector<OptimizerParamGroup> groups, const MuonOptions& defaults = {});
  Muon(Tensors params, const MuonOptions& defaults = {})
      : Muon(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))}, defaults) {}

  Tensor step(LossClosure closure = nullptr) override;

 private:
  std::unique_ptr<OptimizerParamState> new_state() const override;
};

}  // namespace gradus::optim
