// L-BFGS: Nocedal and Wright, "Numerical optimization" (2006), algorithms 7.4 and 7.5. The line
// search "strong_wolfe" is algorithms 3.5 and 3.6 there. A step runs up to max_iter iterations, as
// PyTorch does.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "gradus/optim/optimizer.h"

namespace gradus::optim {

// The state of all parameters together, as one vector. The first parameter holds it.
struct LBFGSParamState : OptimizerParamState {
  // The last step was t * d. H_diag is the first guess of the inverse Hessian. old_dirs holds the
  // changes y of the gradient in earlier steps, old_stps the changes s of the parameters, and ro 1
  // / (y s).
  GRADUS_FIELDS(LBFGSParamState, VALUE(int64_t, func_evals, 0), VALUE(int64_t, n_iter, 0),
                VALUE(double, t, 0), VALUE(double, prev_loss, 0), ALL(Tensor, d),
                NUMBER(Tensor, H_diag), ALL(Tensor, prev_flat_grad),
                ALL(std::deque<Tensor>, old_dirs), ALL(std::deque<Tensor>, old_stps),
                NUMBER(std::deque<Tensor>, ro));
};

struct LBFGSOptions : OptimizerCloneableOptions<LBFGSOptions> {
  LBFGSOptions(double lr = 1) : lr_(lr) {}  // NOLINT: implicit, as in libtorch
  // max_eval: calls of the closure in a step; without a value max_iter * 5 / 4. A step ends where
  // no element of the gradient is larger than tolerance_grad, or where neither the loss nor a
  // parameter changes by more than tolerance_change. line_search_fn: "strong_wolfe", or none: steps
  // of lr.
  GRADUS_FIELDS(LBFGSOptions, AT_LEAST_0(double, lr), VALUE(int64_t, max_iter, 20),
                VALUE(std::optional<int64_t>, max_eval), VALUE(double, tolerance_grad, 1e-7),
                VALUE(double, tolerance_change, 1e-9), VALUE(int64_t, history_size, 100),
                VALUE(std::optional<std::string>, line_search_fn));
  void validate() const override;
};

// Errors: ValueError for more than one parameter group.
class LBFGS : public Optimizer {
 public:
  LBFGS(std::vector<OptimizerParamGroup> groups, const LBFGSOptions& defaults = {});
  LBFGS(Tensors params, const LBFGSOptions& defaults = {})
      : LBFGS(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))}, defaults) {}

  // The loss before the step. The closure is called several times.
  // Errors: ValueError without a closure; those of Optimizer::step.
  Tensor step(LossClosure closure) override;

 private:
  std::unique_ptr<OptimizerParamState> new_state() const override;
  // The gradients of all parameters as one vector, 0 where there is none.
  Tensor flat_gradient() const;
  // The iterations of a step, from the loss at the parameters on.
  void iterate(const LossClosure& closure, const Tensor& first_loss, const Tensors& all,
               LBFGSParamState& state);
  // Adds t * d to the parameters.
  void move(double t, const Tensor& d) const;
};

}  // namespace gradus::optim
