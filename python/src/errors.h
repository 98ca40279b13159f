// C++ errors as Python's, and back.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>
#include <type_traits>

#include "objects.h"

namespace gradus::python {

namespace nb = nanobind;

// Makes the classes gradus.Error, gradus.ValueError, ... and has nanobind use them.
void bind_errors(nb::module_& m);
// Sets Python's error to that of a caught exception.
void set_error(const std::exception_ptr& error);
// Throws the exception of Python that is being handled: where it was one of C++ before it came
// through Python, as that again, so that C++ knows it by its type.
[[noreturn]] void rethrow(nb::python_error& error);

// The result of f, a pointer to an object or a number; `failed` after an exception, which is
// Python's error then. For functions that Python calls without nanobind.
template <class F, class R = std::invoke_result_t<F>>
R guarded(R failed, const F& f) noexcept {
  try {
    return f();
  } catch (...) {
    set_error(std::current_exception());
    return failed;
  }
}

// Lets other Python threads run while a C++ function computes, and has its warnings reach Python.
class Released {
 public:
  Released() {
    prepare();
    ++running;
    state_ = PyEval_SaveThread();
  }
  ~Released() {
    PyEval_RestoreThread(state_);
    --running;
    let_go_of_waiting();
  }
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;

  // Has warnings of this thread reach Python.
  static void prepare() {
    if (!takes_warnings) take_warnings();
  }
  // How many threads have released the GIL and not yet taken it again; guarded by the GIL.
  static inline int running = 0;

 private:
  static constinit thread_local bool takes_warnings;
  static void take_warnings();
  PyThreadState* state_;
};

// Holds the GIL, wherever C++ calls Python.
using Acquired = nb::gil_scoped_acquire;

}  // namespace gradus::python
