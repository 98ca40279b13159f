// gradus.autograd and gradus.func: gradients by call, hooks and Functions written in Python.
#include <gradus/gradus.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind.h"
#include "cycles.h"
#include "errors.h"
#include "nn/hooks.h"
#include "rows/rows.h"

namespace gradus::python {
namespace {

// A tensor, or what can be iterated over, as a list of tensors. None is an undefined one.
Tensors list_of(nb::handle result, const char* what) {
  Tensors out;
  const auto add = [&](nb::handle item) {
    if (item.is_none())
      out.emplace_back();
    else if (is_tensor(item.ptr()))
      out.push_back(tensor_of(item.ptr()));
    else
      fail<TypeError>(what, ": expected tensors, and got an object of type ",
                      nb::cast<std::string>(nb::object(item.type().attr("__name__"))));
  };
  if (!is_tensor(result.ptr()) && nb::hasattr(result, "__iter__"))
    for (const nb::handle item : nb::borrow<nb::iterable>(result)) add(item);
  else
    add(result);
  return out;
}

// A function of Python on lists of tensors. `one`: it returned a tensor, not a tuple.
struct Called {
  Held function;
  std::shared_ptr<bool> one = std::make_shared<bool>(true);
  Tensors operator()(const Tensors& args) const {
    const Acquired python;
    nb::list list;
    for (const Tensor& arg : args) list.append(arg);
    try {
      const nb::object result = nb::handle(function.get())(*nb::tuple(list));
      *one = is_tensor(result.ptr());
      return list_of(result, "the function");
    } catch (nb::python_error& error) {
      rethrow(error);
    }
  }
};
nb::object tuple_of(const Tensors& tensors) {
  return results_object(tensors.data(), tensors.size(), nullptr);
}
nb::object one_or_tuple(const Tensors& tensors, bool one) {
  return one && tensors.size() == 1 ? nb::cast(tensors[0]) : tuple_of(tensors);
}

// --- Functions of Python that say their own derivative

struct FunctionNode final : autograd::FunctionNodeBase, HoldsObjects {
  std::string name() const override { return name_; }
  Tensors backward(Tensors&& grads) {
    const std::lock_guard lock(mutex_);
    const Tensors given = materialize(std::move(grads));
    Tensors results;
    check<Error>(!callbacks_have_ended(), name_,
                 ": Python has ended; nothing can be differentiated");
    {
      const Acquired python;
      results = list_of(
          nb::handle(backward_.get())(nb::handle(context_.get()), *nb::tuple(tuple_of(given))),
          name_.c_str());
    }
    return tensors_only(std::move(results));
  }
  void visit(Visit& visit) const override {
    visit.held(backward_);
    visit.held(context_);
  }
  std::string name_;
  std::vector<bool> tensors_;  // which arguments of forward are tensors
  Held backward_, context_;

 private:
  Tensors apply(Tensors&& grads) override { return backward(std::move(grads)); }
};

// ctx of forward and backward. The node owns it, and it knows the node.
struct Context {
  std::weak_ptr<FunctionNode> node;
  autograd::AutogradContext& get() const {
    const std::shared_ptr<FunctionNode> alive = node.lock();
    check<Error>(alive != nullptr, "Function: ctx is used after its graph has gone");
    return alive->context;
  }
};

nb::object apply_function(nb::handle cls, const nb::args& args) {
  auto node = std::make_shared<FunctionNode>();
  node->name_ = nb::cast<std::string>(nb::object(cls.attr("__name__"))) + "Backward";
  for (const nb::handle arg : args) {
    node->tensors_.push_back(is_tensor(arg.ptr()));
    if (node->tensors_.back())
      node->note(tensor_of(arg.ptr()));
    else
      node->note(0);
  }
  const bool records = node->records();
  const nb::object context = nb::cast(Context{node});
  nb::object result;
  {
    const NoGradGuard guard;
    if (nb::hasattr(cls, "setup_context")) {  // forward has no ctx
      result = cls.attr("forward")(*args);
      cls.attr("setup_context")(context, nb::borrow<nb::tuple>(args), result);
    } else {
      result = cls.attr("forward")(context, *args);
    }
  }
  if (!records) return result;
  node->context_ = hold_callback(context);
  node->backward_ = hold_callback(nb::object(cls.attr("backward")));
  const bool one = is_tensor(result.ptr());
  Tensors outputs = list_of(result, node->name_.c_str());
  node->finish(outputs);
  return one ? nb::cast(outputs[0]) : tuple_of(outputs);
}

// --- Hooks

struct HookHandle {
  std::weak_ptr<TensorImpl> tensor;
  unsigned number;
};

}  // namespace

void bind_autograd(nb::module_& m, nb::handle tensor) {
  nb::class_<HookHandle>(m, "_HookHandle").def("remove", [](const HookHandle& self) {
    if (const auto alive = self.tensor.lock()) Tensor(alive).remove_hook(self.number);
  });
  nb::class_<Shown> c = nb::borrow<nb::class_<Shown>>(tensor);
  c.def(
      "register_hook",
      [](const Tensor& x, nb::handle hook) {
        return HookHandle{x.impl_ptr(), x.register_hook(TensorHookCall{hold_callback(hook)})};
      },
      nb::arg("hook"),
      "Calls hook(grad) when the gradient of this tensor is ready. Returns a handle "
      "whose remove() takes the hook away.");
  c.def(
      "register_post_accumulate_grad_hook",
      [](const Tensor& x, nb::handle hook) {
        return HookHandle{x.impl_ptr(), x.register_post_accumulate_grad_hook(
                                            TensorHookCall{hold_callback(hook)})};
      },
      nb::arg("hook"),
      "Calls hook(leaf) when a backward pass has added to grad of this leaf. Returns a handle "
      "whose remove() takes the hook away.");

  nb::class_<Context>(m, "_Context", nb::dynamic_attr())
      .def("save_for_backward",
           [](const Context& self, const nb::args& tensors) {
             self.get().save_for_backward(list_of(tensors, "save_for_backward"));
           })
      .def_prop_ro("saved_tensors",
                   [](const Context& self) { return tuple_of(self.get().get_saved_variables()); })
      .def("mark_dirty",
           [](const Context& self, const nb::args& tensors) {
             self.get().mark_dirty(list_of(tensors, "mark_dirty"));
           })
      .def("mark_non_differentiable",
           [](const Context& self, const nb::args& tensors) {
             self.get().mark_non_differentiable(list_of(tensors, "mark_non_differentiable"));
           })
      .def("set_materialize_grads",
           [](const Context& self, bool value) { self.get().set_materialize_grads(value); })
      .def_prop_ro("needs_input_grad", [](const Context& self) {
        nb::list out;
        const autograd::AutogradContext& context = self.get();
        size_t edge = 0;
        for (const bool tensor : self.node.lock()->tensors_)
          out.append(nb::bool_(tensor && context.needs_input_grad(edge++)));
        return nb::tuple(out);
      });
  m.def("_apply_function", &apply_function);

  m.def(
      "_backward",
      [](nb::handle tensors, nb::handle grads, std::optional<bool> retain_graph, bool create_graph,
         nb::handle inputs) {
        const Tensors of = list_of(tensors, "backward");
        const Tensors weights = grads.is_none() ? Tensors() : list_of(grads, "backward");
        const Tensors to = inputs.is_none() ? Tensors() : list_of(inputs, "backward");
        const Released other_threads_run;
        autograd::backward(of, weights, retain_graph, create_graph, to);
      },
      nb::arg("tensors"), nb::arg("grads").none(), nb::arg("retain_graph").none(),
      nb::arg("create_graph"), nb::arg("inputs").none());
  m.def(
      "_grad",
      [](nb::handle outputs, nb::handle inputs, nb::handle grads, std::optional<bool> retain_graph,
         bool create_graph, bool allow_unused) {
        const Tensors of = list_of(outputs, "grad"), to = list_of(inputs, "grad");
        const Tensors weights = grads.is_none() ? Tensors() : list_of(grads, "grad");
        return tuple_of(released<Tensors>([&] {
          return autograd::grad(of, to, weights, retain_graph, create_graph, allow_unused);
        }));
      },
      nb::arg("outputs"), nb::arg("inputs"), nb::arg("grads").none(),
      nb::arg("retain_graph").none(), nb::arg("create_graph"), nb::arg("allow_unused"));

  m.def("_set_anomaly", [](bool enabled, bool check_nan) {
    const auto before = nb::make_tuple(autograd::AnomalyMode::is_enabled(),
                                       autograd::AnomalyMode::should_check_nan());
    autograd::AnomalyMode::set_enabled(enabled, check_nan);
    return before;
  });

  namespace functional = autograd::functional;
  m.def(
      "_vmap",
      [](nb::handle function, nb::handle inputs, nb::handle in_dims, nb::handle out_dims,
         const std::string& randomness) {
        const auto dims = [](nb::handle given) -> functional::MappedDims {
          if (given.is_none()) return std::nullopt;
          if (PyLong_Check(given.ptr())) return nb::cast<int64_t>(given);
          std::vector<functional::MappedDims::Dim> list;
          for (const nb::handle item : nb::borrow<nb::iterable>(given))
            list.push_back(item.is_none() ? functional::MappedDims::Dim()
                                          : nb::cast<int64_t>(item));
          return list;
        };
        const Called f{hold(function)};
        const Tensors given = list_of(inputs, "vmap");
        const functional::MappedDims in = dims(in_dims), out = dims(out_dims);
        const Tensors results = released<Tensors>(
            [&] { return functional::vmap_lists(f, given, in, out, randomness); });
        return one_or_tuple(results, *f.one);
      },
      nb::arg("function"), nb::arg("inputs"), nb::arg("in_dims").none(), nb::arg("out_dims").none(),
      nb::arg("randomness"));
  const auto compared = [](auto check) {
    return [check](nb::handle function, nb::handle inputs, double eps, double atol, double rtol) {
      const Called f{hold(function)};
      const Tensors given = list_of(inputs, "gradcheck");
      return released<bool>([&] { return check(f, given, {eps, atol, rtol}); });
    };
  };
  m.def("_gradcheck", compared(autograd::gradcheck));
  m.def("_gradgradcheck", compared(autograd::gradgradcheck));
  const auto jacobian = [](auto compute) {
    return [compute](nb::handle function, nb::handle inputs, bool create_graph,
                     bool strict) -> nb::object {
      const Called f{hold(function)};
      const bool one_input = is_tensor(inputs.ptr());
      const Tensors given = list_of(inputs, "jacobian");
      const std::vector<Tensors> rows =
          released<std::vector<Tensors>>([&] { return compute(f, given, create_graph, strict); });
      nb::list out;
      for (const Tensors& row : rows) out.append(one_or_tuple(row, one_input));
      return *f.one && nb::len(out) == 1 ? nb::object(out[0]) : nb::object(nb::tuple(out));
    };
  };
  m.def("_jacobian", jacobian([](const auto&... args) -> std::vector<Tensors> {
          return functional::jacobian(functional::ListFunction(std::get<0>(std::tie(args...))),
                                      std::get<1>(std::tie(args...)),
                                      std::get<2>(std::tie(args...)),
                                      std::get<3>(std::tie(args...)));
        }));
  m.def("_hessian", jacobian([](const auto&... args) -> std::vector<Tensors> {
          return functional::hessian(functional::ListFunction(std::get<0>(std::tie(args...))),
                                     std::get<1>(std::tie(args...)), std::get<2>(std::tie(args...)),
                                     std::get<3>(std::tie(args...)));
        }));
  m.def(
      "_vjp",
      [](nb::handle function, nb::handle inputs, nb::handle v, bool create_graph) {
        const Called f{hold(function)};
        const bool one_input = is_tensor(inputs.ptr());
        const Tensors given = list_of(inputs, "vjp");
        const Tensors weights = v.is_none() ? Tensors() : list_of(v, "vjp");
        const functional::Product product = released<functional::Product>([&] {
          return functional::vjp(functional::ListFunction(f), given, weights, create_graph);
        });
        return nb::make_tuple(one_or_tuple(product.outputs, *f.one),
                              one_or_tuple(product.product, one_input));
      },
      nb::arg("function"), nb::arg("inputs"), nb::arg("v").none(), nb::arg("create_graph"));
  m.def(
      "_jvp",
      [](nb::handle function, nb::handle inputs, nb::handle v, bool create_graph) {
        const Called f{hold(function)};
        const Tensors given = list_of(inputs, "jvp");
        const Tensors weights = v.is_none() ? Tensors() : list_of(v, "jvp");
        const functional::Product product = released<functional::Product>([&] {
          return functional::jvp(functional::ListFunction(f), given, weights, create_graph);
        });
        return nb::make_tuple(one_or_tuple(product.outputs, *f.one),
                              one_or_tuple(product.product, *f.one));
      },
      nb::arg("function"), nb::arg("inputs"), nb::arg("v").none(), nb::arg("create_graph"));
}

}  // namespace gradus::python
