// What Python's operators and protocols do with tensors.
#include "protocols.h"

#include <gradus/gradus.h>

#include "cycles.h"
#include "errors.h"
#include "rows/index.h"
#include "rows/rows.h"

namespace gradus::python {
namespace {

int traverse(PyObject* self, visitproc visit, void* arg) {
  Visit visited(self, visit, arg);
  if (visited.sees_inside()) visited.tensor(tensor_of(self));
  return visited.result();
}
int clear(PyObject* self) {
  if (nb::inst_ready(self)) shown_of(self).reset();
  return clear_attributes(self);
}

PyObject* not_implemented() {
  Py_INCREF(Py_NotImplemented);
  return Py_NotImplemented;
}

// An operand of an operator: a tensor, a number, or an array of NumPy.
struct AnyOperand : Operand {
  std::optional<Tensor> array;
  bool load(nb::handle from) {
    if (python::load(from, true, static_cast<Operand&>(*this))) return true;
    if (!nb::hasattr(from, "__array_interface__")) return false;
    array = tensor_from(from);
    if (array) tensor = &*array;
    return array.has_value();
  }
};

// f(tensor or number, tensor or number), or NotImplemented for another kind of operand.
template <class F>
PyObject* binary(PyObject* left, PyObject* right, const F& f) {
  return guarded(static_cast<PyObject*>(nullptr), [&] {
    AnyOperand x, y;
    if (!x.load(left) || !y.load(right)) return not_implemented();
    const auto call = [&]() -> Tensor {
      if (!x.tensor) return f(x.number, *y.tensor);
      return y.tensor ? f(*x.tensor, *y.tensor) : f(*x.tensor, y.number);
    };
    return show(computed_on<Tensor>(call, work_of(x) + work_of(y)));
  });
}
template <class F>
PyObject* in_place(PyObject* self, PyObject* right, const F& f) {
  return guarded(static_cast<PyObject*>(nullptr), [&] {
    AnyOperand y;
    if (!y.load(right)) return not_implemented();
    const Tensor& x = tensor_of(self);
    const auto call = [&]() -> Tensor { return y.tensor ? f(x, *y.tensor) : f(x, y.number); };
    return show(computed_on<Tensor>(call, work_of(x) + work_of(y)));
  });
}
template <class F>
PyObject* unary(PyObject* self, const F& f) {
  return guarded(static_cast<PyObject*>(nullptr), [&] {
    const Tensor& x = tensor_of(self);
    return show(computed_on<Tensor>([&]() -> Tensor { return f(x); }, work_of(x)));
  });
}

PyObject* compare(PyObject* self, PyObject* other, int op) {
  switch (op) {
#define COMPARED(enumerator, name) \
  case enumerator:                 \
    return binary(self, other, [](const auto& x, const auto& y) { return operator name(x, y); });
    COMPARED(Py_LT, <)
    COMPARED(Py_LE, <=)
    COMPARED(Py_EQ, ==)
    COMPARED(Py_NE, !=)
    COMPARED(Py_GT, >)
    COMPARED(Py_GE, >=)
#undef COMPARED
    default:
      return not_implemented();
  }
}

PyObject* power(PyObject* base, PyObject* exponent, PyObject* modulus) {
  if (modulus != Py_None) return not_implemented();
  return binary(base, exponent, [](const auto& x, const auto& y) { return pow(x, y); });
}

PyObject* matrix_product(PyObject* left, PyObject* right) {
  return guarded(static_cast<PyObject*>(nullptr), [&] {
    AnyOperand x, y;
    if (!x.load(left) || !y.load(right) || !x.tensor || !y.tensor) return not_implemented();
    return show(
        computed_on<Tensor>([&] { return x.tensor->matmul(*y.tensor); }, work_of(x) + work_of(y)));
  });
}

}  // namespace

PyObject* element(const Tensor& tensor) {
  const Scalar value = computed_on<Scalar>([&] { return tensor.item(); }, work_of(tensor));
  switch (value.kind()) {
    case DtypeKind::Floating:
      return PyFloat_FromDouble(value.toDouble());
    case DtypeKind::Integral:
      return PyLong_FromLongLong(value.toLong());
    default:
      return to_python(value).release().ptr();
  }
}

namespace {

int truth(PyObject* self) {
  return guarded(-1, [&] {
    const Tensor& x = tensor_of(self);
    check<ValueError>(x.numel() == 1, "Boolean value of Tensor with ",
                      x.numel() ? "more than one value" : "no values",
                      " is ambiguous; use any() or all()");
    return released<Scalar>([&] { return x.item(); }).to<bool>() ? 1 : 0;
  });
}
PyObject* as_int(PyObject* self) {
  return guarded(static_cast<PyObject*>(nullptr), [&] {
    const nb::object number = nb::steal(element(tensor_of(self)));
    return PyNumber_Long(number.ptr());
  });
}
PyObject* as_float(PyObject* self) {
  return guarded(static_cast<PyObject*>(nullptr), [&] {
    const nb::object number = nb::steal(element(tensor_of(self)));
    return PyNumber_Float(number.ptr());
  });
}
PyObject* as_index(PyObject* self) {
  return guarded(static_cast<PyObject*>(nullptr), [&] {
    const Tensor& x = tensor_of(self);
    check<TypeError>(x.numel() == 1 && !x.is_floating_point() && !x.is_complex(),
                     "only integer tensors of a single element can be converted to an index");
    return nb::int_(x.item<int64_t>()).release().ptr();
  });
}

Py_ssize_t length(PyObject* self) {
  return guarded(Py_ssize_t{-1}, [&] {
    const Tensor& x = tensor_of(self);
    check<TypeError>(x.dim() > 0, "len() of a 0-d tensor");
    return static_cast<Py_ssize_t>(x.size(0));
  });
}
PyObject* iterate(PyObject* self) {
  return guarded(static_cast<PyObject*>(nullptr), [&] {
    const Tensor& x = tensor_of(self);
    check<TypeError>(x.dim() > 0, "iteration over a 0-d tensor");
    const Tensors parts = released<Tensors>([&] { return x.unbind(0); });
    const nb::object list = results_object(parts.data(), parts.size(), nullptr);
    return PyObject_GetIter(list.ptr());
  });
}
Py_hash_t identity_hash(PyObject* self) {
  const auto address = reinterpret_cast<uintptr_t>(self);
  return static_cast<Py_hash_t>(address >> 4);
}

#define BINARY_SLOT(slot, name)                                                     \
  {                                                                                 \
    Py_nb_##slot, reinterpret_cast<void*>(+[](PyObject* x, PyObject* y) {           \
      return binary(x, y, [](const auto& a, const auto& b) { return name(a, b); }); \
    })                                                                              \
  }
#define IN_PLACE_SLOT(slot, name)                                                      \
  {                                                                                    \
    Py_nb_inplace_##slot, reinterpret_cast<void*>(+[](PyObject* x, PyObject* y) {      \
      return in_place(x, y, [](const Tensor& a, const auto& b) { return a.name(b); }); \
    })                                                                                 \
  }
#define UNARY_SLOT(slot, name)                                         \
  {                                                                    \
    Py_nb_##slot, reinterpret_cast<void*>(+[](PyObject* x) {           \
      return unary(x, [](const Tensor& a) -> Tensor { return name; }); \
    })                                                                 \
  }
// Called without a list of overloads in between.
PyMethodDef tensor_methods[] = {
    {"item",
     [](PyObject* self, PyObject*) {
       return guarded(static_cast<PyObject*>(nullptr), [&] { return element(tensor_of(self)); });
     },
     METH_NOARGS, "item($self, /)\n--\n\nThe one element as a number of Python."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyType_Slot tensor_slots[] = {
    BINARY_SLOT(add, add),
    BINARY_SLOT(subtract, sub),
    BINARY_SLOT(multiply, mul),
    BINARY_SLOT(true_divide, div),
    BINARY_SLOT(floor_divide, floor_divide),
    BINARY_SLOT(remainder, remainder),
    BINARY_SLOT(and, bitwise_and),
    BINARY_SLOT(or, bitwise_or),
    BINARY_SLOT(xor, bitwise_xor),
    BINARY_SLOT(lshift, bitwise_left_shift),
    BINARY_SLOT(rshift, bitwise_right_shift),
    IN_PLACE_SLOT(add, add_),
    IN_PLACE_SLOT(subtract, sub_),
    IN_PLACE_SLOT(multiply, mul_),
    IN_PLACE_SLOT(true_divide, div_),
    IN_PLACE_SLOT(floor_divide, floor_divide_),
    IN_PLACE_SLOT(remainder, remainder_),
    IN_PLACE_SLOT(and, bitwise_and_),
    IN_PLACE_SLOT(or, bitwise_or_),
    IN_PLACE_SLOT(xor, bitwise_xor_),
    IN_PLACE_SLOT(lshift, bitwise_left_shift_),
    IN_PLACE_SLOT(rshift, bitwise_right_shift_),
    {Py_nb_inplace_power, reinterpret_cast<void*>(+[](PyObject* x, PyObject* y, PyObject*) {
       return in_place(x, y, [](const Tensor& a, const auto& b) { return a.pow_(b); });
     })},
    UNARY_SLOT(negative, a.neg()),
    UNARY_SLOT(positive, a),
    UNARY_SLOT(absolute, a.abs()),
    UNARY_SLOT(invert, a.bitwise_not()),
    {Py_nb_power, reinterpret_cast<void*>(power)},
    {Py_nb_matrix_multiply, reinterpret_cast<void*>(matrix_product)},
    {Py_nb_bool, reinterpret_cast<void*>(truth)},
    {Py_nb_int, reinterpret_cast<void*>(as_int)},
    {Py_nb_float, reinterpret_cast<void*>(as_float)},
    {Py_nb_index, reinterpret_cast<void*>(as_index)},
    {Py_mp_length, reinterpret_cast<void*>(length)},
    {Py_mp_subscript, reinterpret_cast<void*>(get_item)},
    {Py_mp_ass_subscript, reinterpret_cast<void*>(set_item)},
    {Py_tp_iter, reinterpret_cast<void*>(iterate)},
    {Py_tp_hash, reinterpret_cast<void*>(identity_hash)},
    {Py_tp_richcompare, reinterpret_cast<void*>(compare)},
    {Py_tp_methods, tensor_methods},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear)},
    {0, nullptr}};

}  // namespace gradus::python
