// What surrounds a training step: mixed precision, initialisation, clipping.
#include <gradus/autograd/engine/autocast.h>
#include <gradus/nn/nn.h>
#include <gradus/optim/optim.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind.h"
#include "nn/modules.h"
#include "states.h"

namespace gradus::python {
namespace {

// A scope of autocast that Python enters and leaves.
struct Autocast {
  DeviceType device;
  std::optional<ScalarType> dtype;
  bool enabled;
  std::optional<bool> cache_enabled;
  std::optional<AutocastMode> before;  // while it is entered

  void enter() {
    const AutocastMode found = thread_modes.autocast;
    if (dtype) autocast::set_autocast_dtype(device, *dtype);
    autocast::set_autocast_enabled(device, enabled);
    if (cache_enabled) autocast::set_autocast_cache_enabled(*cache_enabled);
    autocast::increment_nesting();
    before = found;
  }
  void leave() {
    check<Error>(before.has_value(), "autocast: it is left, and was not entered; use `with`");
    if (autocast::decrement_nesting() == 0) autocast::clear_cache();
    thread_modes.autocast = *before;
    before.reset();
  }
};

void bind_amp(nb::module_& m) {
  nb::class_<Autocast>(
      m, "autocast",
      "Operations compute in the types that suit them in the `with` block or the decorated "
      "function.")
      .def(
          "__init__",
          [](Autocast* self, const Given<Device>& device_type,
             const Given<std::optional<ScalarType>>& dtype, bool enabled,
             std::optional<bool> cache_enabled) {
            new (self) Autocast{device_type.value.type(), dtype.get(), enabled, cache_enabled, {}};
          },
          nb::arg("device_type"), nb::arg("dtype") = nb::none(), nb::arg("enabled") = true,
          nb::arg("cache_enabled") = nb::none())
      .def("__enter__",
           [](nb::pointer_and_handle<Autocast> self) {
             self.p->enter();
             return nb::borrow(self.h);
           })
      .def(
          "__exit__", [](Autocast& self, nb::handle, nb::handle, nb::handle) { self.leave(); },
          nb::arg("kind").none(), nb::arg("error").none(), nb::arg("traceback").none())
      .def("_arguments", [](const Autocast& self) {
        return nb::make_tuple(to_python(Device(self.device)), to_python(self.dtype), self.enabled,
                              to_python(self.cache_enabled));
      });
  using amp::GradScaler;
  nb::class_<GradScaler>(m, "GradScaler",
                         "A scale for losses, so that gradients of float16 are not 0.")
      .def(
          "__init__",
          [](GradScaler* self, double init_scale, double growth_factor, double backoff_factor,
             int64_t growth_interval, bool enabled) {
            new (self) GradScaler(amp::GradScalerOptions()
                                      .init_scale(init_scale)
                                      .growth_factor(growth_factor)
                                      .backoff_factor(backoff_factor)
                                      .growth_interval(growth_interval)
                                      .enabled(enabled));
          },
          nb::arg("init_scale") = 65536.0, nb::arg("growth_factor") = 2.0,
          nb::arg("backoff_factor") = 0.5, nb::arg("growth_interval") = 2000,
          nb::arg("enabled") = true)
      .def(
          "scale", [](const GradScaler& self, const Tensor& x) { return self.scale(x); },
          nb::arg("outputs"), "The outputs times the scale.")
      .def(
          "unscale_",
          [](GradScaler& self, optim::Optimizer& optimizer) {
            const Released other_threads_run;
            self.unscale_(optimizer);
          },
          nb::arg("optimizer"), "Divides the gradients by the scale.")
      .def(
          "step",
          [](GradScaler& self, optim::Optimizer& optimizer) {
            const Released other_threads_run;
            self.step(optimizer);
          },
          nb::arg("optimizer"), "Steps, unless a gradient is infinite or NaN.")
      .def(
          "update",
          [](GradScaler& self, std::optional<double> new_scale) { self.update(new_scale); },
          nb::arg("new_scale") = nb::none(), "Ends an iteration: sets the next scale.")
      .def(
          "get_scale", [](const GradScaler& self) { return self.get_scale(); }, "The scale.")
      .def("is_enabled", [](const GradScaler& self) { return self.is_enabled(); })
      .def("state_dict", [](const GradScaler& self) { return numbers_of(self.state_dict()); })
      .def("load_state_dict",
           [](GradScaler& self, const nb::dict& state) { self.load_state_dict(state_of(state)); });
}

void bind_init(nb::module_& m) {
  namespace init = nn::init;
  const auto one = [&](const char* name, auto function) {
    m.def(
        name, [function](const Tensor& x) { return function(x); }, nb::arg("tensor"));
  };
  one("zeros_", init::zeros_);
  one("ones_", init::ones_);
  one("eye_", init::eye_);
  one("dirac_", init::dirac_);
  m.def(
      "uniform_", [](const Tensor& x, double a, double b) { return init::uniform_(x, a, b); },
      nb::arg("tensor"), nb::arg("a") = 0.0, nb::arg("b") = 1.0);
  m.def(
      "normal_", [](const Tensor& x, double a, double b) { return init::normal_(x, a, b); },
      nb::arg("tensor"), nb::arg("mean") = 0.0, nb::arg("std") = 1.0);
  m.def(
      "constant_",
      [](const Tensor& x, const Given<Scalar>& v) { return init::constant_(x, v.value); },
      nb::arg("tensor"), nb::arg("val"));
  const auto gain = [&](const char* name, auto function) {
    m.def(
        name, [function](const Tensor& x, double g) { return function(x, g); }, nb::arg("tensor"),
        nb::arg("gain") = 1.0);
  };
  gain("xavier_uniform_", init::xavier_uniform_);
  gain("xavier_normal_", init::xavier_normal_);
  gain("orthogonal_", init::orthogonal_);
  const auto kaiming = [&](const char* name, auto function) {
    m.def(
        name,
        [name, function](const Tensor& x, double a, const std::string& mode,
                         const std::string& nonlinearity) {
          check<ValueError>(mode == "fan_in" || mode == "fan_out", name, ": mode ", mode,
                            " is unknown; expected fan_in or fan_out");
          Nonlinearity kind;
          check<ValueError>(load_option(nb::cast(nonlinearity), kind), name, ": nonlinearity ",
                            nonlinearity, " is unknown");
          return function(x, a, mode == "fan_in" ? kFanIn : kFanOut, kind);
        },
        nb::arg("tensor"), nb::arg("a") = 0.0, nb::arg("mode") = "fan_in",
        nb::arg("nonlinearity") = "leaky_relu");
  };
  kaiming("kaiming_uniform_", init::kaiming_uniform_);
  kaiming("kaiming_normal_", init::kaiming_normal_);
  m.def(
      "sparse_",
      [](const Tensor& x, double sparsity, double std) { return init::sparse_(x, sparsity, std); },
      nb::arg("tensor"), nb::arg("sparsity"), nb::arg("std") = 0.01);
  m.def(
      "calculate_gain",
      [](const std::string& nonlinearity, std::optional<double> param) {
        Nonlinearity kind;
        check<ValueError>(load_option(nb::cast(nonlinearity), kind),
                          "calculate_gain: nonlinearity ", nonlinearity, " is unknown");
        return init::calculate_gain(kind, param.value_or(0.01));
      },
      nb::arg("nonlinearity"), nb::arg("param") = nb::none());
}

}  // namespace

void bind_training(nb::module_& nn, nb::module_& amp) {
  bind_amp(amp);
  nb::module_ init = nn.def_submodule("init", "Initial values of parameters.");
  bind_init(init);
  nn.def("_clip_grad_norm_",
         [](nb::handle parameters, double max_norm, double norm_type, bool error_if_nonfinite) {
           Tensors list;
           for (const nb::handle p : nb::borrow<nb::iterable>(parameters))
             list.push_back(nb::cast<Tensor>(p));
           return released<double>([&] {
             return nn::utils::clip_grad_norm_(list, max_norm, norm_type, error_if_nonfinite);
           });
         });
  nn.def("_clip_grad_value_", [](nb::handle parameters, double clip_value) {
    Tensors list;
    for (const nb::handle p : nb::borrow<nb::iterable>(parameters))
      list.push_back(nb::cast<Tensor>(p));
    nn::utils::clip_grad_value_(list, clip_value);
  });
}

}  // namespace gradus::python
