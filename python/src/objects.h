// Python objects that C++ holds: they may be let go of on any thread, with or without the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

namespace gradus::python {

namespace nb = nanobind;

// Lets go of a reference: at once where this thread holds the GIL, otherwise when a thread that
// does asks for it, or when Python next runs pending calls.
void let_go(PyObject* object);

// A reference that C++ objects share.
using Held = std::shared_ptr<PyObject>;
inline Held hold(nb::handle object) {
  Py_XINCREF(object.ptr());
  return Held(object.ptr(), &let_go);
}

}  // namespace gradus::python
