// Running averages of a model's weights, for evaluation.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/autograd/functions.h"
#include "gradus/optim/check_state.h"
#include "gradus/tensor/factories.h"

namespace gradus::optim {

// The next average of a tensor, from the last one, the model's value and the number of values so
// far. Called without a graph.
using AverageFunction =
    std::function<Tensor(const Tensor& average, const Tensor& value, int64_t averaged)>;

// The mean of all values: Izmailov et al., "Averaging weights leads to wider optima and better
// generalization" (2018).
inline AverageFunction get_swa_avg_fn() {
  return [](const Tensor& average, const Tensor& value, int64_t averaged) {
    return average + (value - average) / static_cast<double>(averaged + 1);
  };
}
// decay * average + (1 - decay) * value. Errors: ValueError for a decay that is not in [0, 1].
inline AverageFunction get_ema_avg_fn(double decay = 0.999) {
  check(decay >= 0 && decay <= 1, "get_ema_avg_fn: Invalid decay value ", decay,
        " provided. Please provide a value in [0,1] range.");
  return [=](const Tensor& average, const Tensor& value, int64_t) {
    return isFloatingType(average.scalar_type()) ? average.lerp(value, 1 - decay)
                                                 : average * decay + value * (1 - decay);
  };
}

// A copy of a model whose parameters are averages of the model's:
//
//   AveragedModel ema(net, get_ema_avg_fn(0.999));
//   for (...) { ...; optimizer.step(); ema.update_parameters(net); }
//   ema->eval(); auto y = ema(x);
//
// state_dict() is what a training needs to go on later.
//
// Holder is what holds the module: nn::Linear, or std::shared_ptr<Net>.
template <class Holder>
class AveragedModel {
 public:
  using Module = std::remove_reference_t<decltype(*std::declval<Holder&>())>;

  // use_buffers: the buffers are averaged, too. Otherwise they are those of the model.
  // Errors: those of Module::clone.
  explicit AveragedModel(const Holder& model, AverageFunction avg_fn = get_swa_avg_fn(),
                         bool use_buffers = false)
      : module_(std::dynamic_pointer_cast<Module>(model->clone())),
        avg_fn_(std::move(avg_fn)),
        use_buffers_(use_buffers) {}

  // The first call copies the values.
  // Errors: ValueError for a model with other parameters; nothing is changed then.
  void update_parameters(const Holder& model) {
    const NoGradGuard guard;
    const Tensors own = module_->parameters(), given = model->parameters();
    const Tensors own_buffers = module_->buffers(), buffers = model->buffers();
    check_same(own, given);
    check_same(own_buffers, buffers);
    take(own, given, true);
    take(own_buffers, buffers, use_buffers_);
    ++n_averaged_;
  }

  int64_t n_averaged() const { return n_averaged_; }
  const std::shared_ptr<Module>& module() const { return module_; }
  Module* operator->() const { return module_.get(); }
  template <class... Inputs>
  auto operator()(Inputs&&... inputs) const {
    return Module::call(*module_, std::forward<Inputs>(inputs)...);
  }

  // The names are PyTorch's: "n_averaged", and the averages under the model's names after
  // "module.". The averages share the memory of module(). The function and use_buffers are not in
  // it.
  OrderedDict<std::string, Tensor> state_dict() const {
    OrderedDict<std::string, Tensor> out;
    out.insert("n_averaged", full({}, n_averaged_, kLong));
    for (const auto& item : module_->state_dict()) out.insert("module." + item.key(), item.value());
    return out;
  }
  // Errors: ValueError that lists what is missing, unknown, or does not fit, or for an n_averaged
  // below 0; nothing changes then.
  void load_state_dict(const OrderedDict<std::string, Tensor>& state) {
    check_state("AveragedModel", state_dict(), state);
    const int64_t averaged = state["n_averaged"].template item<int64_t>();
    check(averaged >= 0, "AveragedModel: load_state_dict: n_averaged is ", averaged,
          ", expected 0 or more; give what state_dict() returned");
    OrderedDict<std::string, Tensor> values;
    for (const auto& item : module_->state_dict())
      values.insert(item.key(), state["module." + item.key()]);
    module_->load_state_dict(values);
    n_averaged_ = averaged;
  }

 private:
  static void check_same(const Tensors& own, const Tensors& given) {
    check(own.size() == given.size(), "AveragedModel: the model has ", given.size(),
          " parameters or buffers, expected ", own.size(), ", as it had at first");
    for (size_t i = 0; i < own.size(); ++i)
      check(own[i].sizes() == given[i].sizes(), "AveragedModel: a tensor of the model has shape ",
            given[i].sizes(), ", expected ", own[i].sizes(), ", as it had at first");
  }
  void take(const Tensors& own, const Tensors& given, bool average) {
    for (size_t i = 0; i < own.size(); ++i) {
      Tensor into = own[i];
      const Tensor value = given[i].detach().to(into.device());
      into.copy_(average && n_averaged_ > 0 ? avg_fn_(into.detach(), value, n_averaged_) : value);
    }
  }

  std::shared_ptr<Module> module_;
  AverageFunction avg_fn_;
  bool use_buffers_;
  int64_t n_averaged_ = 0;
};

}  // namespace gradus::optim
