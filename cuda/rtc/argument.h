// What a kernel of the user's is started with: a tensor, or a number.
#pragma once

#include <array>
#include <cstring>
#include <type_traits>
#include <variant>

#include "gradus/tensor/tensor.h"

namespace gradus::cuda {

template <class T>
concept KernelNumber =
    std::is_arithmetic_v<T> || std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

// A number in its own C++ type.
struct Number {
  template <KernelNumber T>
  explicit Number(T value) : type(type_name<T>()), is_floating(!std::is_integral_v<T>) {
    std::memcpy(bytes.data(), &value, sizeof value);
    if constexpr (std::is_integral_v<T>)
      integer = static_cast<int64_t>(value);
    else
      floating = static_cast<double>(value);
  }
  double as_double() const { return is_floating ? floating : static_cast<double>(integer); }

  std::string_view type;
  std::array<char, 8> bytes{};
  bool is_floating;
  int64_t integer = 0;
  double floating = 0;

 private:
  template <class T>
  static std::string_view type_name() {
    if constexpr (std::is_same_v<T, double>) return "double";
    if constexpr (std::is_floating_point_v<T>) return "float";
    if constexpr (std::is_same_v<T, Half>) return "Half";
    if constexpr (std::is_same_v<T, BFloat16>) return "BFloat16";
    if constexpr (std::is_same_v<T, bool>) return "bool";
    constexpr std::string_view names[] = {"uint8_t",  "int8_t",  "uint16_t", "int16_t",
                                          "uint32_t", "int32_t", "uint64_t", "int64_t"};
    constexpr int width = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return names[2 * width + std::is_signed_v<T>];
  }
};

class Argument {
 public:
  Argument(const Tensor& tensor) : value_(tensor) {}  // NOLINT
  template <KernelNumber T>
  Argument(T number) : value_(Number(number)) {}  // NOLINT

  // Null where it is a number.
  const Tensor* tensor() const { return std::get_if<Tensor>(&value_); }
  const Number* number() const { return std::get_if<Number>(&value_); }

 private:
  std::variant<Tensor, Number> value_;
};

}  // namespace gradus::cuda
