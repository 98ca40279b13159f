// L-BFGS: its options, its state and its step.
#include "gradus/optim/lbfgs.h"

#include <algorithm>
#include <cmath>

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/optim/wolfe.h"
#include "gradus/tensor/base/observed.h"
#include "gradus/tensor/factories.h"

namespace gradus::optim {

void LBFGSOptions::validate() const {
  OptimizerOptions::validate();
  check(history_size_ >= 1, "LBFGS: history_size = ", history_size_, ", expected 1 or more");
  check(!line_search_fn_ || line_search_fn_ == "strong_wolfe", "LBFGS: line_search_fn = \"",
        line_search_fn_.value_or(""), "\"; only 'strong_wolfe' is supported");
}

std::unique_ptr<OptimizerParamState> LBFGS::new_state() const {
  return std::make_unique<LBFGSParamState>();
}

LBFGS::LBFGS(std::vector<OptimizerParamGroup> groups, const LBFGSOptions& defaults)
    : Optimizer(std::move(groups), defaults.clone()) {
  check(param_groups().size() == 1,
        "LBFGS doesn't support per-parameter options (parameter "
        "groups): there are ",
        param_groups().size(), " groups, expected 1");
}

Tensor LBFGS::flat_gradient() const {
  Tensors parts;
  for (const Tensor& parameter : parameters()) {
    const Tensor& grad = parameter.grad();
    const ScalarType dtype = computed_type(parameter.dtype());  // products overflow half types
    parts.push_back(grad.defined() ? grad.detach().reshape({-1}).to(dtype)
                                   : zeros({parameter.numel()},
                                           TensorOptions(dtype).device(parameter.device())));
  }
  return cat(parts);
}

void LBFGS::move(double t, const Tensor& d) const {
  int64_t begin = 0;
  for (Tensor parameter : parameters()) {
    const int64_t end = begin + parameter.numel();
    parameter.add_(d.slice(0, begin, end).view_as(parameter), t);
    begin = end;
  }
}

namespace {
// The product of the inverse Hessian, as the history has it, and -gradient.
Tensor direction(const LBFGSParamState& state, const Tensor& gradient) {
  const auto &y = state.old_dirs(), &s = state.old_stps(), &ro = state.ro();
  Tensors shares(y.size());
  Tensor d = gradient.neg();
  for (size_t i = y.size(); i-- > 0;) {
    shares[i] = s[i].dot(d) * ro[i];
    d.sub_(y[i] * shares[i]);
  }
  d.mul_(state.H_diag());
  for (size_t i = 0; i < y.size(); ++i) d.add_(s[i] * (shares[i] - y[i].dot(d) * ro[i]));
  return d;
}

// Adds the last step to the history, unless the function was not convex there.
void remember(LBFGSParamState& state, const Tensor& gradient, size_t most) {
  const Tensor y = gradient - state.prev_flat_grad(), s = state.d() * state.t(), ys = y.dot(s);
  if (!(ys.item<double>() > 1e-10)) return;
  const auto add = [&](std::deque<Tensor> all, const Tensor& next) {
    if (all.size() == most) all.pop_front();
    all.push_back(next);
    return all;
  };
  state.old_dirs(add(state.old_dirs(), y)).old_stps(add(state.old_stps(), s));
  state.ro(add(state.ro(), ys.reciprocal())).H_diag(ys / y.dot(y));
}

// Checks for parts that a loaded state may lack.
void check_whole(const LBFGSParamState& state) {
  const size_t steps = state.old_dirs().size();
  check(state.n_iter() == 0 ||
            (state.d().defined() && state.H_diag().defined() && state.prev_flat_grad().defined() &&
             state.old_stps().size() == steps && state.ro().size() == steps),
        "LBFGS: the state lacks tensors after ", state.n_iter(),
        " iterations; load all that state_dict() gave");
}

double largest(const Tensor& x) { return x.abs().max().item<double>(); }
}  // namespace

Tensor LBFGS::step(LossClosure closure) {
  const Observed<Optimizer> observed(*this);
  check(closure != nullptr,
        "LBFGS: step() has no closure; give it one that clears the gradients, "
        "computes the loss, calls backward and returns the loss");
  check(param_groups().size() == 1,
        "LBFGS doesn't support per-parameter options; give it one group of parameters");
  const Tensors all = parameters();
  check_some(typeid(*this), all.size());
  const Tensor first_loss = evaluate(closure);
  const NoGradGuard guard;
  for (const Tensor& parameter : all)
    if (parameter.grad().defined()) check_gradient(parameter);
  auto& state = static_cast<LBFGSParamState&>(state_of(all[0]));
  check_whole(state);
  LBFGSParamState state_before = state;
  Tensors before;
  for (const Tensor& parameter : all) before.push_back(parameter.detach().clone());
  try {
    iterate(closure, first_loss, all, state);
  } catch (...) {
    state = std::move(state_before);
    for (size_t k = 0; k < all.size(); ++k) Tensor(all[k]).copy_(before[k]);
    throw;
  }
  return first_loss;
}

void LBFGS::iterate(const LossClosure& closure, const Tensor& first_loss, const Tensors& all,
                    LBFGSParamState& state) {
  const auto& options = static_cast<const LBFGSOptions&>(param_groups()[0].options());
  const int64_t max_eval = options.max_eval().value_or(options.max_iter() * 5 / 4);
  double loss = first_loss.item<double>();
  Tensor gradient = flat_gradient();
  int64_t evaluations = 1;
  ++state.func_evals_;
  if (gradient.numel() == 0 || largest(gradient) <= options.tolerance_grad()) return;
  const auto evaluate_again = [&] {
    ++evaluations, ++state.func_evals_;
    loss = evaluate(closure).item<double>();
    gradient = flat_gradient();
  };

  for (int64_t i = 1; i <= options.max_iter(); ++i) {
    const bool first = ++state.n_iter_ == 1;
    if (first) {
      state.d(gradient.neg()).H_diag(ones({}, gradient.options()));
      state.old_dirs({}).old_stps({}).ro({});
    } else {
      remember(state, gradient, static_cast<size_t>(options.history_size()));
      state.d(direction(state, gradient));
    }
    state.prev_flat_grad(gradient).prev_loss(loss);
    state.t(options.lr() * (first ? std::min(1.0, 1 / gradient.abs().sum().item<double>()) : 1));
    const Tensor& d = state.d();
    const double slope = gradient.dot(d).item<double>();
    if (slope > -options.tolerance_change()) break;

    if (options.line_search_fn()) {
      Tensors before;
      for (const Tensor& parameter : all) before.push_back(parameter.detach().clone());
      const auto at = [&](double t) {
        move(t, d);
        evaluate_again();
        for (size_t k = 0; k < all.size(); ++k) Tensor(all[k]).copy_(before[k]);
        return LinePoint{t, loss, gradient.dot(d).item<double>(), gradient};
      };
      const LinePoint found =
          strong_wolfe(at, {0, loss, slope, gradient}, state.t(),
                       options.tolerance_change() / largest(d), max_eval - evaluations);
      state.t(found.t);
      loss = found.value, gradient = found.gradient;
      move(found.t, d);
    } else {
      move(state.t(), d);
      if (i == options.max_iter()) break;  // the next step begins with this evaluation
      evaluate_again();
    }
    if (evaluations >= max_eval || largest(gradient) <= options.tolerance_grad() ||
        largest(d) * std::abs(state.t()) <= options.tolerance_change() ||
        std::abs(loss - state.prev_loss()) < options.tolerance_change())
      break;
  }
}

}  // namespace gradus::optim
