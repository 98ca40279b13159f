// The attributes of modules: what setting, reading and deleting one does.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace gradus::python {

namespace nb = nanobind;

// The name of an object's class, without its module.
std::string python_class_name(nb::handle object);
// Binds them to the class gradus.nn.Module.
void bind_attributes(nb::handle module_class);

}  // namespace gradus::python
