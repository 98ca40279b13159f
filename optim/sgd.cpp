#include "gradus/optim/sgd.h"

#include "gradus/autograd/grad_mode.h"
#include "gradus/tensor/raw.h"

namespace gradus::optim {

namespace {
const SGDOptions& options_of(const OptimizerParamGroup& group) {
  const auto* options = dynamic_cast<const SGDOptions*>(&group.options());
  check<TypeError>(options != nullptr, "SGD: a parameter group has options of another optimizer");
  return *options;
}

bool is_arriving(const Tensor& parameter) { return parameter.grad().impl().storage->is_arriving(); }

// The parameters that have gradients. Those whose gradients other devices still add to come last,
// in the order in which a backward pass goes through the layers: the others are stepped meanwhile.
Tensors in_order_of_arrival(const Tensors& parameters) {
  Tensors order, late;
  for (const Tensor& parameter : parameters)
    if (parameter.grad().defined()) (is_arriving(parameter) ? late : order).push_back(parameter);
  order.insert(order.end(), late.rbegin(), late.rend());
  return order;
}

// One call would wait for the later of the two.
bool arrive_together(const Tensor& a, const Tensor& b) {
  return (!is_arriving(a) && !is_arriving(b)) || a.grad().impl().storage == b.grad().impl().storage;
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
  for (const OptimizerParamGroup& group : param_groups()) {
    const SGDOptions& o = options_of(group);
    SgdSettings settings{o.lr(),       o.momentum(), o.dampening(), o.weight_decay(),
                         o.nesterov(), o.maximize(), false};
    // Parameters go to the backend in one call per device and dtype, and apart where their momentum
    // is still to be made.
    std::vector<SgdParameter> batch;
    struct Target {
      Tensor parameter;  // of float16 or bfloat16: the step is made on a copy in float32
      SGDParamState* kept;
    };
    std::vector<Target> targets;
    const auto flush = [&] {
      if (!batch.empty()) backend(batch[0].parameter).sgd(settings, batch);
      for (size_t i = 0; i < batch.size(); ++i) {
        const auto& [parameter, kept] = targets[i];
        if (parameter.dtype() != batch[i].parameter.dtype())
          raw::copy_(parameter, batch[i].parameter);
        parameter.impl().storage->bump_version();
        if (kept != nullptr) kept->momentum_buffer(batch[i].buffer);
      }
      batch.clear();
      targets.clear();
    };
    for (const Tensor& parameter : in_order_of_arrival(group.params())) {
      if (parameter.numel() == 0) continue;
      check<Error>(parameter.is_contiguous(), "SGD: a parameter of shape ", parameter.sizes(),
                   " is not contiguous; make it so with contiguous()");
      const Tensor wide = raw::to(parameter, computed_type(parameter.dtype()));
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
                                          arrive_together(parameter, targets[0].parameter) &&
                                          batch[0].parameter.device() == parameter.device() &&
                                          batch[0].parameter.dtype() == wide.dtype());
      if (!fits) flush();
      settings.first = first;
      batch.push_back({wide, raw::to(parameter.grad(), wide.dtype()).contiguous(), buffer});
      targets.push_back({parameter, kept});
    }
    flush();
  }
  return loss;
}

}  // namespace gradus::optim
