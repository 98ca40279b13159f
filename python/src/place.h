// Where a program of Python calls the package.
#pragma once

#include <optional>
#include <string>

namespace gradus::python {

struct ProgramPlace {
  std::string file;
  int line;
};
// The innermost frame of this thread that is not the package's own; nothing outside of Python.
// REQUIRES: this thread holds the GIL.
std::optional<ProgramPlace> program_place();

}  // namespace gradus::python
