// How nanobind reads arguments by Param (params.h), writes their types, and returns results.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <exception>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "errors.h"
#include "gradus/autograd/functions.h"
#include "gradus/tensor/factories.h"
#include "params.h"

namespace gradus::python {

// An argument of a bound function.
template <class T>
struct Given : Param<T> {};

// What the function returns to Python: a tensor, a tuple of tensors with names or without, or a
// number.
template <class R>
struct Returned {
  R value;
  PyTypeObject* type = nullptr;  // of a tuple with names
};

nb::object results_object(const Tensor* results, size_t count, PyTypeObject* type);

}  // namespace gradus::python

namespace nanobind::detail {

namespace py = gradus::python;

// How a parameter's type is written in Python.
template <class T>
inline constexpr auto param_name = const_name("object");
template <>
inline constexpr auto param_name<gradus::Tensor> = const_name<py::Shown>();
template <>
inline constexpr auto param_name<bool> = const_name("bool");
template <>
inline constexpr auto param_name<int> = const_name("int");
template <>
inline constexpr auto param_name<int64_t> = const_name("int");
template <>
inline constexpr auto param_name<double> = const_name("float");
template <>
inline constexpr auto param_name<gradus::Scalar> = const_name("bool | int | float | complex");
template <>
inline constexpr auto param_name<std::string_view> = const_name("str");
template <>
inline constexpr auto param_name<gradus::PaddingName> = const_name("str");
template <>
inline constexpr auto param_name<gradus::ScalarType> = const_name("dtype");
template <>
inline constexpr auto param_name<gradus::Device> = const_name("device | str | int");
template <>
inline constexpr auto param_name<gradus::MemoryFormat> = const_name("memory_format");
template <>
inline constexpr auto param_name<gradus::Layout> = const_name("layout");
template <>
inline constexpr auto param_name<gradus::Generator> = const_name<gradus::Generator>();
template <>
inline constexpr auto param_name<py::Operand> = const_name<py::Shown>() +
                                                const_name(" | bool | int | float | complex");
template <>
inline constexpr auto param_name<gradus::IntArrayRef> =
    const_name("int | collections.abc.Sequence[int]");
template <>
inline constexpr auto param_name<gradus::ArrayRef<double>> =
    const_name("collections.abc.Sequence[float]");
template <>
inline constexpr auto param_name<gradus::ArrayRef<gradus::Tensor>> =
    const_name("collections.abc.Sequence[") + const_name<py::Shown>() + const_name("]");
template <>
inline constexpr auto param_name<gradus::OptionalIntArrayRef> =
    const_name("int | collections.abc.Sequence[int]");
template <class T>
inline constexpr auto param_name<std::optional<T>> = param_name<T>;

// These may be None; nanobind adds it to the signature.
template <class T>
struct has_arg_defaults<py::Given<std::optional<T>>> : std::true_type {};
template <>
struct has_arg_defaults<py::Given<gradus::OptionalIntArrayRef>> : std::true_type {};
template <>
struct has_arg_defaults<py::Given<gradus::Tensor>> : std::true_type {};

template <class T>
struct type_caster<py::Given<T>> {
  static constexpr auto Name = param_name<T>;
  template <class>
  using Cast = py::Given<T>&;
  template <class>
  static constexpr bool can_cast() {
    return true;
  }
  // An error waits until the function is called: nanobind takes no exception here.
  bool from_python(handle src, uint32_t flags, cleanup_list*) noexcept {
    try {
      return value.load(src, flags & cast_flags::convert);
    } catch (...) {
      error = std::current_exception();
      return true;
    }
  }
  operator py::Given<T>&() {
    if (error) std::rethrow_exception(error);
    return value;
  }
  py::Given<T> value;
  std::exception_ptr error;
};

template <class T>
inline constexpr auto result_name = param_name<T>;
template <>
inline constexpr auto result_name<gradus::Tensors> =
    const_name("tuple[") + const_name<py::Shown>() + const_name(", ...]");
template <class... T>
inline constexpr auto result_name<std::tuple<T...>> = const_name("tuple[") +
                                                      concat(result_name<T>...) + const_name("]");

template <class R>
struct type_caster<py::Returned<R>> {
  static constexpr auto Name = result_name<R>;
  template <class>
  using Cast = py::Returned<R>;
  static handle from_cpp(const py::Returned<R>& result, rv_policy, cleanup_list*) noexcept {
    return py::guarded<>(static_cast<PyObject*>(nullptr), [&]() -> PyObject* {
      const R& value = result.value;
      if constexpr (std::is_same_v<R, gradus::Tensor>) {
        return py::show(value);
      } else if constexpr (std::is_same_v<R, gradus::Tensors>) {
        return py::results_object(value.data(), value.size(), nullptr).release().ptr();
      } else if constexpr (requires { std::tuple_size<R>::value; }) {
        const auto list =
            std::apply([](const auto&... each) { return std::array{each...}; }, value);
        return py::results_object(list.data(), list.size(), result.type).release().ptr();
      } else {
        return py::to_python(value).release().ptr();
      }
    });
  }
};

}  // namespace nanobind::detail
