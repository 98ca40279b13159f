// Python objects that C++ holds, and the queue in which they wait for the GIL.
#include "objects.h"

#include <mutex>
#include <vector>

#include "errors.h"

namespace gradus::python {
namespace {

std::mutex guard;
std::vector<PyObject*> waiting;

int drop_waiting(void*) {
  std::vector<PyObject*> objects;
  {
    const std::lock_guard lock(guard);
    objects.swap(waiting);
  }
  for (PyObject* object : objects) Py_DECREF(object);
  return 0;
}

}  // namespace

void let_go(PyObject* object) {
  if (!object || !Py_IsInitialized()) return;
  if (holds_gil()) {
    Py_DECREF(object);
    return;
  }
  bool first;
  {
    const std::lock_guard lock(guard);
    first = waiting.empty();
    waiting.push_back(object);
  }
  if (first) Py_AddPendingCall(&drop_waiting, nullptr);
}

}  // namespace gradus::python
