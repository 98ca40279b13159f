// Classes of Python that derive from a class of C++ and from others.
#include "nn/several_bases.h"

#include <algorithm>

namespace gradus::python {
namespace {

// Where a class keeps the value of a slot. The limited API reads slots of any class, sets none of a
// class that is there, and hides where they are; so the place is found by the value. Null where
// there is none.
void** place_of(void* cls, void* value) {
  constexpr size_t kSlots = 48;  // fewer than a PyTypeObject has
  void** const begin = static_cast<void**>(cls);
  void** const found = std::find(begin, begin + kSlots, value);
  return found == begin + kSlots ? nullptr : found;
}

// What nanobind does for a class. It may refuse one of several bases, which CPython has laid out:
// it is shown the one base whose memory the class extends.
template <class F>
int with_one_base(PyObject* cls, const F& f) {
  auto* const type = reinterpret_cast<PyTypeObject*>(cls);
  auto* const bases = static_cast<PyObject*>(PyType_GetSlot(type, Py_tp_bases));
  void** const place = PyTuple_Size(bases) > 1 ? place_of(cls, bases) : nullptr;
  if (!place) return f();
  const nb::object one =
      nb::make_tuple(nb::handle(static_cast<PyObject*>(PyType_GetSlot(type, Py_tp_base))));
  *place = one.ptr();
  const int result = f();
  *place = bases;
  return result;
}

initproc nanobind_init = nullptr;
int init(PyObject* cls, PyObject* args, PyObject* keywords) {
  return with_one_base(cls, [&] { return nanobind_init(cls, args, keywords); });
}
// An attribute may be set before init(), by an __init_subclass__().
setattrofunc nanobind_set = nullptr;
int set(PyObject* cls, PyObject* name, PyObject* value) {
  return with_one_base(cls, [&] { return nanobind_set(cls, name, value); });
}

template <class Function>
void replace_slot(PyTypeObject* metaclass, int slot, Function& before, Function after) {
  void* const found = PyType_GetSlot(metaclass, slot);
  void** const place =
      found == reinterpret_cast<void*>(after) ? nullptr : place_of(metaclass, found);
  if (!place) return;
  before = reinterpret_cast<Function>(found);
  *place = reinterpret_cast<void*>(after);
}

}  // namespace

void allow_several_bases(nb::handle cls) {
  PyTypeObject* const metaclass = Py_TYPE(cls.ptr());
  replace_slot<initproc>(metaclass, Py_tp_init, nanobind_init, &init);
  replace_slot<setattrofunc>(metaclass, Py_tp_setattro, nanobind_set, &set);
}

}  // namespace gradus::python
