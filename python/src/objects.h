// Python objects that C++ objects hold: they may be let go of on any thread, with or without the
// GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <memory>

namespace gradus::python {

namespace nb = nanobind;

// Lets go of a reference: at once where this thread holds the GIL, otherwise when a thread that
// does calls let_go_of_waiting(), or when Python next runs pending calls.
void let_go(PyObject* object);
// REQUIRES: this thread holds the GIL.
void let_go_of_waiting();

// A reference that C++ objects share.
using Held = std::shared_ptr<PyObject>;
inline Held hold(nb::handle object) {
  Py_XINCREF(object.ptr());
  return Held(object.ptr(), &let_go);
}

// A reference to what C++ calls: a hook, or what belongs to a Function. When Python ends it lets go
// of them all, so that no cycle through C++ is left.
Held hold_callback(nb::handle object);
// How many there are. While there are none, the garbage collector need not look for them.
inline std::atomic<int64_t> callbacks_held = 0;
// Whether Python has ended, and nothing may be called any more.
bool callbacks_have_ended();
void end_callbacks();

}  // namespace gradus::python
