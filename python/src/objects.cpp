// Python objects that C++ holds, and the queue in which they wait for the GIL.
#include "objects.h"

#include <list>
#include <mutex>
#include <vector>

namespace gradus::python {
namespace {

std::mutex guard;
std::vector<PyObject*> waiting;
std::atomic<bool> some_wait = false;

std::mutex callbacks_guard;
std::list<PyObject*> callbacks;
bool callbacks_ended = false;

}  // namespace

void let_go_of_waiting() {
  if (!some_wait.load(std::memory_order_relaxed)) return;
  std::vector<PyObject*> objects;
  {
    const std::lock_guard lock(guard);
    objects.swap(waiting);
    some_wait = false;
  }
  for (PyObject* object : objects) Py_DECREF(object);
}

void let_go(PyObject* object) {
  if (!object || !NB_CALL(is_alive)()) return;
  if (NB_CALL(gil_check)()) {
    Py_DECREF(object);
    return;
  }
  if (!Py_IsInitialized()) return;  // Python is ending, and calls nothing that waits
  bool first;
  {
    const std::lock_guard lock(guard);
    first = waiting.empty();
    waiting.push_back(object);
    some_wait = true;
  }
  // The call fails where Python's list is full; then the next operation lets go of the objects.
  if (first)
    Py_AddPendingCall(
        [](void*) {
          let_go_of_waiting();
          return 0;
        },
        nullptr);
}

Held hold_callback(nb::handle object) {
  std::list<PyObject*>::iterator place;
  {
    const std::lock_guard lock(callbacks_guard);
    place = callbacks.insert(callbacks.end(), object.ptr());
  }
  ++callbacks_held;
  Py_XINCREF(object.ptr());
  return Held(object.ptr(), [place](PyObject* held) {
    --callbacks_held;
    {
      const std::lock_guard lock(callbacks_guard);
      if (callbacks_ended) return;
      callbacks.erase(place);
    }
    let_go(held);
  });
}

bool callbacks_have_ended() {
  const std::lock_guard lock(callbacks_guard);
  return callbacks_ended;
}

void end_callbacks() {
  std::list<PyObject*> all;
  {
    const std::lock_guard lock(callbacks_guard);
    callbacks_ended = true;
    all.swap(callbacks);
  }
  for (PyObject* object : all) Py_XDECREF(object);
}

}  // namespace gradus::python
