// The values that a Function keeps in ctx->saved_data between forward and backward.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "gradus/tensor/tensor.h"

namespace gradus::autograd {

// A value of one of a few types. REQUIRES: it is read as the type that it was stored as.
class SavedValue {
 public:
  SavedValue() = default;
  template <class T>
  requires std::is_arithmetic_v<T> SavedValue(T value) {  // NOLINT: implicit
    if constexpr (std::is_same_v<T, bool>)
      value_ = value;
    else if constexpr (std::is_integral_v<T>)
      value_ = static_cast<int64_t>(value);
    else
      value_ = static_cast<double>(value);
  }
  SavedValue(Tensor value) : value_(std::move(value)) {}                // NOLINT
  SavedValue(std::vector<Tensor> value) : value_(std::move(value)) {}   // NOLINT
  SavedValue(std::string value) : value_(std::move(value)) {}           // NOLINT
  SavedValue(const char* value) : value_(std::string(value)) {}         // NOLINT
  SavedValue(std::vector<int64_t> value) : value_(std::move(value)) {}  // NOLINT
  SavedValue(IntArrayRef value) : value_(value.vec()) {}                // NOLINT
  SavedValue(std::vector<double> value) : value_(std::move(value)) {}   // NOLINT
  SavedValue(std::nullopt_t) {}                                         // NOLINT
  // Errors: TypeError for a complex number.
  SavedValue(const Scalar& value) {  // NOLINT
    check<TypeError>(!value.isComplex(), "SavedValue: ", value, " is complex; save a tensor of it");
    if (value.isBoolean())
      value_ = value.toBool();
    else if (value.isFloatingPoint())
      value_ = value.toDouble();
    else
      value_ = value.toLong();
  }
  template <class T>
  SavedValue(const std::optional<T>& value) {  // NOLINT
    if (value) *this = SavedValue(*value);
  }

  bool isNone() const { return holds<std::monostate>(); }
  bool isInt() const { return holds<int64_t>(); }
  bool isDouble() const { return holds<double>(); }
  bool isBool() const { return holds<bool>(); }
  bool isTensor() const { return holds<Tensor>(); }
  bool isString() const { return holds<std::string>(); }
  bool isIntList() const { return holds<std::vector<int64_t>>(); }
  bool isDoubleList() const { return holds<std::vector<double>>(); }
  bool isTensorList() const { return holds<std::vector<Tensor>>(); }

  // Errors: TypeError where the value is of another kind.
  int64_t toInt() const { return get<int64_t>("toInt"); }
  double toDouble() const { return get<double>("toDouble"); }
  bool toBool() const { return get<bool>("toBool"); }
  const Tensor& toTensor() const { return get<Tensor>("toTensor"); }
  const std::string& toStringRef() const { return get<std::string>("toStringRef"); }
  const std::vector<int64_t>& toIntVector() const {
    return get<std::vector<int64_t>>("toIntVector");
  }
  const std::vector<double>& toDoubleVector() const {
    return get<std::vector<double>>("toDoubleVector");
  }
  const std::vector<Tensor>& toTensorVector() const {
    return get<std::vector<Tensor>>("toTensorVector");
  }
  Scalar toScalar() const {
    if (isInt()) return toInt();
    return isBool() ? Scalar(toBool()) : Scalar(get<double>("toScalar"));
  }

 private:
  template <class T>
  bool holds() const {
    return std::holds_alternative<T>(value_);
  }
  template <class T>
  const T& get(std::string_view method) const {
    check<TypeError>(holds<T>(), "saved_data: ", method,
                     "() of a value that was stored as another type; read it as what it was "
                     "stored as");
    return std::get<T>(value_);
  }

  std::variant<std::monostate, bool, int64_t, double, Tensor, std::string, std::vector<int64_t>,
               std::vector<double>, std::vector<Tensor>>
      value_;
};

}  // namespace gradus::autograd
