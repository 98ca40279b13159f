// The functions that small programs call most, without a list of overloads in between.
#include "rows/direct.h"

#include <gradus/gradus.h>

#include "errors.h"

namespace gradus::python {
namespace {

// Calls without keywords, as Python gives them.
struct Places {
  PyObject* const* args;
  Py_ssize_t count;
  // All as integers, or the one list of them.
  bool load(Numbers& to) const {
    if (count == 1 && !PyLong_Check(args[0])) return python::load(args[0], false, to);
    if (count > kMaxDims) return false;
    to.data = to.few, to.size = static_cast<size_t>(count);
    for (Py_ssize_t i = 0; i < count; ++i)
      if (!python::load(args[i], false, to.few[i])) return false;
    return true;
  }
};

// The result, or null where the row's own function is to take the call.
PyObject* view(PyObject* self, const Places& given) {
  Numbers size;
  if (given.count == 0 || !given.load(size)) return nullptr;
  return show(tensor_of(self).view(size));
}
PyObject* reshape(PyObject* self, const Places& given) {
  Numbers shape;
  if (given.count == 0 || !given.load(shape)) return nullptr;
  const Tensor& x = tensor_of(self);
  return show(computed_on<Tensor>([&] { return x.reshape(shape); }, work_of(x)));
}
PyObject* sum(PyObject* self, const Places& given) {
  const Tensor& x = tensor_of(self);
  if (given.count == 0) return show(computed_on<Tensor>([&] { return x.sum(); }, work_of(x)));
  int64_t dim;
  if (given.count != 1 || !load(given.args[0], false, dim)) return nullptr;
  return show(computed_on<Tensor>([&] { return x.sum(dim); }, work_of(x)));
}
template <Tensor (*function)(IntArrayRef)>
PyObject* made_of(PyObject*, const Places& given) {
  Numbers size;
  if (given.count == 0 || !given.load(size)) return nullptr;
  int64_t elements = 1;
  for (size_t i = 0; i < size.size; ++i)
    elements =
        std::min(kManyElements, elements * std::clamp(size.data[i], int64_t{1}, kManyElements));
  return show(computed_on<Tensor>([&] { return function(size); }, elements));
}
Tensor zeros_of(IntArrayRef size) { return zeros(size, TensorOptions().device(default_device())); }
Tensor ones_of(IntArrayRef size) { return ones(size, TensorOptions().device(default_device())); }

PyObject* call_row(PyObject* row, PyObject* self, PyObject* const* args, Py_ssize_t count,
                   PyObject* names) {
  const Py_ssize_t before = self ? 1 : 0, keywords = names ? PyTuple_Size(names) : 0;
  const nb::object all = nb::steal(PyTuple_New(before + count));
  const auto put = [&](Py_ssize_t i, PyObject* arg) {
    Py_INCREF(arg);
    PyTuple_SetItem(all.ptr(), i, arg);
  };
  if (self) put(0, self);
  for (Py_ssize_t i = 0; i < count; ++i) put(before + i, args[i]);
  nb::object named;
  if (keywords) {
    named = nb::dict();
    for (Py_ssize_t i = 0; i < keywords; ++i)
      PyDict_SetItem(named.ptr(), PyTuple_GetItem(names, i), args[count + i]);
  }
  return PyObject_Call(row, all.ptr(), named.ptr());
}

// One function for each `call`; `row` is what it stands before.
template <PyObject* (*call)(PyObject*, const Places&)>
PyObject* row = nullptr;
template <PyObject* (*call)(PyObject*, const Places&), bool method>
PyObject* direct(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded(static_cast<PyObject*>(nullptr), [&]() -> PyObject* {
    if (!names)
      if (PyObject* out = call(self, {args, count})) return out;
    if (PyErr_Occurred()) return nullptr;
    return call_row(row<call>, method ? self : nullptr, args, count, names);
  });
}

template <PyObject* (*call)(PyObject*, const Places&), bool method>
void put_before(nb::handle scope, const char* name, const char* signature) {
  row<call> = nb::object(scope.attr(name)).release().ptr();
  const std::string doc = std::string(name) + signature + "\n--\n\n" +
                          nb::cast<std::string>(nb::str(nb::handle(row<call>).attr("__doc__")));
  static PyMethodDef definition;
  definition = {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&direct<call, method>)),
                METH_FASTCALL | METH_KEYWORDS, kept(doc)};
  PyObject* made;
  if constexpr (method)
    made = PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(scope.ptr()), &definition);
  else
    made = PyCFunction_NewEx(&definition, nullptr, nb::str(scope.attr("__name__")).ptr());
  if (!made) nb::raise_python_error();
  scope.attr(name) = nb::steal(made);
}

}  // namespace

void bind_direct(const Scopes& scopes) {
  put_before<view, true>(scopes.tensor, "view", "($self, /, *size)");
  put_before<reshape, true>(scopes.tensor, "reshape", "($self, /, *shape)");
  put_before<sum, true>(scopes.tensor, "sum", "($self, /, dim=None, keepdim=False, dtype=None)");
  put_before<made_of<zeros_of>, false>(scopes.module, "zeros",
                                       "(*size, dtype=None, layout=None, device=None, "
                                       "requires_grad=False, pin_memory=False)");
  put_before<made_of<ones_of>, false>(scopes.module, "ones",
                                      "(*size, dtype=None, layout=None, device=None, "
                                      "requires_grad=False, pin_memory=False)");
}

}  // namespace gradus::python
