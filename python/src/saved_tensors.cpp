// Hooks of gradus.autograd.graph: what is kept for the backward pass, in another form.
#include <gradus/gradus.h>

#include <memory>

#include "bind.h"
#include "errors.h"
#include "rows/rows.h"

namespace gradus::python {
namespace {

using autograd::graph::save_on_cpu;
using autograd::graph::saved_tensors_hooks;

// Hooks that are in force until they are let go of.
using Hooks = std::shared_ptr<saved_tensors_hooks>;
struct HeldHooks {
  Hooks hooks;
};

// What a function of Python returns of an argument, as `use` takes it.
template <class Use>
auto called(const Held& function, const auto& argument, const Use& use) {
  check<Error>(!callbacks_have_ended(),
               "saved_tensors_hooks: Python has ended; no hook can be called");
  const Acquired python;
  try {
    return use(nb::handle(function.get())(argument));
  } catch (nb::python_error& error) {
    rethrow(error);
  }
}

Tensor tensor_in(const nb::object& unpacked) {
  check<TypeError>(is_tensor(unpacked.ptr()),
                   "saved_tensors_hooks: unpack_hook returned an object of type ",
                   nb::cast<std::string>(nb::object(unpacked.type().attr("__name__"))),
                   ", expected a tensor; return what was given to pack_hook");
  return tensor_of(unpacked.ptr());
}

Hooks hooks_of(nb::handle pack_hook, nb::handle unpack_hook) {
  const auto pack = [hook = hold_callback(pack_hook)](const Tensor& x) {
    return called(hook, x, [](const nb::object& packed) { return hold(packed); });
  };
  const auto unpack = [hook = hold_callback(unpack_hook)](const Held& packed) {
    return called(hook, nb::handle(packed.get()), &tensor_in);
  };
  return std::make_shared<saved_tensors_hooks>(pack, unpack);
}

}  // namespace

void bind_saved_tensors(nb::module_& m) {
  nb::class_<HeldHooks>(m, "_HeldHooks").def("end", [](HeldHooks& self) { self.hooks.reset(); });
  m.def(
      "_saved_tensors_hooks",
      [](nb::handle pack_hook, nb::handle unpack_hook) {
        return HeldHooks{hooks_of(pack_hook, unpack_hook)};
      },
      nb::arg("pack_hook"), nb::arg("unpack_hook"));
  m.def(
      "_save_on_cpu",
      [](bool pin_memory) { return HeldHooks{std::make_shared<save_on_cpu>(pin_memory)}; },
      nb::arg("pin_memory"));
}

}  // namespace gradus::python
