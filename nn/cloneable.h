// Cloneable: a module that can be copied deeply, as in libtorch.
//
//   struct NetImpl : nn::Cloneable<NetImpl> {
//     NetImpl() { reset(); }
//     void reset() override { fc = register_module("fc", nn::Linear(3, 1)); }
//     Tensor forward(const Tensor& x) { return fc(x); }
//     nn::Linear fc{nullptr};
//   };
#pragma once

#include "gradus/nn/module.h"

namespace gradus::nn {

// The copy constructor of Derived copies options and numbers. reset() makes parameters, buffers and
// modules anew, and then they get the values.
template <class Derived>
class Cloneable : public Module {
 public:
  using Module::Module;

  // Makes and registers all parameters, buffers and submodules, with their initial values.
  virtual void reset() = 0;

  // Draws random numbers where reset() does. A parameter requires grad where the original does.
  // Errors: Error where reset() registers others than the original has.
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override {
    std::shared_ptr<Module> copy = std::make_shared<Derived>(static_cast<const Derived&>(*this));
    make_anew(
        *copy, [](Module& module) { static_cast<Cloneable&>(module).reset(); }, device);
    return copy;
  }

 private:
  void clone_(const Module& other, const std::optional<Device>& device) final {
    const std::shared_ptr<Module> copy = other.clone(device);
    auto* const same = dynamic_cast<Derived*>(copy.get());
    if (same == nullptr) fail_other_class(other);
    static_cast<Derived&>(*this) = std::move(*same);
  }
};

}  // namespace gradus::nn
