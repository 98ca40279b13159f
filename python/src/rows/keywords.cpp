// NumPy's keywords, which PyTorch's rows take, too: axis for dim, keepdims for keepdim.
#include <nanobind/stl/string.h>

#include <string>

#include "rows/rows.h"

namespace gradus::python {
namespace {

// The keywords under PyTorch's names. Where there is none of NumPy's, the call is of another kind.
nb::dict torch_keywords(const nb::kwargs& given) {
  nb::dict out;
  bool found = false;
  for (const auto& [key, value] : given) {
    const bool axis = nb::str(key).equal(nb::str("axis")),
               keepdims = nb::str(key).equal(nb::str("keepdims"));
    found |= axis || keepdims;
    out[axis ? nb::str("dim") : keepdims ? nb::str("keepdim") : nb::str(key)] = value;
  }
  if (!found) throw nb::next_overload();
  return out;
}

// Whether one of the overloads has a parameter dim.
bool takes_dim(nb::handle function) {
  const nb::object overloads = nb::getattr(function, "__nb_signature__", nb::make_tuple());
  for (const nb::handle overload : overloads)
    if (nb::cast<std::string>(overload[0]).find("dim: ") != std::string::npos) return true;
  return false;
}

}  // namespace

void bind_numpy_keywords(const Scopes& scopes) {
  for (const nb::handle scope : {scopes.module, scopes.tensor}) {
    const bool method = scope.is(scopes.tensor);
    const auto members =
        nb::cast<nb::dict>(nb::module_::import_("builtins").attr("dict")(scope.attr("__dict__")));
    for (const auto& [key, value] : members) {
      if (!takes_dim(value)) continue;
      const char* name = kept(nb::cast<std::string>(key));
      const nb::sig signature(
          kept("def " + std::string(name) + "(*args, axis, **keywords) -> object"));
      // The last overload, so that no other call has to look at it.
      if (method)
        nb::cpp_function_def(
            [scope, name](nb::handle self, const nb::args& args, const nb::kwargs& keywords) {
              return nb::object(scope.attr(name)(self, *args, **torch_keywords(keywords)));
            },
            nb::scope(scope), nb::name(name), nb::is_method(), signature);
      else
        nb::cpp_function_def(
            [scope, name](const nb::args& args, const nb::kwargs& keywords) {
              return nb::object(scope.attr(name)(*args, **torch_keywords(keywords)));
            },
            nb::scope(scope), nb::name(name), signature);
    }
  }
}

}  // namespace gradus::python
