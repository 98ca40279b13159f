// Functional: a function of tensors as a module: Sequential(Linear(3, 4), Functional(relu)).
#pragma once

#include <functional>

#include "gradus/nn/layer.h"

namespace gradus::nn {

// Returns function(input, arguments...). The module has no state, and files do not hold it.
struct FunctionalImpl : Cloneable<FunctionalImpl> {
  using Function = std::function<Tensor(Tensor)>;

  explicit FunctionalImpl(Function function)
      : Cloneable("Functional"), function_(std::move(function)) {}
  // The arguments follow the input: Functional(elu, 1, 0, 1).
  template <class F, class... Args>
  requires(
      sizeof...(Args) > 0 &&
      std::is_invocable_r_v<Tensor, F&, Tensor, Args&...>) explicit FunctionalImpl(F function,
                                                                                   Args&&... args)
      : FunctionalImpl([function, ... args = std::decay_t<Args>(std::forward<Args>(args))](
                           Tensor input) mutable { return function(std::move(input), args...); }) {}

  void reset() override {}
  void pretty_print(std::ostream& stream) const override { stream << "gradus::nn::Functional()"; }
  Tensor forward(Tensor input) { return function_(std::move(input)); }
  Tensor operator()(Tensor input) { return forward(std::move(input)); }
  bool is_serializable() const override { return false; }

 private:
  Function function_;
};
GRADUS_MODULE(Functional);

}  // namespace gradus::nn
