// A number of any kind as an argument: x + 1, x * 0.5, full({2}, true).
#pragma once

#include <cmath>
#include <concepts>
#include <iosfwd>
#include <limits>
#include <type_traits>

#include "gradus/tensor/base/dtype.h"

namespace gradus {

class Scalar {
 public:
  Scalar() : Scalar(int64_t{0}) {}
  template <class T>
  requires(std::is_arithmetic_v<T> || HalfType<T>)
      Scalar(T value) {  // NOLINT: implicit, as in libtorch
    if constexpr (std::same_as<T, bool>) {
      kind_ = DtypeKind::Boolean, integer_ = value;
    } else if constexpr (std::integral<T>) {
      kind_ = DtypeKind::Integral, integer_ = static_cast<int64_t>(value);
    } else {
      kind_ = DtypeKind::Floating, real_ = static_cast<double>(value);
    }
  }

  DtypeKind kind() const { return kind_; }
  bool isFloatingPoint() const { return kind_ == DtypeKind::Floating; }
  bool isIntegral(bool include_bool) const {
    return kind_ == DtypeKind::Integral || (include_bool && isBoolean());
  }
  bool isBoolean() const { return kind_ == DtypeKind::Boolean; }
  // kBool, kLong or kDouble: what the number is stored as.
  ScalarType type() const { return isFloatingPoint() ? kDouble : isBoolean() ? kBool : kLong; }

  bool isComplex() const { return false; }

  // Whether a T holds the number. A fraction is cut off, an integer below 0 wraps round in an
  // unsigned type, and every number is true or false.
  template <class T>
  bool fits() const;
  // Errors: ValueError unless fits<T>().
  template <class T>
  T to() const {
    if (!fits<T>()) [[unlikely]]
      fail_to_fit("Scalar", cpp_name<T>, "take a wider one");
    return cast<T>();
  }
  // The value, converted as C++ does.
  template <class T>
  T cast() const {
    return isFloatingPoint() ? static_cast<T>(real_) : static_cast<T>(integer_);
  }
  double toDouble() const { return cast<double>(); }
  float toFloat() const { return to<float>(); }
  Half toHalf() const { return to<Half>(); }
  BFloat16 toBFloat16() const { return to<BFloat16>(); }
  int64_t toLong() const { return to<int64_t>(); }
  int toInt() const { return to<int>(); }
  int16_t toShort() const { return to<int16_t>(); }
  int8_t toChar() const { return to<int8_t>(); }
  uint8_t toByte() const { return to<uint8_t>(); }
  bool toBool() const { return to<bool>(); }

  // A boolean and a number are never equal.
  bool equal(const Scalar& other) const {
    return isBoolean() == other.isBoolean() && toDouble() == other.toDouble();
  }
  // Errors: TypeError for a boolean.
  Scalar operator-() const;

  // Throws the ValueError of a number that does not fit.
  [[noreturn]] void fail_to_fit(std::string_view op, std::string_view type,
                                const char* remedy) const;

 private:
  DtypeKind kind_;
  union {
    double real_;
    int64_t integer_;
  };
};

template <class T>
bool Scalar::fits() const {
  using limits = std::numeric_limits<T>;
  if constexpr (std::same_as<T, bool>) {
    return true;
  } else if constexpr (!limits::is_integer) {
    const double x = toDouble();
    return !std::isfinite(x) || std::abs(x) <= static_cast<double>(limits::max());
  } else if (isFloatingPoint()) {
    // The largest 64-bit integer, converted to double, is rounded up to a power of two, which does
    // not fit.
    return real_ >= static_cast<double>(limits::lowest()) &&
           (sizeof(T) < 8 ? real_ <= static_cast<double>(limits::max())
                          : real_ < static_cast<double>(limits::max()));
  } else if constexpr (sizeof(T) == 8) {
    return true;
  } else {
    const int64_t most = limits::max(), least = limits::is_signed ? limits::lowest() : -most;
    return least <= integer_ && integer_ <= most;
  }
}

void append(std::string& out, const Scalar& x);
std::ostream& operator<<(std::ostream& out, const Scalar& x);

}  // namespace gradus
