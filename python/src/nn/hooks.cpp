// Hooks of Python as functions that C++ calls.
#include "nn/hooks.h"

#include <nanobind/stl/shared_ptr.h>

#include "errors.h"
#include "gradus/tensor/base/error.h"

namespace gradus::python {
namespace {

Tensor result_of(nb::handle result, const char* function) {
  check<TypeError>(result.is_none() || is_tensor(result.ptr()), function,
                   ": a hook returns a tensor or None");
  return result.is_none() ? Tensor() : tensor_of(result.ptr());
}
nb::object object_of(nn::Module& module) { return nb::cast(&module, nb::rv_policy::reference); }

}  // namespace

Tensor TensorHookCall::operator()(const Tensor& grad) const {
  if (callbacks_have_ended()) return Tensor();
  const Acquired python;
  return result_of(nb::handle(hook.get())(grad), "register_hook");
}

Tensor ForwardPreHook::operator()(nn::Module& module, const Tensor& input) const {
  if (callbacks_have_ended()) return Tensor();
  const Acquired python;
  nb::object result = nb::handle(hook.get())(object_of(module), nb::make_tuple(input));
  if (PyTuple_Check(result.ptr()) && nb::len(result) == 1) result = nb::object(result[0]);
  return result_of(result, "register_forward_pre_hook");
}

Tensor ForwardHook::operator()(nn::Module& module, const Tensor& input,
                               const Tensor& output) const {
  if (callbacks_have_ended()) return Tensor();
  const Acquired python;
  return result_of(nb::handle(hook.get())(object_of(module), nb::make_tuple(input), output),
                   "register_forward_hook");
}

}  // namespace gradus::python
