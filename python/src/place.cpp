// Where a program of Python calls the package.
#include "place.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

namespace gradus::python {

namespace nb = nanobind;

std::optional<ProgramPlace> program_place() {
  nb::object frame = nb::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  while (frame.is_valid() && !frame.is_none()) {
    const std::string module = nb::cast<std::string>(
        nb::str(frame.attr("f_globals").attr("get")("__name__", nb::str(""))));
    if (module != "gradus" && !module.starts_with("gradus."))
      return ProgramPlace{nb::cast<std::string>(frame.attr("f_code").attr("co_filename")),
                          nb::cast<int>(frame.attr("f_lineno"))};
    frame = frame.attr("f_back");
  }
  return std::nullopt;
}

}  // namespace gradus::python
