// What the forward() of a module says of arguments that it does not take.
#include <string>
#include <vector>

#include "nn/modules.h"

namespace gradus::python {

void fail_forward(const nn::Module& module, const nb::args& given,
                  const std::vector<std::string>& expected) {
  std::vector<std::string> types;
  const char* fix = "";
  for (const nb::handle arg : given) {
    types.push_back(nb::cast<std::string>(arg.type().attr("__name__")));
    if (types.back() == "ndarray")
      fix = "; make a tensor of the array by from_numpy";
    else if (PyTuple_Check(arg.ptr()))
      fix = "; pass one item of the tuple, such as the output of a recurrent layer";
    else if (PyList_Check(arg.ptr()))
      fix = "; make a tensor of the list by tensor(), or by stack()";
  }
  const std::string name = module.name();
  fail<TypeError>(name.substr(name.rfind(':') + 1), ": forward was given (", joined(types, ", "),
                  "); expected (", joined(expected, ", "), ")", fix);
}

}  // namespace gradus::python
