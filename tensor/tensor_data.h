// The elements of tensor(...): a number, a braced list of any depth, an array or a std::vector.
#pragma once

#include <type_traits>
#include <vector>

#include "gradus/tensor/base/scalar.h"
#include "gradus/tensor/shape.h"

namespace gradus {

template <class T>
concept Number = std::is_arithmetic_v<T> || HalfType<T> || ComplexType<T>;

class TensorData {
 public:
  TensorData() : sizes_{0}, type_(get_default_dtype()) {}  // the innermost {} of {{}, {}}
  template <Number T>
  TensorData(T value) : numbers_{Scalar(value)}, type_(type_of<T>()) {}  // NOLINT: implicit
  // Errors: ValueError where rows differ in shape, TypeError where they differ in type.
  TensorData(std::initializer_list<TensorData> rows);  // NOLINT: implicit
  template <Number T>
  TensorData(ArrayRef<T> values)  // NOLINT: implicit
      : sizes_{static_cast<int64_t>(values.size())},
        numbers_(values.begin(), values.end()),
        type_(type_of<T>()) {}
  template <Number T>
  TensorData(const std::vector<T>& values)  // NOLINT: implicit
      : sizes_{static_cast<int64_t>(values.size())},
        numbers_(values.begin(), values.end()),
        type_(type_of<T>()) {}

  const Dims& sizes() const { return sizes_; }
  const std::vector<Scalar>& numbers() const { return numbers_; }
  // The C++ type of the elements.
  ScalarType scalar_type() const { return type_; }
  // int64 for int32, and the default dtype for float and double.
  ScalarType dtype() const;

 private:
  // Numbers of C++ that have no dtype of their own count as int64 and float64.
  template <class T>
  static constexpr ScalarType type_of() {
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, float> || HalfType<T> ||
                  ComplexType<T>)
      return dtype_of<T>;
    else if constexpr (std::is_floating_point_v<T>)
      return kDouble;
    else if constexpr (std::is_unsigned_v<T>)
      return sizeof(T) == 1 ? kByte : kLong;
    else
      return sizeof(T) == 1 ? kChar : sizeof(T) == 2 ? kShort : sizeof(T) == 4 ? kInt : kLong;
  }

  Dims sizes_;
  std::vector<Scalar> numbers_;
  ScalarType type_;
};

}  // namespace gradus
