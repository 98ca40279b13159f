// C++ errors as Python's: each is a class of its name that derives from RuntimeError and from the
// builtin of that name.
#include "errors.h"

#include <new>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <vector>

#include "gradus/cuda/rtc/source.h"
#include "gradus/distributed/job/error.h"
#include "gradus/tensor/base/error.h"
#include "gradus/tensor/base/warning.h"
#include "gradus/watch/guard/nan_guard.h"
#include "words.h"

namespace gradus::python {
namespace {

struct ErrorClass {
  bool (*matches)(const std::exception& error);
  PyObject* object;
  void (*describe)(nb::handle made, const std::exception& error);  // adds attributes; may be null
};
std::vector<ErrorClass> error_classes;       // derived ones before their bases
thread_local std::exception_ptr last_error;  // of C++ that became Python's

template <class E>
PyObject* add_error(nb::module_& m, const char* name, const char* doc, PyObject* base,
                    PyObject* builtin = nullptr,
                    void (*describe)(nb::handle, const std::exception&) = nullptr) {
  nb::list bases;
  bases.append(nb::handle(base));
  if (builtin) bases.append(nb::handle(builtin));
  PyObject* made = PyErr_NewExceptionWithDoc((std::string("gradus.") + name).c_str(), doc,
                                             nb::tuple(bases).ptr(), nullptr);
  if (!made) nb::raise_python_error();
  m.attr(name) = nb::borrow(made);
  error_classes.insert(error_classes.begin(), {[](const std::exception& error) {
                                                 return dynamic_cast<const E*>(&error) != nullptr;
                                               },
                                               made, describe});
  return made;
}

PyObject* builtin_class(nb::exception_type type) {
  switch (type) {
    case nb::exception_type::type_error:
      return PyExc_TypeError;
    case nb::exception_type::value_error:
      return PyExc_ValueError;
    case nb::exception_type::index_error:
      return PyExc_IndexError;
    case nb::exception_type::key_error:
      return PyExc_KeyError;
    case nb::exception_type::buffer_error:
      return PyExc_BufferError;
    case nb::exception_type::attribute_error:
      return PyExc_AttributeError;
    default:
      return PyExc_RuntimeError;
  }
}

// Lines of a compiler are about code of C++, and stay as they are.
std::string message_of(const std::exception& error) {
  return dynamic_cast<const CompileError*>(&error) ? error.what() : in_python(error.what());
}

struct PythonWarnings final : WarningHandler {
  void process(const SourceLocation&, const std::string& message, bool) override {
    const Acquired python;
    if (PyErr_WarnEx(PyExc_UserWarning, in_python(message).c_str(), 1) != 0)
      nb::raise_python_error();
  }
};

}  // namespace

constinit thread_local bool Released::takes_warnings = false;

void Released::take_warnings() {
  static PythonWarnings handler;
  Warning::set_warning_handler(&handler);
  takes_warnings = true;
}

void set_error(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (nb::python_error& e) {
    e.restore();
  } catch (const nb::builtin_exception& e) {
    PyErr_SetString(builtin_class(e.type()), e.what());
  } catch (const std::bad_alloc& e) {
    PyErr_SetString(PyExc_MemoryError, e.what());
  } catch (const std::bad_cast&) {  // of nb::cast
    PyErr_SetString(PyExc_TypeError,
                    "an argument, or what it holds, is of another type than the function takes; "
                    "its help() says which");
  } catch (const std::exception& e) {
    for (const ErrorClass& c : error_classes)
      if (c.matches(e)) {
        last_error = error;
        const std::string message = message_of(e);
        if (!c.describe) return PyErr_SetString(c.object, message.c_str());
        const nb::object made = nb::steal(PyObject_CallFunction(c.object, "s", message.c_str()));
        if (made.is_valid()) c.describe(made, e), PyErr_SetObject(c.object, made.ptr());
        return;
      }
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
}

void rethrow(nb::python_error& error) {
  if (const std::exception_ptr last = std::exchange(last_error, nullptr)) {
    try {
      std::rethrow_exception(last);
    } catch (const std::exception& e) {
      if (nb::cast<std::string>(nb::str(error.value())) == message_of(e)) throw;
    }
  }
  throw;
}

void bind_errors(nb::module_& m) {
  PyObject* base =
      add_error<Error>(m, "Error", "Base of all errors of the library.", PyExc_RuntimeError);
  add_error<IndexError>(m, "IndexError", "An index lies outside the dimension it indexes.", base,
                        PyExc_IndexError);
  add_error<ValueError>(m, "ValueError", "A value or a shape is not acceptable.", base,
                        PyExc_ValueError);
  add_error<TypeError>(m, "TypeError", "A dtype or a kind of argument is not acceptable.", base,
                       PyExc_TypeError);
  add_error<NotImplementedError>(
      m, "NotImplementedError",
      "The operation exists in PyTorch, and not for this device, dtype or build.", base,
      PyExc_NotImplementedError);
  add_error<LinAlgError>(m, "LinAlgError",
                         "A matrix that cannot be factored, inverted or solved with.", base);
  add_error<OutOfMemoryError>(m, "OutOfMemoryError", "A device has no room left.", base);
  add_error<CompileError>(m, "CompileError", "Text given at run time does not compile.", base);
  add_error<distributed::DistributedError>(
      m, "DistributedError", "A rank ended, hung, or made another call than the others.", base);
  add_error<NanError>(m, "NanError", "A NanGuard found a NaN or an infinity; `report` says where.",
                      base, nullptr, [](nb::handle made, const std::exception& error) {
                        made.attr("report") =
                            nb::cast(static_cast<const NanError&>(error).report());
                      });
  nb::register_exception_translator([](const std::exception_ptr& error, void*) {
    try {
      std::rethrow_exception(error);
    } catch (const Error&) {
      set_error(error);
    } catch (const std::bad_cast&) {
      set_error(error);
    }
  });
}

}  // namespace gradus::python
