// Tensors from Python's data and back: nested lists, arrays of NumPy, DLPack.
#include <gradus/gradus.h>
#include <nanobind/stl/string.h>

#include <cmath>
#include <complex>
#include <cstring>

#include "bind.h"
#include "default_device.h"
#include "errors.h"
#include "objects.h"
#include "params.h"
#include "rows/rows.h"

namespace gradus::python {
namespace {

bool is_sequence(nb::handle object) {
  return PyList_Check(object.ptr()) || PyTuple_Check(object.ptr());
}
Py_ssize_t size_of(nb::handle sequence) { return PyObject_Size(sequence.ptr()); }
nb::handle item_of(nb::handle sequence, Py_ssize_t i) {
  return PyTuple_Check(sequence.ptr()) ? PyTuple_GetItem(sequence.ptr(), i)
                                       : PyList_GetItem(sequence.ptr(), i);
}

// A list of what another sequence holds, such as a deque or a range; nothing for another object.
nb::object list_of(nb::handle data) {
  PyObject* const object = data.ptr();
  if (!PySequence_Check(object) || PyUnicode_Check(object) || PyBytes_Check(object) ||
      is_tensor(object) || nb::hasattr(data, "__array_interface__"))
    return {};
  nb::object list = nb::steal(PySequence_List(object));
  if (!list.is_valid()) PyErr_Clear();
  return list;
}

// A scalar of NumPy, which has a dtype of its own.
bool is_numpy_scalar(nb::handle data) {
  return !PyFloat_CheckExact(data.ptr()) && !PyLong_Check(data.ptr()) && !is_sequence(data) &&
         nb::hasattr(data, "__array_interface__") && nb::hasattr(data, "ndim") &&
         nb::cast<int>(data.attr("ndim")) == 0;
}

// Numbers of nested lists, in one list, with the shape that all parts share.
struct Nested {
  std::vector<int64_t> shape;
  std::vector<Scalar> numbers;
  DtypeKind kind = DtypeKind::Boolean;
  bool floating = false;  // whether the numbers become floating point numbers

  // An integer beyond 64 bits, which a tensor of floating point numbers rounds.
  Scalar large(nb::handle data) const {
    check<ValueError>(floating, "tensor: ", nb::cast<std::string>(nb::str(data)),
                      " is beyond int64; pass a floating point dtype");
    return PyLong_AsDouble(data.ptr());
  }
  // Errors: ValueError where parts differ in length, TypeError for what is no number.
  void add(nb::handle data, size_t dim) {
    if (!is_sequence(data)) {
      if (dim < shape.size())
        if (const nb::object list = list_of(data); list.is_valid()) return add(list, dim);
      check<ValueError>(dim == shape.size(), "tensor: expected a sequence of length ",
                        dim < shape.size() ? shape[dim] : 0, " at dim ", dim, ", but got a number");
      Scalar number;
      if (PyLong_Check(data.ptr()) && !load(data, true, number))
        number = large(data);
      else if (is_tensor(data.ptr()) && tensor_of(data.ptr()).numel() == 1)
        number = tensor_of(data.ptr()).item();
      else if (!load(data, true, number))
        fail<TypeError>("tensor: could not make a number of an object of type ",
                        nb::cast<std::string>(nb::str(data.type().attr("__name__"))),
                        "; expected numbers, or lists of them");
      kind = std::max(kind, number.kind());
      numbers.push_back(number);
      return;
    }
    check<ValueError>(dim < shape.size(), "tensor: expected a number at dim ", dim,
                      ", but got a sequence");
    const Py_ssize_t size = size_of(data);
    check<ValueError>(size == shape[dim], "tensor: expected a sequence of length ", shape[dim],
                      " at dim ", dim, ", but got one of ", size);
    for (Py_ssize_t i = 0; i < size; ++i) add(item_of(data, i), dim + 1);
  }
};

// Errors: ValueError for a number that the dtype of integers does not hold. Those of an unsigned
// one may be negative, as in C++.
void check_held(const Nested& data, ScalarType dtype) {
  if (!isIntegralType(dtype, false)) return;
  const bool has_sign = dtype != kByte;
  const int bits = 8 * static_cast<int>(element_size(dtype)) - has_sign;
  const double end = std::ldexp(1.0, bits), begin = has_sign ? -end : 1 - end;
  for (const Scalar& number : data.numbers) {
    if (number.kind() == DtypeKind::Complex || (dtype == kLong && !number.isFloatingPoint()))
      continue;
    const double value = number.to<double>(), whole = std::trunc(value);
    check<ValueError>(whole >= begin && whole < end, "tensor: ", value,
                      " cannot be converted to type ", TypeName{dtype},
                      " without overflow; give a wider dtype, or convert with .to()");
  }
}

template <class T>
Tensor filled(const Nested& data, ScalarType dtype) {
  Tensor out = gradus::empty(data.shape, dtype);
  T* to = out.data_ptr<T>();
  for (const Scalar& number : data.numbers) *to++ = number.to<T>();
  return out;
}

Tensor from_lists(nb::handle data, std::optional<ScalarType> dtype) {
  Nested nested;
  nested.floating = dtype && isFloatingType(*dtype);
  std::vector<nb::object> lists;
  for (nb::object part = nb::borrow(data);; part = nb::borrow(item_of(part, 0))) {
    if (!is_sequence(part)) part = list_of(part);
    if (!part.is_valid()) break;
    nested.shape.push_back(size_of(lists.emplace_back(part)));
    if (nested.shape.back() == 0) break;
  }
  nested.add(data, 0);
  if (dtype) check_held(nested, *dtype);
  if (nested.numbers.empty())
    return gradus::empty(nested.shape, dtype.value_or(get_default_dtype().toScalarType()));
  switch (nested.kind) {
    case DtypeKind::Boolean:
      return filled<bool>(nested, kBool);
    case DtypeKind::Integral:
      return filled<int64_t>(nested, kLong);
    case DtypeKind::Floating:
      return filled<double>(nested, kDouble).to(dtype.value_or(get_default_dtype().toScalarType()));
    default:
      return filled<std::complex<double>>(nested, kComplexDouble)
          .to(dtype.value_or(get_default_dtype() == kDouble ? kComplexDouble : kComplexFloat));
  }
}

// What NumPy calls a dtype in an array interface: "<f4".
struct ArrayType {
  ScalarType dtype;
  const char* text;
};
constexpr ArrayType kArrayTypes[] = {
    {kBool, "|b1"},   {kByte, "|u1"},         {kChar, "|i1"},          {kShort, "<i2"},
    {kInt, "<i4"},    {kLong, "<i8"},         {kHalf, "<f2"},          {kFloat, "<f4"},
    {kDouble, "<f8"}, {kComplexFloat, "<c8"}, {kComplexDouble, "<c16"}};

bool read_only(const nb::dict& interface) {
  return nb::cast<bool>(nb::tuple(interface["data"])[1]);
}

Tensor from_numpy(nb::handle array) {
  if (!nb::hasattr(array, "__array_interface__"))
    throw nb::type_error("from_numpy: expected an array of NumPy");
  const nb::dict interface(array.attr("__array_interface__"));
  if (read_only(interface))
    PyErr_WarnEx(PyExc_UserWarning,
                 "from_numpy: the array is not writable, and a tensor over its memory is; writing "
                 "to it is undefined. Copy the array to silence this warning.",
                 1);
  return from_interface(array, interface, kCPU);
}

// What NumPy reads once to make an array over a tensor's memory.
struct ArrayView {
  Tensor tensor;
};

nb::object numpy(const Tensor& x, bool force) {
  Tensor source = x;
  if (force) source = source.detach().cpu();
  check<TypeError>(source.is_cpu(), "numpy: can't convert ", source.device(),
                   " device type tensor to numpy; use .cpu() to copy the tensor to the CPU first");
  check<Error>(!source.requires_grad(),
               "numpy: a tensor that requires grad has no array; use tensor.detach().numpy()");
  return nb::module_::import_("numpy").attr("asarray")(ArrayView{source});
}

}  // namespace

Tensor from_interface(nb::handle object, const nb::dict& interface, Device device) {
  const std::string text = nb::cast<std::string>(nb::str(interface["typestr"]));
  const ArrayType* type = nullptr;
  for (const ArrayType& each : kArrayTypes)
    if (text == each.text) type = &each;
  if (!type)
    fail<TypeError>("from_numpy: an array of type ", text,
                    " has no tensor; expected bool, an integer, float16 to float64 or a complex "
                    "type, in the byte order of this machine");
  std::vector<int64_t> shape, strides;
  for (const nb::handle size : interface["shape"]) shape.push_back(nb::cast<int64_t>(size));
  const nb::object steps =
      interface.contains("strides") ? nb::object(interface["strides"]) : nb::none();
  const int64_t width = static_cast<int64_t>(element_size(type->dtype));
  if (!steps.is_none())
    for (const nb::handle step : steps) {
      const int64_t bytes = nb::cast<int64_t>(step);
      check<ValueError>(bytes >= 0, "from_numpy: a stride of ", bytes,
                        " bytes; tensors have no negative strides; copy the array first");
      check<ValueError>(bytes % width == 0, "from_numpy: a stride of ", bytes,
                        " bytes is no multiple of an element's ", width, "; copy the array first");
      strides.push_back(bytes / width);
    }
  else
    for (const int64_t stride : contiguous_strides(shape)) strides.push_back(stride);
  const nb::tuple data(interface["data"]);
  void* address = reinterpret_cast<void*>(nb::cast<uintptr_t>(data[0]));
  const TensorOptions options = TensorOptions(type->dtype).device(device);
  if (numel_of(shape) == 0) return gradus::empty(shape, options);
  return from_blob(
      address, shape, strides, [held = hold(object)](void*) mutable { held.reset(); }, options);
}

nb::dict array_interface(const Tensor& x) {
  const ArrayType* type = nullptr;
  for (const ArrayType& each : kArrayTypes)
    if (x.scalar_type() == each.dtype) type = &each;
  if (!type)
    fail<TypeError>("numpy: NumPy has no ", TypeName{x.scalar_type()},
                    "; convert with .float() first");
  nb::dict out;
  out["shape"] = to_python(x.sizes());
  out["typestr"] = type->text;
  nb::list strides;
  const int64_t width = x.element_size();
  for (const int64_t stride : x.strides()) strides.append(stride * width);
  out["strides"] = nb::tuple(strides);
  out["data"] = nb::make_tuple(reinterpret_cast<uintptr_t>(x.data_ptr()), false);
  out["version"] = 3;
  return out;
}

// Numbers of lists are not rounded before they become that dtype.
static std::optional<Tensor> tensor_of_dtype(nb::handle data, std::optional<ScalarType> dtype) {
  if (is_tensor(data.ptr())) return tensor_of(data.ptr());
  if (is_numpy_scalar(data)) {
    const nb::object array = data.attr("__array__")();
    return from_interface(array, nb::dict(array.attr("__array_interface__")), kCPU);
  }
  Scalar number;
  if (is_sequence(data) || PyLong_Check(data.ptr()) || load(data, true, number)) {
    if (is_sequence(data) && size_of(data) > 0) {
      nb::handle first = item_of(data, 0);
      while (is_sequence(first) && size_of(first) > 0) first = item_of(first, 0);
      if (!dtype && is_numpy_scalar(first)) {
        const nb::object array = nb::module_::import_("numpy").attr("array")(data);
        return from_interface(array, nb::dict(array.attr("__array_interface__")), kCPU);
      }
      // Lists of arrays and of tensors with elements are stacked.
      if ((is_tensor(first.ptr()) && tensor_of(first.ptr()).numel() != 1) ||
          (nb::hasattr(first, "__array_interface__") && nb::hasattr(first, "ndim") &&
           nb::cast<int>(first.attr("ndim")) > 0)) {
        Tensors parts;
        for (Py_ssize_t i = 0; i < size_of(data); ++i) {
          std::optional<Tensor> part = tensor_of_dtype(item_of(data, i), dtype);
          if (!part) return std::nullopt;
          parts.push_back(*part);
        }
        return stack(parts);
      }
    }
    return from_lists(data, dtype);
  }
  if (nb::hasattr(data, "__cuda_array_interface__")) return from_cuda_interface(data);
  if (nb::hasattr(data, "__array_interface__")) {
    const nb::dict interface(data.attr("__array_interface__"));
    return from_interface(data, interface, kCPU);
  }
  const nb::object list = list_of(data);
  return list.is_valid() ? tensor_of_dtype(list, dtype) : std::nullopt;
}

std::optional<Tensor> tensor_from(nb::handle data) { return tensor_of_dtype(data, std::nullopt); }

void bind_data(nb::module_& m, nb::handle tensor) {
  nb::class_<ArrayView>(m, "_ArrayView").def_prop_ro("__array_interface__", [](const ArrayView& v) {
    return array_interface(v.tensor);
  });
  nb::class_<Shown> c = nb::borrow<nb::class_<Shown>>(tensor);
  c.def(
      "__init__",
      [](nb::pointer_and_handle<Shown> self, const nb::args& args) {
        Tensor made;
        Numbers sizes;
        if (args.size() == 1 && !PyLong_Check(args[0].ptr())) {
          const std::optional<Tensor> given = tensor_from(args[0]);
          check<TypeError>(given.has_value(), "Tensor: expected sizes, numbers or an array");
          made = given->to(given->device(), get_default_dtype().toScalarType(), false, true);
        } else {
          check<TypeError>(load(args, false, sizes), "Tensor: expected sizes, numbers or an array");
          made = args.size() ? gradus::empty(sizes) : gradus::empty({0});
        }
        new (self.p) Shown(made, self.h.ptr());
      },
      "A tensor of the default dtype: of sizes, with any numbers, or of a list of numbers.");
  c.def("numpy", &numpy, nb::kw_only(), nb::arg("force") = false,
        "An array of NumPy over the same memory.");
  c.def(
      "__array__",
      [](const Tensor& x, nb::handle dtype, nb::handle copy) -> nb::object {
        const nb::object array = numpy(x, false);
        if (!dtype.is_none()) return array.attr("astype")(dtype, nb::arg("copy") = false);
        return copy.ptr() == Py_True ? nb::object(array.attr("copy")()) : array;
      },
      nb::arg("dtype") = nb::none(), nb::kw_only(), nb::arg("copy") = nb::none(),
      "What numpy.asarray() calls.");
  c.def(
      "pin_memory",
      [](const Tensor& x) { return released<Tensor>([&] { return x.pin_memory(); }); },
      "The tensor in memory that a GPU copies from without waiting.");
  c.def(
      "is_pinned", [](const Tensor& x) { return x.is_pinned(); },
      "Whether the memory is of that kind.");
  const auto make = [](nb::handle data, std::optional<ScalarType> dtype) {
    std::optional<Tensor> made = tensor_of_dtype(data, dtype);
    if (!made) throw nb::type_error("tensor: expected numbers, nested lists of them, or an array");
    return *made;
  };
  m.def(
      "tensor",
      [make](nb::handle data, Given<std::optional<ScalarType>>& dtype,
             Given<std::optional<Device>>& device, bool requires_grad, bool pin_memory) {
        Tensor x = make(data, dtype.get()).detach();
        const Device to = device.get().value_or(default_device().value_or(x.device()));
        x = x.to(to, dtype.get().value_or(x.scalar_type()), false, !PyList_Check(data.ptr()));
        if (pin_memory) x = x.pin_memory();
        return requires_grad ? x.requires_grad_(true) : x;
      },
      nb::arg("data"), nb::kw_only(), nb::arg("dtype") = nb::none(), nb::arg("device") = nb::none(),
      nb::arg("requires_grad") = false, nb::arg("pin_memory") = false,
      "A tensor with a copy of numbers, nested lists of them, or an array.");
  m.def(
      "as_tensor",
      [make](nb::handle data, Given<std::optional<ScalarType>>& dtype,
             Given<std::optional<Device>>& device) {
        const Tensor x = make(data, dtype.get());
        const Device to = device.get().value_or(default_device().value_or(x.device()));
        return x.to(to, dtype.get().value_or(x.scalar_type()));
      },
      nb::arg("data"), nb::arg("dtype") = nb::none(), nb::arg("device") = nb::none(),
      "A tensor over the memory of an array where dtype and device allow it, otherwise a copy.");
  c.def("_to_bytes", [](const Tensor& x) {
    const Tensor copy = x.detach().cpu().contiguous();
    return nb::bytes(static_cast<const char*>(copy.numel() ? copy.data_ptr() : ""), copy.nbytes());
  });
  m.def("_from_bytes",
        [](const nb::bytes& data, const Given<ScalarType>& dtype, const Given<IntArrayRef>& shape) {
          const Tensor out = gradus::empty(shape.get(), dtype.value);
          check<ValueError>(data.size() == out.nbytes(), "_from_bytes: ", data.size(),
                            " bytes; expected ", out.nbytes());
          if (data.size()) std::memcpy(out.data_ptr(), data.c_str(), data.size());
          return out;
        });
  m.def("from_numpy", &from_numpy, nb::arg("ndarray"), "A tensor over the memory of an array.");
}

}  // namespace gradus::python
