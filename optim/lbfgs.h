// L-BFGS: Nocedal and Wright, "Numerical optimization" (2006), algorithms 7.4 and 7.5, and for
// "strong_wolfe" the line search of algorithms 3.5 and 3.6. A step runs up to max_iter iterations,
// as PyTorch does.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "gradus/optim/optimizer.h"

namespace gradus::optim {

// Of all parameters together, as one vector; the first parameter has it.
struct LBFGSParamState : OptimizerParamState {
  GRADUS_OPTION(LBFGSParamState, int64_t, func_evals) = 0;
  GRADUS_OPTION(LBFGSParamState, int64_t, n_iter) = 0;
  GRADUS_OPTION(LBFGSParamState, double, t) = 0;          // the last step was t * d
  GRADUS_OPTION(LBFGSParamState, double, prev_loss) = 0;  // before it
  GRADUS_OPTION(LBFGSParamState, Tensor, d);
  GRADUS_OPTION(LBFGSParamState, Tensor, H_diag);  // the first guess of the inverse Hessian
  GRADUS_OPTION(LBFGSParamState, Tensor, prev_flat_grad);
  // Changes of the gradient y and of the parameters s in earlier steps, and 1 / (y s).
  GRADUS_OPTION(LBFGSParamState, std::deque<Tensor>, old_dirs);
  GRADUS_OPTION(LBFGSParamState, std::deque<Tensor>, old_stps);
  GRADUS_OPTION(LBFGSParamState, std::deque<Tensor>, ro);

  Fields fields() override;
};

struct LBFGSOptions : OptimizerCloneableOptions<LBFGSOptions> {
  LBFGSOptions(double lr = 1) : lr_(lr) {}  // NOLINT: implicit, as in libtorch
  GRADUS_OPTION(LBFGSOptions, double, lr);
  GRADUS_OPTION(LBFGSOptions, int64_t, max_iter) = 20;
  // Calls of the closure in a step; without a value max_iter * 5 / 4.
  GRADUS_OPTION(LBFGSOptions, std::optional<int64_t>, max_eval);
  // A step ends where no element of the gradient is larger,
  GRADUS_OPTION(LBFGSOptions, double, tolerance_grad) = 1e-7;
  // or where neither the loss nor a parameter changes by more.
  GRADUS_OPTION(LBFGSOptions, double, tolerance_change) = 1e-9;
  GRADUS_OPTION(LBFGSOptions, int64_t, history_size) = 100;
  // "strong_wolfe", or none: steps of lr.
  GRADUS_OPTION(LBFGSOptions, std::optional<std::string>, line_search_fn);

  Fields fields() override;
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
  std::unique_ptr<OptimizerParamState> new_state() const override {
    return std::make_unique<LBFGSParamState>();
  }
  // The gradients of all parameters as one vector, 0 where there is none.
  Tensor flat_gradient() const;
  // Adds t * d to the parameters.
  void move(double t, const Tensor& d) const;
};

}  // namespace gradus::optim
