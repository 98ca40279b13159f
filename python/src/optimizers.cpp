// gradus.optim: the optimizers of C++, a row each. Their options come from GRADUS_FIELDS.
#include <gradus/optim/optim.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind.h"
#include "cycles.h"
#include "nn/modules.h"

namespace gradus::python {
namespace {

using optim::Field;
using optim::Fields;

// "betas.0" and "betas.1" are one option of Python, betas.
std::string_view whole_name(std::string_view name) { return name.substr(0, name.find('.')); }

nb::object field_object(const Field& field) {
  return std::visit(
      [](auto* value) -> nb::object {
        using T = std::remove_pointer_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::deque<Tensor>>)
          return nb::none();
        else
          return option_object(*value);
      },
      field.value);
}
nb::object option_value(const Fields& fields, std::string_view name) {
  nb::list parts;
  for (const Field& field : fields) {
    if (whole_name(field.name) != name) continue;
    if (field.name == name) return field_object(field);
    parts.append(field_object(field));
  }
  return nb::len(parts) ? nb::object(nb::tuple(parts)) : nb::object();
}
std::string option_type(const Fields& fields, std::string_view name) {
  std::vector<std::string> parts;
  for (const Field& field : fields) {
    if (whole_name(field.name) != name) continue;
    parts.push_back(
        std::visit([](auto* value) { return type_text<std::remove_pointer_t<decltype(value)>>(); },
                   field.value));
    if (field.name == name) return parts[0];
  }
  return "tuple[" + joined(parts, ", ") + "]";
}
// Errors: TypeError for another kind of value, KeyError where there is no such option.
void set_option(const char* optimizer, Fields fields, nb::handle name, nb::handle value) {
  const std::string key = nb::cast<std::string>(name);
  size_t part = 0;
  bool known = false;
  for (const Field& field : fields) {
    if (whole_name(field.name) != key) continue;
    known = true;
    const nb::object given = field.name == key ? nb::borrow(value) : nb::object(value[part++]);
    std::visit(
        [&](auto* to) {
          using T = std::remove_pointer_t<decltype(to)>;
          if constexpr (!std::is_same_v<T, std::deque<Tensor>>)
            if (load_option(given, *to)) return;
          fail_value(optimizer, key, given, type_text<T>());
        },
        field.value);
  }
  if (!known) fail_argument(optimizer, key, "is unknown");
}

// What a program keeps in a group beside the options, such as a name, is the optimizer's attribute.
nb::dict own_of(nb::handle optimizer, size_t index) {
  constexpr const char* kName = "_own_of_groups";
  if (!nb::hasattr(optimizer, kName)) nb::setattr(optimizer, kName, nb::dict());
  return nb::borrow<nb::dict>(optimizer.attr(kName).attr("setdefault")(index, nb::dict()));
}

// One group of an optimizer, as a dictionary: group["lr"] = 0.1.
struct Group {
  nb::object optimizer;
  size_t index;
  optim::OptimizerParamGroup& get() const {
    return nb::cast<optim::Optimizer&>(optimizer).param_groups().at(index);
  }
  Fields fields() const { return get().options().fields(); }
  nb::dict own() const { return own_of(optimizer, index); }
};

// --- What the garbage collector sees

int traverse_group(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<Group>(self)->optimizer.ptr());
  return 0;
}
int traverse_optimizer(PyObject* self, visitproc visit, void* arg) {
  Visit visited(self, visit, arg);
  if (visited.sees_inside())
    for (auto& group : nb::inst_ptr<optim::Optimizer>(self)->param_groups())
      for (const Tensor& parameter : group.params()) visited.tensor(parameter);
  return visited.result();
}
PyType_Slot group_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_group)},
                             {0, nullptr}};
PyType_Slot optimizer_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_optimizer)},
                                 {Py_tp_clear, reinterpret_cast<void*>(clear_attributes)},
                                 {0, nullptr}};

// A group as Python gives it, and what a program keeps in it beside the options.
struct GivenGroup {
  optim::OptimizerParamGroup group;
  nb::dict own;
};

// Parameters and groups as Python gives them: tensors, (name, tensor), or dictionaries of options.
template <class Options>
std::vector<GivenGroup> groups_of(const char* name, nb::handle params, const Options& defaults) {
  std::vector<GivenGroup> groups;
  Tensors plain;  // the first group, of parameters without options of their own
  const auto tensor = [&](nb::handle item) -> Tensor {
    nb::object one = nb::borrow(item);
    if (PyTuple_Check(item.ptr()) && nb::len(item) == 2) one = nb::object(item[1]);
    check<TypeError>(is_tensor(one.ptr()), name, ": a parameter is no tensor");
    return kept_by_object(one);
  };
  check<TypeError>(!is_tensor(params.ptr()), name,
                   ": expected an iterable of tensors or of groups, not one tensor");
  for (const nb::handle item : nb::borrow<nb::iterable>(params)) {
    if (!PyDict_Check(item.ptr())) {
      plain.push_back(tensor(item));
      continue;
    }
    Tensors parameters;
    auto options = std::make_unique<Options>(defaults);
    std::optional<double> initial_lr;
    nb::dict own;
    for (const auto& [key, value] : nb::borrow<nb::dict>(item)) {
      const std::string text = nb::cast<std::string>(key);
      if (text == "initial_lr") {
        initial_lr = nb::cast<double>(value);
      } else if (text != "params") {
        if (option_value(options->fields(), text).is_valid())
          set_option(name, options->fields(), key, value);
        else
          own[key] = value;
      } else if (is_tensor(value.ptr())) {
        parameters.push_back(kept_by_object(value));
      } else {
        for (const nb::handle each : nb::borrow<nb::iterable>(value))
          parameters.push_back(tensor(each));
      }
    }
    groups.push_back({{std::move(parameters), std::move(options)}, own});
    if (initial_lr) groups.back().group.set_initial_lr(*initial_lr);
  }
  if (plain.empty() && !groups.empty()) return groups;
  std::vector<GivenGroup> all;
  all.push_back({optim::OptimizerParamGroup(std::move(plain)), nb::dict()});
  for (GivenGroup& group : groups) all.push_back(std::move(group));
  return all;
}

// Options as Python gives them. A rate that C++ asks for has PyTorch's default.
template <class Options>
Options blank() {
  if constexpr (std::is_default_constructible_v<Options>)
    return Options();
  else
    return Options(1e-3);
}

// Keywords of PyTorch that say how a step is computed. Here it is computed in one way: for many
// parameters at once, and so that a graph can be captured.
// Errors: NotImplementedError for differentiable=True.
constexpr const char* kHow =
    ", *, foreach: bool | None = None, capturable: bool = False, "
    "differentiable: bool = False, fused: bool | None = None";
bool says_how(const char* name, std::string_view key, nb::handle value) {
  if (key == "differentiable")
    check<NotImplementedError>(!nb::cast<bool>(value), name, ": a step has no gradient, and ",
                               "differentiable is True; leave it out");
  return key == "foreach" || key == "capturable" || key == "differentiable" || key == "fused";
}

template <class O, class Options>
void add_optimizer(nb::module_& m, const char* name) {
  nb::class_<O, optim::Optimizer> c(m, name, nb::type_slots(optimizer_slots));
  Options initial = blank<Options>();
  std::string signature =
      "def __init__(self, params: collections.abc.Iterable[Tensor | tuple[str, Tensor] | dict[str, "
      "typing.Any]]";
  std::vector<std::string> names;
  for (const Field& field : initial.fields()) {
    const std::string whole(whole_name(field.name));
    if (!names.empty() && names.back() == whole) continue;
    names.push_back(whole);
    signature += ", " + whole + ": " + option_type(initial.fields(), whole) + " = " +
                 nb::cast<std::string>(nb::repr(option_value(initial.fields(), whole)));
  }
  c.def(
      "__init__",
      [name, names](nb::pointer_and_handle<O> self, const nb::args& args,
                    const nb::kwargs& kwargs) {
        check<TypeError>(args.size() > 0, name, ": expected parameters");
        check<TypeError>(args.size() <= names.size() + 1, name, ": too many arguments");
        Options options = blank<Options>();
        const auto set = [&](nb::handle key, nb::handle value) {
          set_option(name, options.fields(), key, value);
        };
        for (size_t i = 1; i < args.size(); ++i) set(nb::cast(names[i - 1]), args[i]);
        for (const auto& [key, value] : kwargs)
          if (!says_how(name, nb::cast<std::string>(key), value)) set(key, value);
        std::vector<optim::OptimizerParamGroup> groups;
        std::vector<nb::dict> own;
        for (GivenGroup& each : groups_of(name, args[0], options)) {
          groups.push_back(std::move(each.group));
          own.push_back(each.own);
        }
        new (self.p) O(std::move(groups), options);
        for (size_t i = 0; i < own.size(); ++i)
          if (nb::len(own[i])) own_of(self.h, i).update(own[i]);
      },
      nb::sig(kept(signature + kHow + ") -> None")));
  c.def_prop_ro(
      "defaults",
      [names](O& self) {
        const auto fields =
            const_cast<Options&>(static_cast<const Options&>(self.defaults())).fields();
        nb::dict out;
        for (const std::string& option : names)
          out[nb::cast(option)] = option_value(fields, option);
        return out;
      },
      "The options of groups that have none of their own.");
  c.def(
      "add_param_group",
      [name](nb::pointer_and_handle<O> self, nb::handle group) {
        const auto& defaults = static_cast<const Options&>(self.p->defaults());
        for (GivenGroup& each : groups_of(name, nb::make_tuple(nb::borrow(group)), defaults)) {
          self.p->add_param_group(std::move(each.group));
          if (nb::len(each.own)) own_of(self.h, self.p->param_groups().size() - 1).update(each.own);
        }
      },
      nb::arg("param_group"), "Adds parameters with options of their own.");
}

}  // namespace

void bind_optimizers(nb::module_& m) {
  nb::class_<Group>(m, "ParamGroup", nb::type_slots(group_slots),
                    "A group of an optimizer's parameters, and its options.")
      .def("__getitem__",
           [](const Group& self, const std::string& key) -> nb::object {
             if (key == "params")
               return results_object(self.get().params().data(), self.get().params().size(),
                                     nullptr);
             if (key == "initial_lr" && self.get().initial_lr())
               return to_python(*self.get().initial_lr());
             if (nb::object value = option_value(self.fields(), key); value.is_valid())
               return value;
             const nb::dict own = self.own();
             if (!own.contains(key.c_str())) throw nb::key_error(key.c_str());
             return own[key.c_str()];
           })
      .def(
          "__setitem__",
          [](const Group& self, const std::string& key, nb::handle value) {
            check<ValueError>(key != "params", "ParamGroup: the parameters of a group are fixed; ",
                              "add others with add_param_group()");
            if (key == "initial_lr") {
              self.get().set_initial_lr(nb::cast<double>(value));
            } else if (option_value(self.fields(), key).is_valid()) {
              set_option("ParamGroup", self.fields(), nb::cast(key), value);
              self.get().options().validate();
            } else {
              self.own()[key.c_str()] = value;
            }
          },
          nb::arg("key"), nb::arg("value").none())
      .def("keys", [](const Group& self) {
        nb::list out;
        out.append("params");
        for (const Field& field : self.fields()) {
          const std::string_view name = whole_name(field.name);
          const nb::str key(name.data(), name.size());
          if (!nb::cast<bool>(out.attr("__contains__")(key))) out.append(key);
        }
        if (self.get().initial_lr()) out.append("initial_lr");
        out.extend(self.own());
        return out;
      });
  nb::class_<optim::Optimizer> c(m, "Optimizer", nb::type_slots(optimizer_slots),
                                 nb::dynamic_attr(), nb::is_weak_referenceable(),
                                 "The base of all optimizers.");
  c.def(
      "step",
      [](optim::Optimizer& self, nb::handle closure) -> nb::object {
        if (closure.is_none()) {
          const Released other_threads_run;
          self.step();
          return nb::none();
        }
        const Tensor loss = released<Tensor>([&] {
          return self.step([&]() -> Tensor {
            const Acquired python;
            return nb::cast<Tensor>(closure());
          });
        });
        return nb::cast(loss);
      },
      nb::arg("closure") = nb::none(), "Updates the parameters by their gradients.");
  c.def(
      "zero_grad", [](optim::Optimizer& self, bool set_to_none) { self.zero_grad(set_to_none); },
      nb::arg("set_to_none") = true, "Clears the gradients of all parameters.");
  c.def_prop_ro(
      "param_groups",
      [](nb::pointer_and_handle<optim::Optimizer> self) {
        nb::list out;
        const size_t count = self.p->param_groups().size();
        for (size_t i = 0; i < count; ++i) out.append(nb::cast(Group{nb::borrow(self.h), i}));
        return out;
      },
      "The groups of parameters with their options.");
  c.def(
      "state_dict",
      [](const optim::Optimizer& self) {
        nb::dict out;
        for (const auto& item : self.state_dict())
          out[nb::cast(item.key())] = nb::cast(item.value());
        return out;
      },
      "All that the next step depends on, by name.");
  c.def(
      "load_state_dict",
      [](optim::Optimizer& self, const nb::dict& state_dict) {
        OrderedDict<std::string, Tensor> values;
        for (const auto& [key, value] : state_dict)
          values.insert(nb::cast<std::string>(key), nb::cast<Tensor>(value));
        self.load_state_dict(values);
      },
      nb::arg("state_dict"), "Takes copies of the values.");
#define OPTIMIZER(name) add_optimizer<optim::name, optim::name##Options>(m, #name);
  OPTIMIZER(SGD)
  OPTIMIZER(Adam)
  OPTIMIZER(AdamW)
  OPTIMIZER(Adagrad)
  OPTIMIZER(RMSprop)
  OPTIMIZER(LBFGS)
  OPTIMIZER(Lion)
  OPTIMIZER(Adadelta)
  OPTIMIZER(Adamax)
  OPTIMIZER(NAdam)
  OPTIMIZER(RAdam)
  OPTIMIZER(Muon)
}

}  // namespace gradus::python
