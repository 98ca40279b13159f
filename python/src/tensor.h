// One Python object for one tensor: what Python holds, and how a C++ handle becomes it and back.
#pragma once

#include <nanobind/nanobind.h>

#include "gradus/tensor/tensor.h"

namespace gradus::python {

namespace nb = nanobind;

// What a Python tensor holds. A table leads from the TensorImpl back to the Python object, so a
// handle that comes again gives the same object while that lives.
struct Shown {
  Tensor tensor;
  PyObject* self = nullptr;
  Shown() = default;
  Shown(Tensor shown, PyObject* object);
  Shown(const Shown&) = delete;
  Shown& operator=(const Shown&) = delete;
  ~Shown() { reset(); }
  // Shows no tensor from here on.
  void reset();
};

// The Python class gradus.Tensor; set when the module is initialised.
extern PyTypeObject* tensor_class;

inline bool is_tensor(PyObject* object) {
  return Py_TYPE(object) == tensor_class || PyType_IsSubtype(Py_TYPE(object), tensor_class);
}
// Where an object holds its Shown; set when the module is initialised.
inline ptrdiff_t shown_offset = 0;
inline Shown& shown_of(PyObject* object) {
  return *reinterpret_cast<Shown*>(reinterpret_cast<char*>(object) + shown_offset);
}
// REQUIRES: is_tensor(object).
inline const Tensor& tensor_of(PyObject* object) { return shown_of(object).tensor; }
// A new reference: None for an undefined tensor. One that is not shown yet becomes an object of
// `type`, or of Tensor.
PyObject* show(const Tensor& tensor, PyTypeObject* type = nullptr);
// Makes `object`, of a class derived from Tensor, the one that shows the tensor.
void show_as(const Tensor& tensor, nb::handle object);

// A handle that owns the Python object, and so the tensor that it shows. Modules and optimizers of
// Python keep such handles: the tensor has one owner then, which the garbage collector sees, and
// attributes of the object last as long as the module.
Tensor kept_by_object(nb::handle object);
// The object that a handle owns; null for another handle.
PyObject* object_kept_by(const Tensor& tensor);
// What all copies of a handle that owns an object share. REQUIRES: object_kept_by(tensor).
const void* owner_of(const Tensor& tensor);

}  // namespace gradus::python

namespace nanobind::detail {

// None is an undefined tensor.
template <>
struct type_caster<gradus::Tensor> {
  static constexpr auto Name = const_name<gradus::python::Shown>();
  template <class T>
  using Cast = const gradus::Tensor&;
  template <class T>
  static constexpr bool can_cast() {
    return true;
  }
  bool from_python(handle src, uint32_t, cleanup_list*) noexcept {
    static const gradus::Tensor undefined;
    if (src.is_none())
      value = &undefined;
    else if (gradus::python::is_tensor(src.ptr()))
      value = &gradus::python::tensor_of(src.ptr());
    else
      return false;
    return true;
  }
  static handle from_cpp(const gradus::Tensor& tensor, rv_policy, cleanup_list*) noexcept {
    return gradus::python::show(tensor);
  }
  static handle from_cpp(const gradus::Tensor* tensor, rv_policy, cleanup_list*) noexcept {
    return gradus::python::show(*tensor);
  }
  operator const gradus::Tensor&() const { return *value; }
  explicit operator const gradus::Tensor*() const { return value; }

  const gradus::Tensor* value = nullptr;
};

}  // namespace nanobind::detail
