// The attributes of modules: what setting, reading and deleting one does.
#include "nn/attributes.h"

#include <nanobind/stl/string.h>

#include "errors.h"
#include "nn/computed.h"
#include "nn/registered.h"
#include "params.h"
#include "tensor.h"

namespace gradus::python {

std::string python_class_name(nb::handle object) {
  return nb::cast<std::string>(object.type().attr("__name__"));
}

namespace {

// The name of an attribute. Errors: TypeError for what is no text.
std::string attribute_name(nb::handle name) {
  std::string_view text;
  if (!load(name, true, text))
    fail<TypeError>("Module: the name of an attribute is of type ", python_class_name(name),
                    ", expected str");
  return std::string(text);
}
// The module that an object is, whose attribute is about to be read, set or deleted.
// Errors: TypeError for another object, Error before __init__ has made it.
nn::Module& module_of(nb::handle self, const char* done, const std::string& name) {
  if (!nb::isinstance<nn::Module>(self))
    fail<TypeError>("Module: self is of type ", python_class_name(self), ", expected an nn.Module");
  check<Error>(nb::inst_ready(self), "Module: call super().__init__() before ", name, " is ", done);
  return *nb::inst_ptr<nn::Module>(self);
}

// Sets an option of a module of C++, which its forward() reads. Returns whether it has one of that
// name.
bool set_option(nb::handle self, nb::handle name, nb::handle value) {
  return nb::hasattr(self.type(), "_options") && !nb::hasattr(self.type(), name) &&
         nb::cast<bool>(nb::object(self.attr("_set_option")(name, value)));
}

// What a value is, for a message: its class, or that it is one.
std::string kind_of(nb::handle value) {
  if (PyType_Check(value.ptr())) {
    const std::string name = nb::cast<std::string>(value.attr("__name__"));
    return "the class " + name + "; write " + name + "()";
  }
  return "of type " + python_class_name(value);
}

// Errors: TypeError where `name` is a parameter, a buffer or a submodule, which the value cannot
// be.
void check_replaces(nn::Module& module, const std::string& name, nb::handle value) {
  const char* const expected = has_parameter(module, name) ? "parameter; expected an nn.Parameter"
                               : has_buffer(module, name)  ? "buffer; expected a tensor"
                               : module.named_children().contains(name)
                                   ? "submodule; expected an nn.Module"
                                   : nullptr;
  if (expected)
    fail<TypeError>("Module: cannot assign a value of type ", python_class_name(value), " to ",
                    name, ", which is a ", expected, " or None");
}

nb::object set_attribute(nb::handle self, nb::handle name, nb::handle value) {
  const std::string text = attribute_name(name);
  nn::Module& module = module_of(self, "set", text);
  const auto has_bias = [&](bool on) {
    if (text == "bias") set_option(self, name, nb::bool_(on));
  };
  if (is_parameter(value)) {
    register_parameter(module, text, value);
    has_bias(true);
  } else if (is_tensor(value.ptr()) && buffer_class &&
             PyObject_IsInstance(value.ptr(), buffer_class) == 1) {
    self.attr("register_buffer")(name, value, value.attr("persistent"));
    return nb::none();
  } else if (nb::isinstance<nn::Module>(value)) {
    // A module that leads back to this one is an attribute and no part.
    if (!holds(nb::cast<const nn::Module&>(value), module)) register_child(module, text, value);
  } else if (value.is_none() && has_parameter(module, text)) {
    register_parameter(module, text, value);
    has_bias(false);
  } else if (value.is_none() && module.named_children().contains(text)) {
    unregister_child(module, text);
  } else if ((is_tensor(value.ptr()) || value.is_none()) && has_buffer(module, text)) {
    register_buffer(module, text, value);
    return nb::none();
  } else {
    check_replaces(module, text, value);
    if (set_option(self, name, value)) return nb::none();
    // A tensor in the place of a parameter that was deleted: forward() computes with it.
    if (is_tensor(value.ptr())) set_member(module, text, tensor_of(value.ptr()));
  }
  if (PyObject_GenericSetAttr(self.ptr(), name.ptr(), value.ptr()) != 0) nb::raise_python_error();
  return nb::none();
}

}  // namespace

void bind_attributes(nb::handle module_class) {
  nb::class_<nn::Module> c = nb::borrow<nb::class_<nn::Module>>(module_class);
  c.def("__setattr__", &set_attribute, nb::arg("name"), nb::arg("value").none());
  c.def("__getattr__", [](nb::handle self, const std::string& name) -> nb::object {
    if (std::optional<nb::object> found = registered(module_of(self, "read", name), name))
      return *found;
    // Options of modules of C++; a bias that was left out is None.
    if (nb::hasattr(self.type(), "_options")) {
      const nb::dict options = nb::cast<nb::dict>(self.attr("_options")());
      if (options.contains(name.c_str())) {
        const nb::object value(options[name.c_str()]);
        return name == "bias" && value.ptr() == Py_False ? nb::none() : value;
      }
    }
    throw nb::attribute_error(
        ("'" + python_class_name(self) + "' object has no attribute '" + name + "'").c_str());
  });
  c.def("__delattr__", [](nb::handle self, nb::handle name) {
    const std::string text = attribute_name(name);
    nn::Module& module = module_of(self, "deleted", text);
    bool found = true;
    if (has_parameter(module, text))
      module.unregister_parameter(text);
    else if (has_buffer(module, text))
      module.unregister_buffer(text);
    else if (module.named_children().contains(text))
      module.unregister_module(text);
    else
      found = false;
    if (PyObject_GenericSetAttr(self.ptr(), name.ptr(), nullptr) != 0) {
      if (!found) nb::raise_python_error();
      PyErr_Clear();
    }
  });
  const auto add = [](nb::handle self, nb::handle name, nb::handle module) {
    if (!module.is_none() && !nb::isinstance<nn::Module>(module))
      fail<TypeError>("add_module: ", attribute_name(name), " is ", kind_of(module),
                      PyType_Check(module.ptr()) ? "" : "; expected an nn.Module");
    set_attribute(self, name, module);
  };
  c.def("register_module", add, nb::arg("name"), nb::arg("module").none(), "Adds a submodule.");
  c.def("add_module", add, nb::arg("name"), nb::arg("module").none(), "Adds a submodule.");
}

}  // namespace gradus::python
