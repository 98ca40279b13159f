#include "gradus/optim/sgd.h"

#include <utility>

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::optim {

namespace {
const SGDOptions& options_of(const OptimizerParamGroup& group) {
  const auto* options = dynamic_cast<const SGDOptions*>(&group.options());
  check<TypeError>(options != nullptr, "SGD: a parameter group has options of another optimizer");
  return *options;
}

bool is_arriving(const Tensor& parameter) { return parameter.grad().impl().storage->is_arriving(); }

// The parameters that have gradients, in the turns in which they are stepped. Those whose gradients
// other devices still add to come last, in the order in which a backward pass goes through the
// layers: the others are stepped meanwhile. A turn has at least half of the bytes that are left, so
// that turns are few: memory is at its full speed only some time after a call has begun.
std::vector<Tensors> in_turns(const Tensors& parameters) {
  Tensors order, late;
  size_t left = 0;
  for (const Tensor& parameter : parameters) {
    if (!parameter.grad().defined()) continue;
    (is_arriving(parameter) ? late : order).push_back(parameter);
    left += parameter.nbytes();
  }
  order.insert(order.end(), late.rbegin(), late.rend());
  std::vector<Tensors> turns;
  size_t turn_bytes = 0;
  const StorageImpl* last = nullptr;
  for (const Tensor& parameter : order) {
    const StorageImpl* const from = parameter.grad().impl().storage.get();
    const bool waits = is_arriving(parameter) && from != last;
    if (turns.empty() || (waits && 2 * turn_bytes >= left)) {
      turns.emplace_back();
      left -= std::exchange(turn_bytes, 0);
    }
    turns.back().push_back(parameter);
    turn_bytes += parameter.nbytes();
    last = from;
  }
  return turns;
}
}  // namespace

void SGDOptions::validate() const {
  check(lr() >= 0, "SGD: lr = ", lr(), " is negative");
  check(momentum() >= 0, "SGD: momentum = ", momentum(), " is negative");
  check(weight_decay() >= 0, "SGD: weight_decay = ", weight_decay(), " is negative");
  check(!nesterov() || (momentum() > 0 && dampening() == 0),
        "SGD: Nesterov momentum needs momentum above 0 and dampening 0, got momentum = ",
        momentum(), " and dampening = ", dampening());
}

SGD::SGD(std::vector<OptimizerParamGroup> groups, const SGDOptions& options)
    : Optimizer(std::move(groups), options.clone()) {
  for (const OptimizerParamGroup& group : param_groups()) options_of(group);
}

Tensor SGD::step(LossClosure closure) {
  Tensor loss;
  if (closure) {
    const AutoGradMode mode(true);
    loss = closure();
  }
  const NoGradGuard guard;
  check_step("SGD");
  for (const OptimizerParamGroup& group : param_groups()) {
    const SGDOptions& o = options_of(group);
    SgdSettings settings{o.lr(),       o.momentum(), o.dampening(), o.weight_decay(),
                         o.nesterov(), o.maximize(), false};
    // The parameters of a turn go to the backend in one call per device and dtype, and apart where
    // their momentum is still to be made.
    std::vector<SgdParameter> batch;
    struct Target {
      Tensor parameter;  // not contiguous, float16 or bfloat16: the step is made on a copy
      SGDParamState* kept;
    };
    std::vector<Target> targets;
    const auto flush = [&] {
      if (!batch.empty()) backend(batch[0].parameter).sgd(settings, batch);
      for (size_t i = 0; i < batch.size(); ++i) {
        const auto& [parameter, kept] = targets[i];
        if (!parameter.is_same(batch[i].parameter)) raw::copy_(parameter, batch[i].parameter);
        parameter.impl().storage->bump_version();
        if (kept != nullptr) kept->momentum_buffer(batch[i].buffer);
      }
      batch.clear();
      targets.clear();
    };
    for (const Tensors& turn : in_turns(group.params())) {
      for (const Tensor& parameter : turn) {
        if (parameter.numel() == 0) continue;
        const Tensor wide = raw::contiguous(raw::to(parameter, computed_type(parameter.dtype())));
        Tensor buffer;
        SGDParamState* kept = nullptr;
        bool first = false;
        if (o.momentum() != 0) {
          kept = static_cast<SGDParamState*>(&state_of(parameter));
          first = !kept->momentum_buffer().defined();
          buffer = first ? raw::empty_like(wide) : kept->momentum_buffer();
          if (buffer.dtype() != wide.dtype() || buffer.device() != wide.device())
            buffer = raw::to(raw::to(buffer, wide.dtype()), wide.device());
        }
        const bool fits = batch.empty() || (settings.first == first &&
                                            batch[0].parameter.device() == parameter.device() &&
                                            batch[0].parameter.dtype() == wide.dtype());
        if (!fits) flush();
        settings.first = first;
        batch.push_back({wide, raw::to(parameter.grad(), wide.dtype()).contiguous(), buffer});
        targets.push_back({parameter, kept});
      }
      flush();
    }
  }
  return loss;
}

}  // namespace gradus::optim
