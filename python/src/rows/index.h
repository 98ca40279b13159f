// x[key] and x[key] = value.
#pragma once

#include <nanobind/nanobind.h>

namespace gradus::python {

PyObject* get_item(PyObject* self, PyObject* key);
int set_item(PyObject* self, PyObject* key, PyObject* value);

}  // namespace gradus::python
