// Steps that a CUDA graph captures, and steps that the device passes over.
#include <algorithm>
#include <typeinfo>

#include "gradus/cuda/runtime/graph.h"
#include "gradus/optim/step.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::optim {

cuda::Graph* graph_of(const Tensor& parameter) {
  const Device device = parameter.device();
  return device.is_cuda() ? cuda::Graph::capturing(device.index()) : nullptr;
}

namespace {
bool holds(OptimizerParamState& state, const Tensor& x) {
  return std::ranges::any_of(state.fields(), [&](const Field& field) {
    auto* const* const tensor = std::get_if<Tensor*>(&field.value);
    return tensor && (*tensor)->is_same(x);
  });
}
}  // namespace

Tensor Optimizer::step_unless(const Tensor& found_inf) {
  if (!heeds_found_inf()) return found_inf.item<double>() != 0 ? Tensor() : step();
  if (found_inf.is_cuda() && !(skipped_.defined() && skipped_.device() == found_inf.device())) {
    check<Error>(!graph_of(found_inf), algorithm_name(typeid(*this)),
                 ": the first step that may be passed over cannot be captured for a graph, because "
                 "it makes a counter; call it once before the capture");
    settle();
    skipped_ = raw::empty_like(found_inf);
    raw::fill_(skipped_, 0);
  }
  const struct Given {
    ~Given() { found_inf = Tensor(); }
    Tensor& found_inf;
  } given{found_inf_ = found_inf};
  return step();
}

// A captured step has to, so capture() refuses one that makes states.
bool Optimizer::can_gate(const std::vector<Due>& due) const {
  if (!found_inf_.defined() || !found_inf_.is_cuda()) return false;
  return std::ranges::all_of(due, [&](const Due& one) {
    const auto known = [](const Tensor* kept) { return kept->defined(); };
    return one.parameter->device() == found_inf_.device() &&
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

}  // namespace gradus::optim
