// gradus.nn.Module: a module of C++ that Python may derive from.
#include "nn/modules.h"

#include <gradus/nn/named_class.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>
#include <nanobind/trampoline.h>

#include <algorithm>
#include <unordered_set>

#include "bind.h"
#include "nn/attributes.h"
#include "nn/hooks.h"

namespace gradus::python {

std::string joined(const std::vector<std::string>& texts, std::string_view between) {
  std::string out;
  for (const std::string& text : texts) out.append(out.empty() ? "" : between).append(text);
  return out;
}

std::string one_of_types(const std::vector<std::string>& types) {
  std::vector<std::string> once;
  for (const std::string& type : types)
    if (std::ranges::find(once, type) == once.end()) once.push_back(type);
  return joined(once, " | ");
}

std::string signature_of(const std::vector<OptionText>& options) {
  std::string out;
  bool star = false;
  for (const OptionText& option : options) {
    if (!option.has_place && !std::exchange(star, true)) out += ", *";
    out += ", " + option.name + ": " + option.type;
    if (!option.value.empty()) out += " = " + option.value;
  }
  return out;
}

void fail_argument(const char* function, std::string_view name, const char* what) {
  if (name.empty()) fail<TypeError>(function, ": ", what);
  fail<TypeError>(function, ": the argument ", name, " ", what);
}

void fail_value(const char* function, std::string_view name, nb::handle given,
                const std::string& type, const std::vector<std::string>& choices) {
  const std::string found = std::string(function) + ": " + std::string(name) + " is " +
                            nb::cast<std::string>(nb::repr(given)) + "; expected ";
  if (choices.empty() || !PyUnicode_Check(given.ptr())) fail<TypeError>(found, type);
  fail<ValueError>(found, "one of ", joined(choices, ", "));
}

void check_made(nb::handle module) {
  check<Error>(nb::inst_ready(module),
               "Module: call super().__init__() before the module is called");
}

namespace {

constexpr const char* kReturnIndices = "return_indices";

// The attributes of the object itself, not of its class.
nb::object attributes_of(nb::handle object) {
  nb::object attributes = nb::steal(PyObject_GenericGetDict(object.ptr(), nullptr));
  if (!attributes.is_valid()) nb::raise_python_error();
  return attributes;
}

// Whether it has hooks, or has had some.
bool has_hooks(const nb::object& attributes) {
  static PyObject* const names[] = {PyUnicode_InternFromString("_forward_pre_hooks"),
                                    PyUnicode_InternFromString("_forward_hooks")};
  return PyDict_GetItemWithError(attributes.ptr(), names[0]) ||
         PyDict_GetItemWithError(attributes.ptr(), names[1]);
}

}  // namespace

bool is_called_by_python(nb::handle module) {
  static PyObject* const forward = PyUnicode_InternFromString("forward");
  const nb::object attributes = attributes_of(module);
  if (PyDict_Size(attributes.ptr()) == 0) return false;  // as of most layers
  return has_hooks(attributes) || PyDict_GetItemWithError(attributes.ptr(), forward);
}

PyObject* call_by_python(PyObject* module, PyObject* args, PyObject* keywords) {
  static PyObject* const name = PyUnicode_InternFromString("_call");
  const Observed<nn::Module> observed(*nb::inst_ptr<nn::Module>(module));
  const nb::object function = nb::steal(PyObject_GetAttr(module, name));
  return function.is_valid() ? PyObject_Call(function.ptr(), args, keywords) : nullptr;
}

void call_override(nb::handle object, nb::handle base, const char* method) {
  const nb::handle type = object.type();
  if (type.is(base) || nb::object(type.attr(method)).is(nb::object(base.attr(method)))) return;
  nb::inst_mark_ready(object);
  object.attr(method)();
}

std::string with_return_indices(const std::string& signature) {
  return signature + (signature.find("*,") == signature.npos ? ", *" : "") +
         ", return_indices: bool = False";
}
bool take_return_indices(const char* function, nb::dict& keywords) {
  const nb::str key(kReturnIndices);
  if (!keywords.contains(key)) return false;
  const nb::object given(keywords[key]);
  bool wanted = false;
  if (!load(given, true, wanted)) fail_value(function, kReturnIndices, given, "a bool");
  PyDict_DelItem(keywords.ptr(), key.ptr());
  return wanted;
}

bool returns_indices(nb::handle pool) {
  static PyObject* const key = PyUnicode_InternFromString(kReturnIndices);
  return PyDict_GetItemWithError(attributes_of(pool).ptr(), key) == Py_True;
}
void set_return_indices(nb::handle pool, bool on) {
  if (PyObject_GenericSetAttr(pool.ptr(), nb::str(kReturnIndices).ptr(), on ? Py_True : Py_False) !=
      0)
    nb::raise_python_error();
}

std::vector<std::string> names_of(std::string_view list) {
  if (list.empty()) return {"input"};
  if (list.front() == '(') list = list.substr(1, list.size() - 2);
  std::vector<std::string> out;
  while (!list.empty()) {
    const size_t comma = std::min(list.find(", "), list.size());
    out.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 2, list.size()));
  }
  return out;
}

nb::args with_keywords(const nb::args& args, const nb::kwargs& given,
                       const std::vector<std::string>& names) {
  nb::dict keywords;
  keywords.update(given);
  nb::list all;
  for (const nb::handle arg : args) all.append(arg);
  for (size_t at = 0; at < names.size(); ++at) {
    const nb::str name(names[at].c_str());
    if (!keywords.contains(name)) {
      if (nb::len(keywords) && at >= args.size()) all.append(nb::none());
      continue;
    }
    check<TypeError>(at >= args.size(), "forward: an argument is given twice");
    all.append(keywords[name]);
    PyDict_DelItem(keywords.ptr(), name.ptr());
  }
  check_all_taken("forward", keywords);
  return nb::borrow<nb::args>(nb::tuple(all));
}

void check_all_taken(const char* function, const nb::dict& keywords) {
  for (const auto& [name, value] : keywords)
    fail_argument(function, nb::cast<std::string>(name), "is unknown");
}

namespace {

// A module whose class is Python's.
struct PythonModule : nn::Module, nn::NamedClass {
  NB_TRAMPOLINE(nn::Module, 1);
  std::string class_name() const override { return name(); }
  void train(bool on) override { NB_OVERRIDE(train, on); }
  std::shared_ptr<nn::Module> clone(const std::optional<Device>& device) const override {
    const Acquired python;
    const nb::object self = nb::find(static_cast<const nn::Module*>(this));
    const nb::object copy = nb::module_::import_("copy").attr("deepcopy")(self);
    auto out = nb::cast<std::shared_ptr<nn::Module>>(copy);
    if (device) out->to(*device);
    return out;
  }
};

// A call of a module whose forward() is Python's. Module._call() calls it between hooks, if there
// are any.
PyObject* call_python(PyObject* self, PyObject* args, PyObject* keywords) {
  return guarded(static_cast<PyObject*>(nullptr), [&] {
    static PyObject* const forward = PyUnicode_InternFromString("forward");
    check_made(self);
    if (has_hooks(attributes_of(self))) return call_by_python(self, args, keywords);
    const Observed<nn::Module> observed(*nb::inst_ptr<nn::Module>(self));
    const nb::object function = nb::steal(PyObject_GetAttr(self, forward));
    return function.is_valid() ? PyObject_Call(function.ptr(), args, keywords) : nullptr;
  });
}

nb::object iterator(const nb::object& list) { return nb::steal(PyObject_GetIter(list.ptr())); }

// (name, object) of each, after a prefix.
template <class T>
nb::list pairs(const OrderedDict<std::string, T>& named, const std::string& prefix = "") {
  nb::list out;
  for (const auto& item : named)
    out.append(nb::make_tuple(prefix.empty() ? item.key() : prefix + "." + item.key(),
                              nb::cast(item.value())));
  return out;
}

// The module and all below it, each once, under its first name.
OrderedDict<std::string, std::shared_ptr<nn::Module>> modules_once(
    const std::shared_ptr<nn::Module>& module, const std::string& prefix = "") {
  OrderedDict<std::string, std::shared_ptr<nn::Module>> out;
  std::unordered_set<const nn::Module*> known;
  for (const auto& item : module->named_modules(prefix))
    if (known.insert(item.value().get()).second) out.insert(item.key(), item.value());
  return out;
}

OrderedDict<std::string, Tensor> tensors_of(nb::handle values) {
  OrderedDict<std::string, Tensor> out;
  for (const nb::handle item : nb::borrow<nb::iterable>(values.attr("items")()))
    out.insert(nb::cast<std::string>(nb::object(item[0])), nb::cast<Tensor>(nb::object(item[1])));
  return out;
}

// module.to(device), .to(dtype), .to(device, dtype), .to(tensor), with keywords.
nb::object move(nb::pointer_and_handle<nn::Module> self, const nb::args& args,
                const nb::kwargs& kwargs) {
  Param<std::optional<Device>> device;
  Param<std::optional<ScalarType>> dtype;
  const auto take = [&](nb::handle value) {
    if (is_tensor(value.ptr())) {
      device.value.value = tensor_of(value.ptr()).device(), device.given = true;
      dtype.value.value = tensor_of(value.ptr()).scalar_type(), dtype.given = true;
      return true;
    }
    return value.is_none() || PyBool_Check(value.ptr()) || dtype.load(value, true) ||
           (dtype.given = false, device.load(value, true));
  };
  for (const nb::handle arg : args)
    if (!take(arg)) throw nb::type_error("to: expected a device, a dtype or a tensor");
  std::optional<MemoryFormat> format;
  for (const auto& [key, value] : kwargs)
    if (nb::cast<std::string>(key) == "memory_format"
            ? !load(value, true, format.emplace(MemoryFormat::Contiguous))
            : !take(value))
      throw nb::type_error("to: expected device=, dtype=, memory_format= or non_blocking=");
  {
    const Released other_threads_run;
    if (device.given && dtype.given)
      self.p->to(*device.get(), *dtype.get());
    else if (device.given)
      self.p->to(*device.get());
    else if (dtype.given)
      self.p->to(*dtype.get());
    if (format && *format != MemoryFormat::Preserve) self.p->to(*format);
  }
  return nb::borrow(self.h);
}

}  // namespace

void bind_modules(nb::module_& m) {
  m.def("_set_parameter_class", [](nb::handle cls) { parameter_class = cls.ptr(); });
  m.def("_set_buffer_class", [](nb::handle cls) { buffer_class = cls.ptr(); });
  // Makes an object of a class derived from Tensor that shows the same memory, outside of the
  // graph.
  m.def("_make_parameter", [](nb::handle cls, const Tensor& data, bool requires_grad) {
    const Tensor tensor = data.detach();
    if (requires_grad) tensor.requires_grad_(true);
    const nb::object made = nb::inst_alloc(cls);
    show_as(tensor, made);
    return made;
  });

  m.def("_exchange", &exchange, nb::arg("module"), nb::arg("name"), nb::arg("tensor"));

  auto slots = slots_called_by(&call_python);
  nb::class_<nn::Module, PythonModule> c(
      m, "Module", nb::type_slots(slots.data()), nb::dynamic_attr(), nb::is_weak_referenceable(),
      "A part of a network, with its parameters, buffers and submodules by name.");
  c.def("__init__",
        [](nb::pointer_and_handle<nn::Module> self, const nb::args&, const nb::kwargs&) {
          new (self.p) PythonModule(nb::cast<std::string>(self.h.type().attr("__name__")));
        });
  bind_attributes(c);
  using Self = nb::pointer_and_handle<nn::Module>;
  c.def(
      "parameters",
      [](nn::Module& self, bool recurse) {
        nb::list out;
        for (const nb::handle pair : named_parameters(self, "", recurse)) out.append(pair[1]);
        return iterator(out);
      },
      nb::arg("recurse") = true, "An iterator over the parameters.");
  c.def(
      "named_parameters",
      [](nn::Module& self, const std::string& prefix, bool recurse) {
        return iterator(named_parameters(self, prefix, recurse));
      },
      nb::arg("prefix") = "", nb::arg("recurse") = true, "An iterator over (name, parameter).");
  c.def(
      "buffers",
      [](nn::Module& self, bool recurse) { return iterator(nb::cast(self.buffers(recurse))); },
      nb::arg("recurse") = true, "An iterator over the buffers.");
  c.def(
      "named_buffers",
      [](nn::Module& self, const std::string& prefix, bool recurse) {
        return iterator(pairs(self.named_buffers(recurse), prefix));
      },
      nb::arg("prefix") = "", nb::arg("recurse") = true, "An iterator over (name, buffer).");
  c.def(
      "children", [](nn::Module& self) { return iterator(children_of(self)); },
      "An iterator over the submodules of this module itself.");
  c.def(
      "_in_turn",
      [](nn::Module& self, nb::object input) {
        for (const nb::handle child : children_of(self)) input = child(input);
        return input;
      },
      nb::arg("input"), "Calls the submodules one after the other, each with the last result.");
  c.def(
      "named_children", [](nn::Module& self) { return iterator(pairs(self.named_children())); },
      "An iterator over (name, submodule).");
  c.def(
      "modules",
      [](const std::shared_ptr<nn::Module>& self) {
        return iterator(nb::cast(modules_once(self).values()));
      },
      "An iterator over this module and all below.");
  c.def(
      "named_modules",
      [](const std::shared_ptr<nn::Module>& self, const std::string& prefix) {
        return iterator(pairs(modules_once(self, prefix)));
      },
      nb::arg("prefix") = "", "An iterator over (name, module): this one and all below.");
  c.def(
      "state_dict",
      [](nn::Module& self) {
        nb::dict out;
        for (const auto& item : self.state_dict())
          out[nb::cast(item.key())] = nb::cast(item.value());
        return out;
      },
      "Parameters and buffers by name; they share the memory of the module.");
  c.def(
      "load_state_dict",
      [](nn::Module& self, nb::handle state_dict, bool strict) {
        self.load_state_dict(tensors_of(state_dict), strict);
      },
      nb::arg("state_dict"), nb::arg("strict") = true,
      "Copies the values to the parameters and buffers of the same names.");
  c.def(
      "register_parameter",
      [](nn::Module& self, const std::string& name, nb::handle param) {
        check<TypeError>(param.is_none() || is_parameter(param),
                         "register_parameter: expected an nn.Parameter or None");
        register_parameter(self, name, param);
      },
      nb::arg("name"), nb::arg("param").none(), "Adds a parameter.");
  c.def(
      "register_buffer",
      [](nn::Module& self, const std::string& name, nb::handle tensor) {
        check<TypeError>(tensor.is_none() || is_tensor(tensor.ptr()),
                         "register_buffer: expected a tensor or None");
        register_buffer(self, name, tensor);
      },
      nb::arg("name"), nb::arg("tensor").none(), "Adds a buffer: a tensor that is no parameter.");
  c.def_prop_ro("training", &nn::Module::is_training, "Whether the module is being trained.");
  c.def(
      "train",
      [](Self self, bool mode) {
        // The C++ method of Module itself, which an override of Python calls, too.
        if (dynamic_cast<PythonModule*>(self.p))
          self.p->nn::Module::train(mode);
        else
          self.p->train(mode);
        return nb::borrow(self.h);
      },
      nb::arg("mode") = true, "Sets whether the module is being trained, and all below.");
  c.def(
      "eval", [](Self self) { return self.h.attr("train")(false); },
      "The module is not being trained from here on.");
  c.def("to", &move, "Moves or converts all parameters and buffers.");
  c.def(
      "cuda",
      [](Self self, std::optional<int64_t> device) {
        self.p->to(Device(kCUDA, static_cast<DeviceIndex>(device.value_or(-1))));
        return nb::borrow(self.h);
      },
      nb::arg("device") = nb::none(), "Moves the module to a GPU.");
  c.def(
      "cpu",
      [](Self self) {
        self.p->to(Device(kCPU));
        return nb::borrow(self.h);
      },
      "Moves the module to the CPU.");
#define CONVERTED(name, dtype)     \
  c.def(                           \
      name,                        \
      [](Self self) {              \
        self.p->to(dtype);         \
        return nb::borrow(self.h); \
      },                           \
      "Converts floating point parameters and buffers to gradus." name ".");
  CONVERTED("float", kFloat)
  CONVERTED("double", kDouble)
  CONVERTED("half", kHalf)
  CONVERTED("bfloat16", kBFloat16)
#undef CONVERTED
  c.def(
      "zero_grad", [](nn::Module& self, bool set_to_none) { self.zero_grad(set_to_none); },
      nb::arg("set_to_none") = true, "Clears the gradients of all parameters.");
  c.def(
      "requires_grad_",
      [](Self self, bool requires_grad) {
        for (const Tensor& p : self.p->parameters()) p.requires_grad_(requires_grad);
        return nb::borrow(self.h);
      },
      nb::arg("requires_grad") = true, "Sets requires_grad of all parameters.");
  // Hooks of modules of C++. Those of Python's modules are called by Module._call.
  c.def("_add_forward_pre_hook", [](nn::Module& self, nb::handle hook) {
    return self.register_forward_pre_hook(ForwardPreHook{hold_callback(hook)});
  });
  c.def("_add_forward_hook", [](nn::Module& self, nb::handle hook) {
    return self.register_forward_hook(ForwardHook{hold_callback(hook)});
  });
  c.def("_remove_forward_pre_hook", &nn::Module::remove_forward_pre_hook);
  c.def("_remove_forward_hook", &nn::Module::remove_forward_hook);
  c.def(
      "clone", [](const nn::Module& self) { return self.clone(); },
      "A deep copy of a module of C++.");
  bind_packed(m);
  bind_layers(m);
  bind_activations(m);
  bind_losses(m);
  nb::module_ functional = m.def_submodule("functional", "Functions with options.");
  bind_functional(functional);
}

}  // namespace gradus::python
