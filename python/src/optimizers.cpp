// gradus.optim: the optimizers of C++, a row each. Their options come from GRADUS_FIELDS.
#include <gradus/optim/optim.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind.h"
#include "cycles.h"
#include "nn/modules.h"
#include "own_optimizer.h"

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
bool knows(const Fields& fields, std::string_view name) {
  return std::ranges::any_of(fields, [&](const Field& f) { return whole_name(f.name) == name; });
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

// One group of an optimizer, as a dictionary: group["lr"] = 0.1.
struct Group {
  nb::object optimizer;
  size_t index;
  optim::OptimizerParamGroup& get() const {
    return nb::cast<optim::Optimizer&>(optimizer).param_groups().at(index);
  }
  Fields fields() const { return get().options().fields(); }
  // Options that the algorithm does not know, such as a group's name: attributes of the optimizer.
  nb::dict others() const { return others_of(optimizer, index); }
  static nb::dict others_of(nb::handle optimizer, size_t index) {
    const nb::object all =
        optimizer.attr("__dict__").attr("setdefault")("_other_options", nb::dict());
    return nb::cast<nb::dict>(all.attr("setdefault")(index, nb::dict()));
  }
  nb::list keys() const {
    nb::list out;
    out.append("params");
    for (const Field& field : fields()) {
      const std::string_view name = whole_name(field.name);
      const nb::str key(name.data(), name.size());
      if (!nb::cast<bool>(out.attr("__contains__")(key))) out.append(key);
    }
    if (get().initial_lr()) out.append("initial_lr");
    for (const auto& [key, value] : others()) out.append(key);
    return out;
  }
  nb::object at(const std::string& key) const {
    if (key == "params")
      return results_object(get().params().data(), get().params().size(), nullptr);
    if (key == "initial_lr" && get().initial_lr()) return to_python(*get().initial_lr());
    nb::object value = option_value(fields(), key);
    if (value.is_valid()) return value;
    const nb::dict further = others();
    if (!further.contains(key.c_str())) throw nb::key_error(key.c_str());
    return further[key.c_str()];
  }
  void set(nb::handle key, nb::handle value) const {
    const std::string name = nb::cast<std::string>(key);
    if (name == "initial_lr") {
      get().set_initial_lr(nb::cast<double>(value));
    } else if (knows(fields(), name)) {
      set_option("ParamGroup", fields(), key, value);
      get().options().validate();
    } else {
      others()[key] = value;
    }
  }
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

// Parameters and groups as Python gives them: tensors, (name, tensor), dictionaries of options, or
// groups of an optimizer. `others`: the options of each group that the algorithm does not know.
template <class Options>
std::vector<optim::OptimizerParamGroup> groups_of(const char* name, nb::handle params,
                                                  const Options& defaults, nb::list& others) {
  std::vector<optim::OptimizerParamGroup> groups;
  Tensors plain;  // the first group, of parameters without options of their own
  const auto tensor = [&](nb::handle item) -> Tensor {
    nb::object one = nb::borrow(item);
    if (PyTuple_Check(item.ptr()) && nb::len(item) == 2) one = nb::object(item[1]);
    check<TypeError>(is_tensor(one.ptr()), name, ": a parameter is no tensor");
    return kept_by_object(one);
  };
  check<TypeError>(!is_tensor(params.ptr()), name,
                   ": expected an iterable of tensors or of groups, not one tensor");
  check<TypeError>(
      !nb::isinstance<nn::Module>(params), name,
      ": expected an iterable of tensors or of groups, not a module; pass its parameters()");
  for (const nb::handle item : nb::borrow<nb::iterable>(params)) {
    nb::dict given;
    if (nb::isinstance<Group>(item)) {
      const Group& group = nb::cast<const Group&>(item);
      for (const nb::handle key : group.keys()) given[key] = group.at(nb::cast<std::string>(key));
    } else if (PyDict_Check(item.ptr())) {
      given = nb::borrow<nb::dict>(item);
    } else {
      plain.push_back(tensor(item));
      continue;
    }
    Tensors own;
    auto options = std::make_unique<Options>(defaults);
    nb::dict unknown;
    for (const auto& [key, value] : given) {
      const std::string option = nb::cast<std::string>(key);
      if (option != "params") {
        if (knows(options->fields(), option))
          set_option(name, options->fields(), key, value);
        else
          unknown[key] = value;
      } else if (is_tensor(value.ptr())) {
        own.push_back(kept_by_object(value));
      } else {
        for (const nb::handle each : nb::borrow<nb::iterable>(value)) own.push_back(tensor(each));
      }
    }
    groups.emplace_back(std::move(own), std::move(options));
    others.append(unknown);
  }
  check<ValueError>(
      !plain.empty() || !groups.empty(), name,
      ": optimizer got an empty parameter list; expected one parameter at least. parameters() can "
      "be used up once, and a plain list of modules registers none: use nn.ModuleList");
  if (plain.empty() && !groups.empty()) return groups;
  std::vector<optim::OptimizerParamGroup> all;
  all.emplace_back(std::move(plain));
  others.insert(0, nb::dict());
  for (optim::OptimizerParamGroup& group : groups) all.push_back(std::move(group));
  return all;
}

// Options as Python gives them. The first is lr, which a default may stand for.
template <class Options>
Options blank() {
  if constexpr (std::is_default_constructible_v<Options>)
    return Options();
  else
    return Options(0.0);
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

// Gives groups of an optimizer, from the first new one on, the options that it does not know.
void note_others(nb::handle optimizer, size_t first, const nb::list& others) {
  for (const nb::handle each : others)
    Group::others_of(optimizer, first++).update(nb::borrow<nb::dict>(each));
}

template <class Options, class O>
void add_group(const char* name, nb::pointer_and_handle<O> self, nb::handle group) {
  const auto& defaults = static_cast<const Options&>(self.p->defaults());
  nb::list others;
  const size_t first = self.p->param_groups().size();
  for (auto& each : groups_of(name, nb::make_tuple(nb::borrow(group)), defaults, others))
    self.p->add_param_group(std::move(each));
  note_others(self.h, first, others);
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
    signature += ", " + whole + ": " + option_type(initial.fields(), whole);
    if (names.size() > 1 || std::is_default_constructible_v<Options>)
      signature += " = " + nb::cast<std::string>(nb::repr(option_value(initial.fields(), whole)));
  }
  c.def(
      "__init__",
      [name, names](nb::pointer_and_handle<O> self, const nb::args& args,
                    const nb::kwargs& kwargs) {
        check<TypeError>(args.size() > 0, name, ": expected parameters");
        check<TypeError>(args.size() <= names.size() + 1, name, ": too many arguments");
        Options options = blank<Options>();
        bool has_lr = std::is_default_constructible_v<Options>;
        const auto set = [&](nb::handle key, nb::handle value) {
          set_option(name, options.fields(), key, value);
          has_lr |= nb::cast<std::string>(key) == "lr";
        };
        for (size_t i = 1; i < args.size(); ++i) set(nb::cast(names[i - 1]), args[i]);
        for (const auto& [key, value] : kwargs)
          if (!says_how(name, nb::cast<std::string>(key), value)) set(key, value);
        if (!has_lr) fail_argument(name, "lr", "is missing");
        nb::list others;
        new (self.p) O(groups_of(name, args[0], options, others), options);
        note_others(self.h, 0, others);
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
        add_group<Options>(name, self, group);
      },
      nb::arg("param_group"), "Adds parameters with options of their own.");
}

}  // namespace

void bind_optimizers(nb::module_& m) {
  nb::class_<Group>(m, "ParamGroup", nb::type_slots(group_slots),
                    "A group of an optimizer's parameters, and its options.")
      .def("__getitem__", &Group::at)
      .def("__setitem__", &Group::set, nb::arg("key"), nb::arg("value").none())
      .def("keys", &Group::keys);
  nb::class_<optim::Optimizer, OwnOptimizer> c(
      m, "Optimizer", nb::type_slots(optimizer_slots), nb::dynamic_attr(),
      nb::is_weak_referenceable(), "The base of all optimizers, and of those that Python writes.");
  using Self = nb::pointer_and_handle<optim::Optimizer>;
  c.def(
      "__init__",
      [](Self self, nb::handle params, const nb::dict& defaults) {
        OwnOptions options;
        const nb::str lr("lr");
        if (defaults.contains(lr)) set_option("Optimizer", options.fields(), lr, defaults[lr]);
        nb::list others;
        new (self.p) OwnOptimizer(groups_of("Optimizer", params, options, others), options);
        self.h.attr("_own_defaults") = defaults;
        for (size_t i = 0; i < nb::len(others); ++i) {
          nb::dict with_defaults = nb::cast<nb::dict>(defaults.attr("copy")());
          with_defaults.update(nb::cast<nb::dict>(others[i]));
          if (with_defaults.contains(lr)) PyDict_DelItem(with_defaults.ptr(), lr.ptr());
          others[i] = with_defaults;
        }
        note_others(self.h, 0, others);
      },
      nb::arg("params"), nb::arg("defaults"));
  c.def(
      "add_param_group",
      [](Self self, nb::handle group) {
        const size_t first = self.p->param_groups().size();
        add_group<OwnOptions>("Optimizer", self, group);
        nb::dict others = Group::others_of(self.h, first);
        for (const auto& [key, value] : nb::cast<nb::dict>(self.h.attr("_own_defaults")))
          if (nb::cast<std::string>(key) != "lr") others.attr("setdefault")(key, value);
      },
      nb::arg("param_group"), "Adds parameters with options of their own.");
  c.def_prop_ro(
      "defaults", [](Self self) { return nb::object(self.h.attr("_own_defaults")); },
      "The options of groups that have none of their own.");
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
      [](Self self) {
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
