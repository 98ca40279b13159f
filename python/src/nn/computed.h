// What modules of C++ do for weights and statistics that Python computes.
#pragma once

#include "nn/registered.h"

namespace gradus::python {

// Makes a module of C++ compute with a tensor that it does not register. Returns whether it has a
// member of this name.
bool set_member(nn::Module& module, const std::string& name, const Tensor& tensor);
void bind_computed(nb::module_& m);

}  // namespace gradus::python
