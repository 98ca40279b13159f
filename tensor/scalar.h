// A number of any kind as an argument: x + 1, x * 0.5, full({2}, true).
#pragma once

#include <concepts>
#include <type_traits>

#include "gradus/tensor/dtype.h"

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

  template <class T>
  T to() const {
    return isFloatingPoint() ? static_cast<T>(real_) : static_cast<T>(integer_);
  }
  double toDouble() const { return to<double>(); }
  float toFloat() const { return to<float>(); }
  int64_t toLong() const { return to<int64_t>(); }
  int toInt() const { return to<int>(); }
  bool toBool() const { return to<bool>(); }

 private:
  DtypeKind kind_;
  union {
    double real_;
    int64_t integer_;
  };
};

}  // namespace gradus
