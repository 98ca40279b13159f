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

// What a function of Python returns. REQUIRES: this thread holds the GIL.
nb::object called(const Held& function, const nb::object& argument) {
  check<Error>(!callbacks_have_ended(),
               "saved_tensors_hooks: Python has ended; no hook can be called");
  try {
    return nb::handle(function.get())(argument);
  } catch (nb::python_error& error) {
    rethrow(error);
  }
}

Hooks hooks_of(nb::handle pack_hook, nb::handle unpack_hook) {
  const auto pack = [hook = hold_callback(pack_hook)](const Tensor& x) {
    const Acquired python;
    return hold(called(hook, nb::cast(x)));
  };
  const auto unpack = [hook = hold_callback(unpack_hook)](const Held& packed) {
    const Acquired python;
    const nb::object out = called(hook, nb::borrow(packed.get()));
    check<TypeError>(is_tensor(out.ptr()),
                     "saved_tensors_hooks: unpack_hook returned an object of type ",
                     nb::cast<std::string>(nb::object(out.type().attr("__name__"))),
                     ", expected a tensor; return what was given to pack_hook");
    return tensor_of(out.ptr());
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
