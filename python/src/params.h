// What Python may give for each C++ type of a parameter.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string_view>
#include <vector>

#include "gradus/tensor/base/windows.h"
#include "gradus/tensor/generator.h"
#include "gradus/tensor/indexing.h"
#include "tensor.h"

namespace gradus::python {

// Each returns false where the object is of another kind, and sets no error then. `convert`: kinds
// that only resemble the one asked for are taken, too.
bool load(nb::handle from, bool convert, bool& to);
bool load(nb::handle from, bool convert, int64_t& to);
bool load(nb::handle from, bool convert, double& to);
bool load(nb::handle from, bool convert, Scalar& to);
bool load(nb::handle from, bool convert, std::string_view& to);
bool load(nb::handle from, bool convert, ScalarType& to);
bool load(nb::handle from, bool convert, Device& to);
bool load(nb::handle from, bool convert, MemoryFormat& to);
bool load(nb::handle from, bool convert, Layout& to);
bool load(nb::handle from, bool convert, Generator& to);
bool load(nb::handle from, bool convert, std::vector<int64_t>& to);
bool load(nb::handle from, bool convert, std::vector<double>& to);
bool load(nb::handle from, bool convert, std::vector<Tensor>& to);
bool load(nb::handle from, bool convert, std::vector<indexing::TensorIndex>& to);

// The singletons of Python for a dtype, a format, a layout: a borrowed reference.
nb::handle dtype_object(ScalarType dtype);
nb::handle memory_format_object(MemoryFormat format);
nb::handle layout_object(Layout layout);

// Sizes or other numbers of dimensions: without heap memory up to kMaxDims.
struct Numbers {
  int64_t few[kMaxDims];
  std::vector<int64_t> many;
  const int64_t* data = few;
  size_t size = 0;
  operator IntArrayRef() const { return {data, size}; }
};
bool load(nb::handle from, bool convert, Numbers& to);

// A tensor or a number.
struct Operand {
  const Tensor* tensor = nullptr;
  Scalar number;
};
bool load(nb::handle from, bool convert, Operand& to);

// An argument as Python gave it, for a parameter of type T: what holds it, what the C++ function is
// given, and how its type is written in a signature.
template <class T>
struct Param {
  T value{};
  bool load(nb::handle from, bool convert) { return python::load(from, convert, value); }
  const T& get() const { return value; }
};
template <>
struct Param<Device> {
  Device value = kCPU;
  bool load(nb::handle from, bool convert) { return python::load(from, convert, value); }
  const Device& get() const { return value; }
};
template <>
struct Param<int> {
  int64_t value = 0;
  bool load(nb::handle from, bool convert) { return python::load(from, convert, value); }
  int get() const { return static_cast<int>(value); }
};
template <>
struct Param<Tensor> {
  const Tensor* value = nullptr;
  bool load(nb::handle from, bool) {
    static const Tensor undefined;
    if (from.is_none())
      value = &undefined;
    else if (is_tensor(from.ptr()))
      value = &tensor_of(from.ptr());
    else
      return false;
    return true;
  }
  const Tensor& get() const { return *value; }
};
template <>
struct Param<IntArrayRef> {
  Numbers value;
  bool load(nb::handle from, bool convert) { return python::load(from, convert, value); }
  IntArrayRef get() const { return value; }
};
template <class T>
struct Param<ArrayRef<T>> {
  std::vector<T> value;
  bool load(nb::handle from, bool convert) { return python::load(from, convert, value); }
  ArrayRef<T> get() const { return value; }
};
template <>
struct Param<PaddingName> {
  std::string_view value;
  bool load(nb::handle from, bool convert) { return python::load(from, convert, value); }
  PaddingName get() const { return value; }
};
template <class T>
struct Param<std::optional<T>> {
  Param<T> value;
  bool given = false;
  bool load(nb::handle from, bool convert) {
    given = !from.is_none();
    return !given || value.load(from, convert);
  }
  std::optional<T> get() const { return given ? std::optional<T>(value.get()) : std::nullopt; }
};
template <>
struct Param<OptionalIntArrayRef> {
  Numbers value;
  bool given = false;
  bool load(nb::handle from, bool convert) {
    given = !from.is_none();
    return !given || python::load(from, convert, value);
  }
  OptionalIntArrayRef get() const {
    return given ? OptionalIntArrayRef(IntArrayRef(value)) : OptionalIntArrayRef(std::nullopt);
  }
};

// A default as Python shows it.
nb::object to_python(bool value);
nb::object to_python(int64_t value);
nb::object to_python(double value);
nb::object to_python(const Scalar& value);
nb::object to_python(std::string_view value);
nb::object to_python(ScalarType value);
nb::object to_python(Device value);
nb::object to_python(MemoryFormat value);
nb::object to_python(Layout value);
nb::object to_python(const Tensor& value);
nb::object to_python(const Generator& value);
nb::object to_python(IntArrayRef value);
nb::object to_python(const OptionalIntArrayRef& value);
nb::object to_python(const TensorOptions& value);  // its dtype
inline nb::object to_python(int value) { return to_python(int64_t{value}); }
inline nb::object to_python(const PaddingName& value) { return to_python(value.name); }
template <class T>
nb::object to_python(ArrayRef<T>) {
  return nb::make_tuple();
}
template <class T>
nb::object to_python(const std::optional<T>& value) {
  return value ? to_python(*value) : nb::none();
}

}  // namespace gradus::python
