// AnyValue: a value of any type, which says what it is where another type is asked for.
#pragma once

#include <any>
#include <concepts>
#include <type_traits>
#include <typeinfo>

namespace gradus::nn {

namespace detail {
[[noreturn]] void fail_any_value(const std::type_info& actual, const std::type_info& asked);
}

class AnyValue {
 public:
  // Holds a value of type T without reference and const. A string literal is a const char*.
  template <class T>
  requires(!std::same_as<std::remove_cvref_t<T>, AnyValue>) explicit AnyValue(T&& value)
      : value_(std::forward<T>(value)) {}

  // Null where the value is of another type.
  template <class T>
  T* try_get() {
    return std::any_cast<T>(&value_);
  }
  // Errors: TypeError where the value is of another type.
  template <class T>
  T get() const {
    const T* value = std::any_cast<T>(&value_);
    if (value == nullptr) detail::fail_any_value(type_info(), typeid(T));
    return *value;
  }
  const std::type_info& type_info() const noexcept { return value_.type(); }

 private:
  std::any value_;
};

}  // namespace gradus::nn
