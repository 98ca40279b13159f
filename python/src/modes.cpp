// What holds for a thread or for the process: gradients, threads, the default dtype and device.
#include <gradus/gradus.h>
#include <gradus/tensor/base/batch_invariant.h>
#include <gradus/tensor/base/precision.h>
#include <gradus/tensor/raw/raw.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "bind.h"
#include "default_device.h"
#include "params.h"
#include "rows/rows.h"

namespace gradus::python {
namespace {

thread_local std::optional<Device> set_device;
thread_local std::vector<Device> entered_devices;  // of `with` blocks, the innermost last

void bind_default_device(nb::module_& m) {
  m.def(
      "get_default_device", [] { return default_device().value_or(kCPU); },
      "Where factories make tensors when no device is given.");
  m.def(
      "set_default_device", [](Given<std::optional<Device>>& device) { set_device = device.get(); },
      nb::arg("device").none(),
      "Sets where this thread's factories make tensors, and modules their parameters, when no "
      "device is given.");
  nb::class_<Device> c = nb::borrow<nb::class_<Device>>(m.attr("device"));
  c.def("__enter__", [](nb::pointer_and_handle<Device> self) {
    entered_devices.push_back(*self.p);
    return nb::borrow(self.h);
  });
  c.def("__exit__", [](const Device&, const nb::args&) {
    if (!entered_devices.empty()) entered_devices.pop_back();
  });
}

}  // namespace

std::optional<Device> default_device() {
  return entered_devices.empty() ? set_device : entered_devices.back();
}

void bind_modes(nb::module_& m) {
  m.def("is_grad_enabled", &GradMode::is_enabled, "Whether operations are recorded.");
  m.def("_set_grad_enabled", [](bool on) {
    const bool before = GradMode::is_enabled();
    GradMode::set_enabled(on);
    return before;
  });
  nb::class_<ThreadModes>(m, "_ThreadModes");
  m.def("_set_inference_mode", [](bool on) {
    const ThreadModes before = thread_modes;
    thread_modes.grad = !on;
    thread_modes.inference = on;
    return before;
  });
  m.def("_restore_modes", [](const ThreadModes& before) {
    thread_modes.grad = before.grad;
    thread_modes.inference = before.inference;
  });
  m.def(
      "is_inference_mode_enabled", [] { return InferenceMode::is_enabled(); },
      "Whether new tensors are inference tensors.");
  const auto device_type = [](nb::handle given) {
    Device device = kCUDA;
    if (!given.is_none() && !load(given, true, device))
      throw nb::type_error("autocast: expected the type of a device: cpu or cuda");
    return device.type();
  };
  m.def(
      "is_autocast_enabled",
      [device_type](nb::handle given) { return autocast::is_autocast_enabled(device_type(given)); },
      nb::arg("device_type") = nb::none(),
      "Whether autocast chooses types on this kind of device.");
  m.def(
      "get_autocast_dtype",
      [device_type](nb::handle given) {
        return to_python(autocast::get_autocast_dtype(device_type(given)));
      },
      nb::arg("device_type"), "The type in which autocast computes on this kind of device.");
  m.def(
      "get_default_dtype", [] { return to_python(get_default_dtype().toScalarType()); },
      "The dtype of tensors of floating point numbers.");
  m.def(
      "set_default_dtype", [](const Given<ScalarType>& d) { set_default_dtype(d.value); },
      nb::arg("d"), "Sets the dtype of tensors of floating point numbers.");
  bind_default_device(m);
  m.def(
      "result_type",
      [](const Given<Operand>& tensor1, const Given<Operand>& tensor2) {
        const auto operand = [](const Operand& given) {
          return given.tensor ? gradus::Operand(*given.tensor) : gradus::Operand(given.number);
        };
        return to_python(raw::result_type(operand(tensor1.get()), operand(tensor2.get())));
      },
      nb::arg("tensor1"), nb::arg("tensor2"),
      "The dtype of an operation of two tensors or numbers.");
  m.def(
      "promote_types",
      [](const Given<ScalarType>& type1, const Given<ScalarType>& type2) {
        return to_python(promoteTypes(type1.value, type2.value));
      },
      nb::arg("type1"), nb::arg("type2"), "The smallest dtype that holds both.");
  m.def(
      "can_cast",
      [](const Given<ScalarType>& from, const Given<ScalarType>& to) {
        return canCast(from.value, to.value);
      },
      nb::arg("from_"), nb::arg("to"),
      "Whether results of a dtype may be written to another one: not floats to integers.");
  m.def(
      "get_num_threads", [] { return get_num_threads(); }, "The threads that one operation uses.");
  m.def(
      "set_num_threads", [](int n) { set_num_threads(n); }, nb::arg("n"),
      "Sets the threads that one operation uses.");
  m.def(
      "get_float32_matmul_precision", [] { return get_float32_matmul_precision(); },
      "How exact products of float32 are on a GPU: highest, high (TF32) or medium.");
  m.def(
      "set_float32_matmul_precision",
      [](std::string_view precision) { set_float32_matmul_precision(precision); },
      nb::arg("precision"), "Sets how exact products of float32 are on a GPU.");
  m.def("_set_batch_invariant", [](bool on) {
    const bool before = detail::batch_invariant();
    detail::set_batch_invariant(on);
    return before;
  });
  m.def(
      "is_batch_invariant_mode_enabled", [] { return detail::batch_invariant(); },
      "Whether a row has the same bits in every batch.");
  m.def("_allow_tf32_convolutions", [](bool on) { detail::allow_tf32_convolutions(on); });
  m.def("_allows_tf32_convolutions", [] { return detail::allows_tf32_convolutions(); });
}

}  // namespace gradus::python
