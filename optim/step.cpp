// The step of every optimizer of optimizers.def: all but an algorithm's coefficients and formula.
#include <algorithm>
#include <typeinfo>

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/cuda/runtime/graph.h"
#include "gradus/optim/optimizer.h"
#include "gradus/optim/turns.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::optim {

// A parameter that has a gradient.
struct Optimizer::Due {
  const Tensor *parameter, *gradient;
  size_t group;
  ScalarType dtype;  // that the step is computed in
  OptimizerParamState* state;
  std::unique_ptr<OptimizerParamState> made;   // the same, where there was none before the step
  std::array<Tensor*, kMostStates> tensors{};  // of the state
  int64_t* steps = nullptr;                    // where the state counts them
  Step step{};

  bool goes_with(const Due& other) const {
    return step.op == other.step.op && step.states == other.step.states && dtype == other.dtype &&
           parameter->device() == other.parameter->device();
  }
};

Tensor Optimizer::evaluate(const LossClosure& closure) {
  const AutoGradMode mode(true);
  return closure ? closure() : Tensor();
}

Tensor Optimizer::step(LossClosure closure) {
  const Tensor loss = evaluate(closure);
  const NoGradGuard guard;
  std::vector<Due> due = check_step();
  const bool gated = can_gate(due);
  std::vector<void*> uncertain;
  if (gated)
    for (const Due& one : due) uncertain.push_back(&one.parameter->impl());
  if (count_passed_over(uncertain)) due = check_step();  // by the counts as they are now
  if (!gated && skip_.defined()) {
    if (skip_.item<double>() != 0) return loss;
    skip_ = Tensor();
  }
  std::vector<const Tensor*> gradients;
  gradients.reserve(due.size());
  for (const Due& one : due) gradients.push_back(one.gradient);
  for (std::vector<size_t>& turn : in_turns(gradients))
    while (!turn.empty()) {
      const Due& first = due[turn[0]];
      const auto rest = std::stable_partition(turn.begin(), turn.end(),
                                              [&](size_t i) { return due[i].goes_with(first); });
      std::vector<Due*> batch;
      batch.reserve(turn.size());
      for (auto i = turn.begin(); i != rest; ++i) batch.push_back(&due[*i]);
      step_together(batch);
      turn.erase(turn.begin(), rest);
    }
  if (gated) skipped_.add_(skip_);
  return loss;
}

std::vector<Optimizer::Due> Optimizer::check_step() const {
  std::vector<Due> out;
  size_t parameters = 0;
  for (const OptimizerParamGroup& group : groups_) parameters += group.params().size();
  check_some(typeid(*this), parameters);
  out.reserve(parameters);
  for (size_t number = 0; number < groups_.size(); ++number) {
    const OptimizerParamGroup& group = groups_[number];
    check_options(group);
    for (const Tensor& parameter : group.params()) {
      const Tensor& grad = parameter.grad();
      if (!grad.defined() || parameter.numel() + grad.numel() == 0) continue;
      check_gradient(parameter);
      const auto kept = state_.find(&parameter.impl());
      auto made = kept == state_.end() ? new_state() : nullptr;
      OptimizerParamState& state = made ? *made : *kept->second;
      Due one{&parameter, &grad, number, computed_type(parameter.dtype()), &state, std::move(made)};
      one.step = step_of(group.options(), state);
      auto next = one.tensors.begin();
      unsigned left_out = one.step.without;
      for (const Field& field : state.fields())
        if (auto* const* count = std::get_if<int64_t*>(&field.value)) {
          one.steps = *count;
        } else if (auto* const* tensor = std::get_if<Tensor*>(&field.value)) {
          if ((*tensor)->defined() && (*tensor)->sizes() != parameter.sizes())
            fail(algorithm_name(typeid(*this)), ": a parameter has shape ", parameter.sizes(),
                 ", and its ", field.name, " ", (*tensor)->sizes(),
                 "; make a new optimizer after the parameter has been replaced");
          if (!(left_out & 1) && next != one.tensors.end()) *next++ = *tensor;
          left_out >>= 1;
        }
      out.push_back(std::move(one));
    }
  }
  return out;
}

void Optimizer::check_gradient(const Tensor& parameter) const {
  const Tensor& grad = parameter.grad();
  if (grad.sizes() != parameter.sizes() || grad.device() != parameter.device())
    fail(algorithm_name(typeid(*this)), ": a parameter has shape ", parameter.sizes(), " on ",
         parameter.device(), ", and its gradient ", grad.sizes(), " on ", grad.device(),
         "; call zero_grad() and backward() after the parameter has been replaced");
  if (!isFloatingType(parameter.dtype()))
    fail<TypeError>(algorithm_name(typeid(*this)), ": a parameter of shape ", parameter.sizes(),
                    " is ", parameter.dtype(), ", expected floating point; use .to(kFloat)");
}

namespace {
// The graph that a step of the parameter is captured for, or null.
cuda::Graph* graph_of(const Tensor& parameter) {
  const Device device = parameter.device();
  return device.is_cuda() ? cuda::Graph::capturing(device.index()) : nullptr;
}

bool holds(OptimizerParamState& state, const Tensor& x) {
  return std::ranges::any_of(state.fields(), [&](const Field& field) {
    auto* const* const tensor = std::get_if<Tensor*>(&field.value);
    return tensor && (*tensor)->is_same(x);
  });
}
}  // namespace

Tensor Optimizer::step_unless(const Tensor& skip) {
  if (!heeds_skip()) return skip.item<double>() != 0 ? Tensor() : step();
  if (skip.is_cuda() && !(skipped_.defined() && skipped_.device() == skip.device())) {
    check<Error>(!graph_of(skip), algorithm_name(typeid(*this)),
                 ": the first step that may be passed over cannot be captured for a graph, because "
                 "it makes a counter; call it once before the capture");
    settle();
    skipped_ = raw::empty_like(skip);
    raw::fill_(skipped_, 0);
  }
  const struct Given {
    ~Given() { skip = Tensor(); }
    Tensor& skip;
  } given{skip_ = skip};
  return step();
}

// A captured step has to, so capture() refuses one that makes states.
bool Optimizer::can_gate(const std::vector<Due>& due) const {
  if (!skip_.defined() || !skip_.is_cuda()) return false;
  return std::ranges::all_of(due, [&](const Due& one) {
    const auto known = [](const Tensor* kept) { return kept->defined(); };
    return one.parameter->device() == skip_.device() &&
           (graph_of(*one.parameter) ||
            std::all_of(one.tensors.begin(), one.tensors.begin() + one.step.states, known));
  });
}

bool Optimizer::count_passed_over(const std::vector<void*>& parameters) const {
  if (uncertain_ == parameters) return false;
  const auto passed = uncertain_.empty() ? 0 : static_cast<int64_t>(skipped_.item<double>());
  if (passed != 0) {
    for (void* parameter : uncertain_)
      if (const auto kept = state_.find(parameter); kept != state_.end())
        for (const Field& field : kept->second->fields())
          if (auto* const* count = std::get_if<int64_t*>(&field.value)) **count -= passed;
    raw::fill_(skipped_, 0);
  }
  uncertain_ = parameters;
  return passed != 0;
}

// The coefficients are those of each replay's time, and state is counted then.
void Optimizer::capture(cuda::Graph& graph, const std::vector<Due*>& batch,
                        const std::vector<UpdatedParameter>& updated) {
  struct Kept {
    Tensor parameter, gradient;
    size_t group;
  };
  const auto [op, states, without, coefficients] = batch[0]->step;
  std::vector<Kept> kept;
  for (size_t i = 0; i < batch.size(); ++i) {
    const Due& one = *batch[i];
    for (int k = 0; k < states; ++k)
      check<Error>(
          one.tensors[k]->defined() && one.tensors[k]->is_same(updated[i].states[k]),
          algorithm_name(typeid(*this)),
          ": the first step of a parameter cannot be captured for a graph, because it makes "
          "its state; call step() once before the capture");
    kept.push_back({*one.parameter, *one.gradient, one.group});
  }
  graph.launch_anew([this, op = op, states = states, kept, updated = updated,
                     uncertain = uncertain_](bool replays) mutable {
    count_passed_over(uncertain);
    for (size_t i = 0; i < kept.size(); ++i) {
      OptimizerParamState& state = state_of(kept[i].parameter);
      const Step next = step_of(groups_[kept[i].group].options(), state);
      check<Error>(next.op == op && next.states == states, algorithm_name(typeid(*this)),
                   ": a captured step keeps ", states,
                   " states of a parameter, and the options now "
                   "ask for ",
                   next.states, "; capture the step again");
      for (int k = 0; k < states; ++k)
        check<Error>(holds(state, updated[i].states[k]), algorithm_name(typeid(*this)),
                     ": the state of a parameter was replaced after a step was captured; capture "
                     "the step again");
      updated[i].coefficients = next.coefficients;
    }
    backend(updated[0].parameter).update(op, states, updated);
    if (!replays) return;
    for (const Kept& one : kept) {
      one.parameter.impl().storage->bump_version();
      for (const Field& field : state_of(one.parameter).fields())
        if (auto* const* count = std::get_if<int64_t*>(&field.value)) ++**count;
    }
  });
}

void Optimizer::step_together(const std::vector<Due*>& batch) {
  const Step& step = batch[0]->step;
  std::vector<UpdatedParameter> updated;
  updated.reserve(batch.size());
  for (const Due* one : batch) {
    UpdatedParameter& next = updated.emplace_back();
    // A copy of a parameter that is not contiguous, float16 or bfloat16.
    next.parameter = raw::contiguous(raw::to(*one->parameter, one->dtype));
    next.gradient = raw::contiguous(raw::to(*one->gradient, one->dtype));
    next.coefficients = one->step.coefficients;
    if (skip_.defined()) next.skip = skip_, next.skipped = skipped_;
    for (int k = 0; k < step.states; ++k) {
      const Tensor& kept = *one->tensors[k];
      if (!kept.defined()) next.fresh |= 1u << k;
      next.states[k] = kept.defined() ? raw::contiguous(beside(kept, *one->parameter))
                                      : raw::empty_like(next.parameter);
    }
  }
  cuda::Graph* const graph = graph_of(updated[0].parameter);
  if (graph)
    capture(*graph, batch, updated);
  else
    backend(updated[0].parameter).update(step.op, step.states, updated);
  for (size_t i = 0; i < batch.size(); ++i) {
    Due& one = *batch[i];
    if (!one.parameter->is_same(updated[i].parameter))
      raw::copy_(*one.parameter, updated[i].parameter);
    if (graph) continue;  // whose replays count
    one.parameter->impl().storage->bump_version();
    for (int k = 0; k < step.states; ++k) *one.tensors[k] = updated[i].states[k];
    if (one.steps) ++*one.steps;
    if (one.made) state_[&one.parameter->impl()] = std::move(one.made);
  }
}

}  // namespace gradus::optim
