// How Python's objects become arguments of C++, and defaults become Python's objects.
#include "params.h"

#include <complex>

#include "rows/rows.h"
#include "size.h"
#include "types.h"

namespace gradus::python {
namespace {

// A number of a kind that only resembles Python's own: NumPy's, a tensor without dimensions.
bool has_index(PyObject* object) { return PyIndex_Check(object); }

bool to_int64(PyObject* object, int64_t& to) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow || (value == -1 && PyErr_Occurred())) {
    PyErr_Clear();
    return false;
  }
  to = value;
  return true;
}

bool is_sequence(PyObject* object) { return PyTuple_Check(object) || PyList_Check(object); }

// Calls f(item) for each item of a list or a tuple, until it returns false.
template <class F>
bool each(PyObject* sequence, const F& f) {
  const bool tuple = PyTuple_Check(sequence);
  const Py_ssize_t size = tuple ? PyTuple_Size(sequence) : PyList_Size(sequence);
  for (Py_ssize_t i = 0; i < size; ++i)
    if (!f(tuple ? PyTuple_GetItem(sequence, i) : PyList_GetItem(sequence, i))) return false;
  return true;
}

template <class T>
bool load_list(nb::handle from, bool convert, std::vector<T>& to) {
  to.clear();
  if (!is_sequence(from.ptr())) return false;
  return each(from.ptr(), [&](PyObject* item) {
    T one{};
    if (!load(item, convert, one)) return false;
    to.push_back(one);
    return true;
  });
}

}  // namespace

bool load(nb::handle from, bool, bool& to) {
  to = from.ptr() == Py_True;
  return to || from.ptr() == Py_False;
}

bool load(nb::handle from, bool convert, int64_t& to) {
  PyObject* object = from.ptr();
  if (PyLong_Check(object)) return !PyBool_Check(object) && to_int64(object, to);
  if (!has_index(object) || (!convert && is_tensor(object))) return false;
  PyObject* number = PyNumber_Index(object);
  if (!number) {
    PyErr_Clear();
    return false;
  }
  const bool fits = to_int64(number, to);
  Py_DECREF(number);
  return fits;
}

bool load(nb::handle from, bool convert, double& to) {
  PyObject* object = from.ptr();
  if (!PyFloat_Check(object)) {
    if (PyBool_Check(object)) return false;
    if (!PyLong_Check(object) && (!convert || PyComplex_Check(object) || PyUnicode_Check(object)))
      return false;
  }
  to = PyFloat_AsDouble(object);
  if (to == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    return false;
  }
  return true;
}

// A scalar of NumPy, or an array without dimensions, as the number of Python that it stands for.
static bool load_array(nb::handle from, Scalar& to) {
  if (!nb::hasattr(from, "ndim") || nb::cast<int>(from.attr("ndim")) != 0) return false;
  const nb::object number = from.attr("item")();
  return !nb::hasattr(number, "__array_interface__") && python::load(number, true, to);
}

bool load(nb::handle from, bool convert, Scalar& to) {
  PyObject* object = from.ptr();
  if (PyFloat_Check(object)) {
    to = PyFloat_AsDouble(object);
  } else if (PyBool_Check(object)) {
    to = object == Py_True;
  } else if (PyLong_Check(object)) {
    int64_t value;
    if (!to_int64(object, value)) return false;
    to = value;
  } else if (PyComplex_Check(object)) {
    to = std::complex<double>(PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object));
  } else if (is_tensor(object)) {
    const Tensor& tensor = tensor_of(object);
    if (!convert || tensor.dim() != 0 || tensor.requires_grad()) return false;
    to = tensor.item();
  } else {  // NumPy's numbers
    if (PyUnicode_Check(object) || is_sequence(object)) return false;
    if (PyObject_HasAttrString(object, "__array_interface__")) return load_array(from, to);
    if (has_index(object)) {
      int64_t value;
      if (!load(from, convert, value)) return false;
      to = value;
    } else {
      double value;
      if (!PyObject_HasAttrString(object, "__float__") || !load(from, true, value)) return false;
      to = value;
    }
  }
  return true;
}

bool load(nb::handle from, bool, std::string_view& to) {
  if (!PyUnicode_Check(from.ptr())) return false;
  Py_ssize_t size;
  const char* text = PyUnicode_AsUTF8AndSize(from.ptr(), &size);
  if (!text) {
    PyErr_Clear();
    return false;
  }
  to = {text, static_cast<size_t>(size)};
  return true;
}

bool load(nb::handle from, bool, ScalarType& to) {
  if (const Dtype* dtype = singleton<Dtype>(from)) {
    to = dtype->value;
    return true;
  }
  // Python's own types stand for the widest of their kind, as in PyTorch.
  PyObject* object = from.ptr();
  if (object == reinterpret_cast<PyObject*>(&PyFloat_Type))
    to = kDouble;
  else if (object == reinterpret_cast<PyObject*>(&PyLong_Type))
    to = kLong;
  else if (object == reinterpret_cast<PyObject*>(&PyBool_Type))
    to = kBool;
  else if (object == reinterpret_cast<PyObject*>(&PyComplex_Type))
    to = kComplexDouble;
  else
    return false;
  return true;
}

bool load(nb::handle from, bool convert, Device& to) {
  if (nb::isinstance<Device>(from)) {
    to = *nb::inst_ptr<Device>(from);
    return true;
  }
  std::string_view text;
  if (load(from, convert, text)) {
    to = Device(text);
    return true;
  }
  int64_t index;
  if (!load(from, false, index)) return false;
  to = Device(kCUDA, static_cast<DeviceIndex>(index));
  return true;
}

bool load(nb::handle from, bool, MemoryFormat& to) {
  const Format* format = singleton<Format>(from);
  if (format) to = format->value;
  return format != nullptr;
}

bool load(nb::handle from, bool, Layout& to) {
  const LayoutName* layout = singleton<LayoutName>(from);
  if (layout) to = layout->value;
  return layout != nullptr;
}

bool load(nb::handle from, bool, Generator& to) {
  if (!nb::isinstance<Generator>(from)) return false;
  to = *nb::inst_ptr<Generator>(from);
  return true;
}

bool load(nb::handle from, bool convert, Numbers& to) {
  PyObject* object = from.ptr();
  if (!is_sequence(object)) {  // one number
    if (!convert || !load(from, convert, to.few[0])) return false;
    to.data = to.few, to.size = 1;
    return true;
  }
  const Py_ssize_t size = PyObject_Size(object);
  if (size > kMaxDims) {
    if (!load_list(from, convert, to.many)) return false;
    to.data = to.many.data(), to.size = to.many.size();
    return true;
  }
  to.data = to.few, to.size = 0;
  return each(object, [&](PyObject* item) { return load(item, true, to.few[to.size++]); });
}

bool load(nb::handle from, bool convert, std::vector<int64_t>& to) {
  return load_list(from, convert, to);
}
bool load(nb::handle from, bool convert, std::vector<double>& to) {
  return load_list(from, convert, to);
}
bool load(nb::handle from, bool, std::vector<Tensor>& to) {
  to.clear();
  PyObject* object = from.ptr();
  if (!is_sequence(object)) return false;
  return each(object, [&](PyObject* item) {
    if (!is_tensor(item)) return false;
    to.push_back(tensor_of(item));
    return true;
  });
}

bool load(nb::handle from, bool convert, Operand& to) {
  if (is_tensor(from.ptr())) {
    to.tensor = &tensor_of(from.ptr());
    return true;
  }
  return load(from, convert, to.number);
}

nb::object to_python(bool value) { return nb::bool_(value); }
nb::object to_python(int64_t value) { return nb::int_(value); }
nb::object to_python(double value) { return nb::float_(value); }
nb::object to_python(const Scalar& value) {
  switch (value.kind()) {
    case DtypeKind::Boolean:
      return nb::bool_(value.toBool());
    case DtypeKind::Integral:
      return nb::int_(value.toLong());
    case DtypeKind::Floating:
      return nb::float_(value.toDouble());
    default: {
      const std::complex<double> z = value.toComplexDouble();
      return nb::steal(PyComplex_FromDoubles(z.real(), z.imag()));
    }
  }
}
nb::object to_python(std::string_view value) { return nb::str(value.data(), value.size()); }
nb::object to_python(ScalarType value) { return nb::borrow(dtype_object(value)); }
nb::object to_python(Device value) { return nb::cast(value); }
nb::object to_python(MemoryFormat value) { return nb::borrow(memory_format_object(value)); }
nb::object to_python(Layout value) { return nb::borrow(layout_object(value)); }
nb::object to_python(const Tensor& value) { return nb::steal(show(value)); }
nb::object to_python(const Generator& value) {
  return value.defined() ? nb::cast(value) : nb::none();
}
nb::object to_python(IntArrayRef value) {
  PyObject* out = PyTuple_New(static_cast<Py_ssize_t>(value.size()));
  for (size_t i = 0; i < value.size(); ++i)
    PyTuple_SetItem(out, static_cast<Py_ssize_t>(i), PyLong_FromLongLong(value[i]));
  return nb::steal(out);
}
namespace {
PyTypeObject* size_class = nullptr;
}  // namespace
void set_size_class(nb::handle cls) {
  size_class = reinterpret_cast<PyTypeObject*>(cls.inc_ref().ptr());
}
nb::object size_object(IntArrayRef sizes) {
  if (!size_class) return to_python(sizes);
  static const auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(size_class, Py_tp_alloc));
  PyObject* out = allocate(size_class, static_cast<Py_ssize_t>(sizes.size()));
  if (!out) nb::raise_python_error();
  for (size_t i = 0; i < sizes.size(); ++i)
    PyTuple_SetItem(out, static_cast<Py_ssize_t>(i), PyLong_FromLongLong(sizes[i]));
  return nb::steal(out);
}
nb::object to_python(const OptionalIntArrayRef& value) {
  return value.has_value() ? to_python(value.value()) : nb::none();
}
nb::object to_python(const TensorOptions& value) { return to_python(value.dtype_opt()); }

}  // namespace gradus::python
