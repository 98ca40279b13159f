// What Python's operators and protocols do with tensors.
#pragma once

#include <nanobind/nanobind.h>

#include "gradus/tensor/tensor.h"

namespace gradus::python {

// The slots of the class Tensor.
extern PyType_Slot tensor_slots[];

// The element of a tensor that has one, as Python's own number: a new reference.
PyObject* element(const Tensor& tensor);

}  // namespace gradus::python
