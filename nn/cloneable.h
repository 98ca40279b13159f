// Cloneable: a module that can be copied deeply, as in libtorch.
//
//   struct NetImpl : nn::Cloneable<NetImpl> {
//     NetImpl() { reset(); }
//     void reset() override { fc = register_module("fc", nn::Linear(3, 1)); }
//     Tensor forward(const Tensor& x) { return fc(x); }
//     nn::Linear fc{nullptr};
//   };
#pragma once

#include "gradus/autograd/engine/grad_mode.h"
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
    const NoGradGuard guard;
    auto copy = std::make_shared<Derived>(static_cast<const Derived&>(*this));
    Module& to = *copy;
    const Module& from = *this;
    to.parameters_.clear();
    to.buffers_.clear();
    to.children_.clear();
    copy->reset();
    copy_values("parameters", "register_parameter", from.parameters_, to.parameters_, device);
    copy_values("buffers", "register_buffer", from.buffers_, to.buffers_, device);
    check_names("child modules", "register_module", from.children_, to.children_);
    for (const auto& child : from.children_)
      to.children_[child.key()]->clone_(*child.value(), device);
    return copy;
  }

 private:
  template <class Dict>
  void check_names(const char* what, const char* function, const Dict& from, const Dict& to) const {
    check<Error>(from.keys() == to.keys(), "clone: the cloned ", name(), " does not have the same ",
                 what, " as the original after reset(); call ", function,
                 "() inside reset() and not in the constructor");
  }

  template <class Dict>
  void copy_values(const char* what, const char* function, const Dict& from, Dict& to,
                   const std::optional<Device>& device) const {
    check_names(what, function, from, to);
    for (const auto& item : from) {
      const Tensor& original = *item.value();
      Tensor& copy = *to[item.key()];
      if (!original.defined()) {
        copy = Tensor();
        continue;
      }
      const bool requires_grad = original.requires_grad();
      if (!requires_grad) copy.set_requires_grad(false);  // before another dtype comes
      copy.set_data(copied(original, device));
      if (requires_grad) copy.set_requires_grad(true);
    }
  }

  void clone_(const Module& other, const std::optional<Device>& device) final {
    const auto copy = std::dynamic_pointer_cast<Derived>(other.clone(device));
    check<Error>(copy != nullptr, "clone: a submodule is of another class (", other.name(),
                 ") than the one that reset() makes in its place (", name(), ")");
    static_cast<Derived&>(*this) = std::move(*copy);
  }
};

}  // namespace gradus::nn
