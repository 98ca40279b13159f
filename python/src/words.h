// What messages of C++ say, in the words of Python.
#pragma once

#include <string>
#include <string_view>

namespace gradus::python {

// "convert with .to(kFloat)" as "convert with .to(gradus.float32)", "retain_graph = true" as
// "retain_graph=True", "autograd::grad" as "autograd.grad". Other words stay as they are.
std::string in_python(std::string_view message);

}  // namespace gradus::python
