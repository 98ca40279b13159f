// gradus.Size: what a tensor's shape is in Python.
#pragma once

#include "params.h"

namespace gradus::python {

// The class of size_object(), which derives from tuple: it outlives all tensors.
void set_size_class(nb::handle cls);
nb::object size_object(IntArrayRef sizes);

}  // namespace gradus::python
