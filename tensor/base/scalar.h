// A number of any kind as an argument: x + 1, x * 0.5, full({2}, true).
#pragma once

#include <cmath>
#include <complex>
#include <concepts>
#include <iosfwd>
#include <limits>
#include <type_traits>

#include "gradus/tensor/base/dtype.h"

namespace gradus {

template <class T>
concept ComplexType = std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>;

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

  template <ComplexType T>
  Scalar(T value)  // NOLINT: implicit
      : kind_(DtypeKind::Complex),
        real_(static_cast<double>(value.real())),
        imag_(static_cast<double>(value.imag())) {}

  DtypeKind kind() const { return kind_; }
  bool isFloatingPoint() const { return kind_ == DtypeKind::Floating; }
  bool isIntegral(bool include_bool) const {
    return kind_ == DtypeKind::Integral || (include_bool && isBoolean());
  }
  bool isBoolean() const { return kind_ == DtypeKind::Boolean; }
  // kBool, kLong, kDouble or kComplexDouble: what the number is stored as.
  ScalarType type() const {
    constexpr ScalarType by_kind[] = {kBool, kLong, kDouble, kComplexDouble};
    return by_kind[static_cast<int>(kind_)];
  }

  bool isComplex() const { return kind_ == DtypeKind::Complex; }

  // Whether a T holds the number. A fraction is cut off, an integer below 0 wraps round in an
  // unsigned type, and every number is true or false. A complex number with an imaginary part fits
  // no real type but bool.
  template <class T>
  bool fits() const;
  // Errors: ValueError unless fits<T>().
  template <class T>
  T to() const {
    if (!fits<T>()) [[unlikely]]
      fail_to_fit("Scalar", cpp_name<T>, "take a wider one");
    return cast<T>();
  }
  // The value, converted as C++ does. Errors: ValueError for an imaginary part in a real type.
  template <class T>
  T cast() const {
    if constexpr (ComplexType<T>) {
      return {cast_part<typename T::value_type>(),
              static_cast<typename T::value_type>(isComplex() ? imag_ : 0)};
    } else if constexpr (std::same_as<T, bool>) {
      return cast_part<bool>() || (isComplex() && imag_ != 0);
    } else {
      if (isComplex() && imag_ != 0) [[unlikely]]
        fail_to_fit("Scalar", cpp_name<T>, "take a complex type");
      return cast_part<T>();
    }
  }
  double toDouble() const { return cast<double>(); }
  std::complex<float> toComplexFloat() const { return cast<std::complex<float>>(); }
  std::complex<double> toComplexDouble() const { return cast<std::complex<double>>(); }
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
    return isBoolean() == other.isBoolean() && toComplexDouble() == other.toComplexDouble();
  }
  // Errors: TypeError for a boolean.
  Scalar operator-() const;

  // Throws the ValueError of a number that does not fit.
  [[noreturn]] void fail_to_fit(std::string_view op, std::string_view type,
                                const char* remedy) const;

 private:
  // The number, or its real part.
  template <class T>
  T cast_part() const {
    return kind_ >= DtypeKind::Floating ? static_cast<T>(real_) : static_cast<T>(integer_);
  }

  DtypeKind kind_;
  union {
    double real_;
    int64_t integer_;
  };
  double imag_ = 0;
};

template <class T>
bool Scalar::fits() const {
  using limits = std::numeric_limits<T>;
  if constexpr (ComplexType<T>) {
    using Part = typename T::value_type;
    return Scalar(cast_part<double>()).fits<Part>() && Scalar(imag_).fits<Part>();
  } else if constexpr (std::same_as<T, bool>) {
    return true;
  } else if (isComplex()) {
    return imag_ == 0 && Scalar(real_).fits<T>();
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
