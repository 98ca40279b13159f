// Classes of Python that derive from a class of C++ and from others: class Net(nn.Module, Mixin).
#pragma once

#include <nanobind/nanobind.h>

namespace gradus::python {

namespace nb = nanobind;

// Lets classes of Python have several bases, of which one is `cls` or another class of C++.
void allow_several_bases(nb::handle cls);

}  // namespace gradus::python
