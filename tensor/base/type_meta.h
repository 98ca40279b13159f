// The result of Tensor::dtype(): a ScalarType that also knows the name of its C++ type.
#pragma once

#include "gradus/tensor/base/dtype.h"

namespace gradus {

class TypeMeta {
 public:
  constexpr TypeMeta(ScalarType type) : type_(type) {}  // NOLINT: implicit
  static constexpr TypeMeta fromScalarType(ScalarType type) { return type; }
  template <class T>
  static constexpr TypeMeta Make() {
    return dtype_of<T>;
  }

  constexpr operator ScalarType() const { return type_; }  // NOLINT: implicit
  constexpr ScalarType toScalarType() const { return type_; }
  constexpr bool isScalarType() const { return true; }
  constexpr bool isScalarType(ScalarType type) const { return type_ == type; }
  template <class T>
  constexpr bool Match() const {
    return type_ == dtype_of<T>;
  }
  constexpr size_t itemsize() const { return element_size(type_); }
  // "float", "long int": as libtorch prints a dtype.
  std::string_view name() const;

  friend constexpr bool operator==(TypeMeta a, TypeMeta b) { return a.type_ == b.type_; }
  friend constexpr bool operator==(TypeMeta a, ScalarType b) { return a.type_ == b; }

 private:
  ScalarType type_;
};

std::ostream& operator<<(std::ostream& out, TypeMeta type);

inline TypeMeta get_default_dtype() { return get_default_dtype_as_scalartype(); }

constexpr ScalarType typeMetaToScalarType(TypeMeta type) { return type; }
constexpr TypeMeta scalarTypeToTypeMeta(ScalarType type) { return type; }

}  // namespace gradus
