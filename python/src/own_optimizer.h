// Optimizers whose step() is written in Python.
#pragma once

#include <gradus/optim/optim.h>
#include <nanobind/nanobind.h>

#include <limits>

#include "errors.h"

namespace gradus::python {

// What schedules set. All other options are Python's: a group keeps them as further ones.
struct OwnOptions : optim::OptimizerCloneableOptions<OwnOptions> {
  double lr() const { return lr_; }
  OwnOptions& lr(double value) {
    lr_ = value;
    return *this;
  }
  optim::Fields fields() override { return {{.name = "lr", .value = &lr_}}; }
  void validate() const override {}

 private:
  double lr_ = std::numeric_limits<double>::quiet_NaN();  // an algorithm may have none
};

// The base of a class of Python. GradScaler and schedules see it as any other optimizer.
struct OwnOptimizer final : optim::Optimizer {
  OwnOptimizer(std::vector<optim::OptimizerParamGroup> groups, const OwnOptions& defaults)
      : Optimizer(std::move(groups), defaults.clone()) {}

  // Errors: NotImplementedError where the class has no step().
  Tensor step(LossClosure) override {
    const Acquired python;
    const nb::object self = nb::find(static_cast<optim::Optimizer*>(this));
    const nb::handle cls = self.type();
    if (cls.attr("step").is(nb::type<optim::Optimizer>().attr("step")))
      fail<NotImplementedError>("Optimizer: ", nb::cast<std::string>(cls.attr("__name__")),
                                " has no step(); write one that updates param_groups");
    try {
      self.attr("step")();
    } catch (nb::python_error& error) {
      rethrow(error);
    }
    return {};
  }
};

}  // namespace gradus::python
