// How a copy of a module gets parameters, buffers and children of its own.
#include "gradus/nn/cloneable.h"

#include "gradus/autograd/engine/grad_mode.h"

namespace gradus::nn {

namespace {

template <class Dict>
void check_same_names(const Module& module, const char* what, const char* function,
                      const Dict& from, const Dict& to) {
  check<Error>(from.keys() == to.keys(), "clone: the cloned ", module.name(),
               " does not have the same ", what, " as the original after reset(); call ", function,
               "() inside reset() and not in the constructor");
}

}  // namespace

void Module::copy_values(const TensorDict& from, const TensorDict& to,
                         const std::optional<Device>& device) {
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

void Module::fail_other_class(const Module& other) const {
  fail<Error>("clone: a submodule is of another class (", other.name(),
              ") than the one that reset() makes in its place (", name(), ")");
}

void Module::make_anew(Module& copy, void (*reset)(Module& copy),
                       const std::optional<Device>& device) const {
  const NoGradGuard guard;
  copy.parameters_.clear();
  copy.buffers_.clear();
  copy.children_.clear();
  reset(copy);
  check_same_names(*this, "parameters", "register_parameter", parameters_, copy.parameters_);
  copy_values(parameters_, copy.parameters_, device);
  check_same_names(*this, "buffers", "register_buffer", buffers_, copy.buffers_);
  copy_values(buffers_, copy.buffers_, device);
  check_same_names(*this, "child modules", "register_module", children_, copy.children_);
  for (const auto& child : children_) copy.children_[child.key()]->clone_(*child.value(), device);
}

}  // namespace gradus::nn
