// What surrounds a training step: schedules of rates, mixed precision, initialisation, clipping.
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

// Keeps what a scheduler was made of as its attributes, which the garbage collector sees: its
// optimizer, and what holds the functions that it calls.
struct KeepArguments {
  static void precall(PyObject**, size_t, nb::detail::cleanup_list*) {}
  static void postcall(PyObject** args, size_t count, nb::handle) {
    const nb::handle self(args[0]);
    nb::list others;
    for (size_t i = 1; i < count; ++i) {
      const nb::handle arg(args[i]);
      if (nb::isinstance<optim::Optimizer>(arg))
        self.attr("optimizer") = arg;
      else  // a list may change later
        others.append(PyList_Check(arg.ptr()) ? nb::object(nb::tuple(arg)) : nb::borrow(arg));
    }
    self.attr("_made_of") = others;
  }
};
using KeepsArguments = nb::call_policy<KeepArguments>;

// Lets a schedule begin behind a step that was taken before: its number, or -1.
void go_on(optim::ClosedFormLR& schedule, int64_t last_epoch) {
  if (last_epoch >= 0) schedule.step(last_epoch + 1);
}
// A schedule of numbers; `options`: their names and defaults.
template <class Schedule, class... Numbers, class... Options>
void add_schedule(nb::module_& m, const char* name, const Options&... options) {
  nb::class_<Schedule, optim::ClosedFormLR>(m, name).def(
      "__init__",
      [](Schedule* self, optim::Optimizer& optimizer, Numbers... numbers, int64_t last_epoch) {
        new (self) Schedule(optimizer, std::move(numbers)...);
        go_on(*self, last_epoch);
      },
      nb::arg("optimizer"), options..., nb::arg("last_epoch") = -1, KeepsArguments());
}

void bind_schedulers(nb::module_& m) {
  using namespace optim;
  nb::class_<LRScheduler>(m, "LRScheduler", nb::dynamic_attr(),
                          "The base of schedules of learning rates.")
      .def(
          "step", [](LRScheduler& self) { self.step(); }, "Sets the next rates.")
      .def(
          "state_dict", [](const LRScheduler& self) { return numbers_of(self.state_dict()); },
          "The state of the schedule itself.")
      .def(
          "load_state_dict",
          [](LRScheduler& self, const nb::dict& state) { self.load_state_dict(state_of(state)); },
          nb::arg("state_dict"), "Takes a state.");
  nb::class_<ClosedFormLR, LRScheduler>(m, "ClosedFormLR", "A rate that is a function of the step.")
      .def_prop_ro("last_epoch", &ClosedFormLR::last_epoch)
      .def("get_last_lr", &ClosedFormLR::get_last_lr, "The rate of each group.")
      .def(
          "step",
          [](ClosedFormLR& self, std::optional<int64_t> epoch) {
            epoch ? self.step(*epoch) : static_cast<LRScheduler&>(self).step();
          },
          nb::arg("epoch") = nb::none(), "Sets the next rates, or those of the given step.");
  nb::class_<StepLR, LRScheduler>(m, "StepLR")
      .def(nb::init<Optimizer&, unsigned, double>(), nb::arg("optimizer"), nb::arg("step_size"),
           nb::arg("gamma") = 0.1, KeepsArguments());
  add_schedule<ConstantLR, double, int64_t>(m, "ConstantLR", nb::arg("factor") = 1.0 / 3,
                                            nb::arg("total_iters") = 5);
  add_schedule<LinearLR, double, double, int64_t>(m, "LinearLR", nb::arg("start_factor") = 1.0 / 3,
                                                  nb::arg("end_factor") = 1.0,
                                                  nb::arg("total_iters") = 5);
  add_schedule<ExponentialLR, double>(m, "ExponentialLR", nb::arg("gamma"));
  add_schedule<MultiStepLR, std::vector<int64_t>, double>(m, "MultiStepLR", nb::arg("milestones"),
                                                          nb::arg("gamma") = 0.1);
  add_schedule<PolynomialLR, int64_t, double>(m, "PolynomialLR", nb::arg("total_iters") = 5,
                                              nb::arg("power") = 1.0);
  add_schedule<CosineAnnealingLR, int64_t, double>(m, "CosineAnnealingLR", nb::arg("T_max"),
                                                   nb::arg("eta_min") = 0.0);
  add_schedule<CosineAnnealingWarmRestarts, int64_t, int64_t, double>(
      m, "CosineAnnealingWarmRestarts", nb::arg("T_0"), nb::arg("T_mult") = 1,
      nb::arg("eta_min") = 0.0);
  nb::class_<LambdaLR, ClosedFormLR>(m, "LambdaLR")
      .def(
          "__init__",
          [](LambdaLR* self, Optimizer& optimizer, nb::handle lr_lambda, int64_t last_epoch) {
            // KeepArguments holds the functions as long as the scheduler lives.
            const auto function = [](nb::handle callable) -> LambdaLR::Lambda {
              return [callable](auto epoch) {
                const Acquired python;
                return nb::cast<double>(callable(epoch));
              };
            };
            if (!PyList_Check(lr_lambda.ptr()) && !PyTuple_Check(lr_lambda.ptr())) {
              new (self) LambdaLR(optimizer, function(lr_lambda));
            } else {
              std::vector<LambdaLR::Lambda> all;
              for (const nb::handle each : nb::borrow<nb::iterable>(lr_lambda))
                all.push_back(function(each));
              new (self) LambdaLR(optimizer, all);
            }
            go_on(*self, last_epoch);
          },
          nb::arg("optimizer"), nb::arg("lr_lambda"), nb::arg("last_epoch") = -1, KeepsArguments());
  const auto schedules = [](nb::handle list) {
    std::vector<ClosedFormLR> out;
    for (const nb::handle each : nb::borrow<nb::iterable>(list))
      out.push_back(nb::cast<ClosedFormLR&>(each));
    return out;
  };
  nb::class_<SequentialLR, ClosedFormLR>(m, "SequentialLR")
      .def(
          "__init__",
          [schedules](SequentialLR* self, Optimizer& optimizer, nb::handle list,
                      std::vector<int64_t> milestones, int64_t last_epoch) {
            new (self) SequentialLR(optimizer, schedules(list), std::move(milestones));
            go_on(*self, last_epoch);
          },
          nb::arg("optimizer"), nb::arg("schedulers"), nb::arg("milestones"),
          nb::arg("last_epoch") = -1, KeepsArguments());
  nb::class_<ChainedScheduler, ClosedFormLR>(m, "ChainedScheduler")
      .def(
          "__init__",
          [schedules](ChainedScheduler* self, nb::handle list, Optimizer* optimizer) {
            if (!optimizer)
              throw nb::type_error("ChainedScheduler: expected schedulers, optimizer");
            new (self) ChainedScheduler(*optimizer, schedules(list));
          },
          nb::arg("schedulers"), nb::arg("optimizer"), KeepsArguments());
  nb::class_<OneCycleLR, ClosedFormLR>(m, "OneCycleLR")
      .def(
          "__init__",
          [](OneCycleLR* self, Optimizer& optimizer, nb::handle max_lr, int64_t total_steps,
             double pct_start, const std::string& anneal_strategy, bool cycle_momentum,
             double base_momentum, double max_momentum, double div_factor, double final_div_factor,
             bool three_phase, int64_t last_epoch) {
            std::vector<double> rates;
            check<TypeError>(load_option(max_lr, rates),
                             "OneCycleLR: max_lr is a number or a list");
            if (rates.size() == 1) rates.resize(optimizer.param_groups().size(), rates[0]);
            new (self) OneCycleLR(optimizer, OneCycleLROptions(rates, total_steps)
                                                 .pct_start(pct_start)
                                                 .anneal_strategy(anneal_strategy)
                                                 .cycle_momentum(cycle_momentum)
                                                 .base_momentum(base_momentum)
                                                 .max_momentum(max_momentum)
                                                 .div_factor(div_factor)
                                                 .final_div_factor(final_div_factor)
                                                 .three_phase(three_phase));
            go_on(*self, last_epoch);
          },
          nb::arg("optimizer"), nb::arg("max_lr"), nb::arg("total_steps"),
          nb::arg("pct_start") = 0.3, nb::arg("anneal_strategy") = "cos",
          nb::arg("cycle_momentum") = true, nb::arg("base_momentum") = 0.85,
          nb::arg("max_momentum") = 0.95, nb::arg("div_factor") = 25.0,
          nb::arg("final_div_factor") = 1e4, nb::arg("three_phase") = false,
          nb::arg("last_epoch") = -1, KeepsArguments());
  nb::class_<CyclicLR, ClosedFormLR>(m, "CyclicLR")
      .def(
          "__init__",
          [](CyclicLR* self, Optimizer& optimizer, double base_lr, double max_lr,
             int64_t step_size_up, std::optional<int64_t> step_size_down, const std::string& mode,
             double gamma, bool cycle_momentum, double base_momentum, double max_momentum,
             int64_t last_epoch) {
            new (self) CyclicLR(optimizer, CyclicLROptions(base_lr, max_lr)
                                               .step_size_up(step_size_up)
                                               .step_size_down(step_size_down)
                                               .mode(mode)
                                               .gamma(gamma)
                                               .cycle_momentum(cycle_momentum)
                                               .base_momentum(base_momentum)
                                               .max_momentum(max_momentum));
            go_on(*self, last_epoch);
          },
          nb::arg("optimizer"), nb::arg("base_lr"), nb::arg("max_lr"),
          nb::arg("step_size_up") = 2000, nb::arg("step_size_down") = nb::none(),
          nb::arg("mode") = "triangular", nb::arg("gamma") = 1.0, nb::arg("cycle_momentum") = true,
          nb::arg("base_momentum") = 0.8, nb::arg("max_momentum") = 0.9, nb::arg("last_epoch") = -1,
          KeepsArguments());
  nb::class_<SWALR, LRScheduler>(m, "SWALR")
      .def(nb::init<Optimizer&, double, int64_t, const std::string&>(), nb::arg("optimizer"),
           nb::arg("swa_lr"), nb::arg("anneal_epochs") = 10, nb::arg("anneal_strategy") = "cos",
           KeepsArguments());
  using Plateau = ReduceLROnPlateauScheduler;
  nb::class_<Plateau>(m, "ReduceLROnPlateau", nb::dynamic_attr())
      .def(
          "__init__",
          [](Plateau* self, Optimizer& optimizer, const std::string& mode, double factor,
             int patience, double threshold, const std::string& threshold_mode, int cooldown,
             nb::handle min_lr, double eps) {
            check<ValueError>(mode == "min" || mode == "max", "ReduceLROnPlateau: mode ", mode,
                              " is unknown; expected min or max");
            check<ValueError>(threshold_mode == "rel" || threshold_mode == "abs",
                              "ReduceLROnPlateau: threshold_mode ", threshold_mode,
                              " is unknown; expected rel or abs");
            std::vector<double> rates;
            check<TypeError>(load_option(min_lr, rates),
                             "ReduceLROnPlateau: min_lr is a number or a list");
            if (rates.size() == 1) rates.resize(optimizer.param_groups().size(), rates[0]);
            new (self)
                Plateau(optimizer, mode == "min" ? Plateau::min : Plateau::max, factor, patience,
                        threshold, threshold_mode == "rel" ? Plateau::rel : Plateau::abs, cooldown,
                        std::vector<float>(rates.begin(), rates.end()), eps);
          },
          nb::arg("optimizer"), nb::arg("mode") = "min", nb::arg("factor") = 0.1,
          nb::arg("patience") = 10, nb::arg("threshold") = 1e-4, nb::arg("threshold_mode") = "rel",
          nb::arg("cooldown") = 0, nb::arg("min_lr") = 0.0, nb::arg("eps") = 1e-8, KeepsArguments())
      .def(
          "step", [](Plateau& self, double metrics) { self.step(metrics); }, nb::arg("metrics"),
          "Takes a loss or another metric, and lowers the rates where it has stopped falling.")
      .def("state_dict", [](const Plateau& self) { return numbers_of(self.state_dict()); })
      .def("load_state_dict",
           [](Plateau& self, const nb::dict& state) { self.load_state_dict(state_of(state)); });
}

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

void bind_training(nb::module_& nn, nb::module_& optim, nb::module_& amp) {
  bind_schedulers(optim);
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
