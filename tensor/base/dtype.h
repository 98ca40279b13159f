// Element types (dtypes), their names, and PyTorch's promotion rules.
// `tensor/base/dtypes.def` is the one list of them.
#pragma once

#include <complex>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

#include "gradus/tensor/base/error.h"
#include "gradus/tensor/base/half.h"

namespace gradus {

enum class ScalarType : int8_t {
#define DTYPE(name, type, short_name, kind, computed) name,
#define COMPLEX(...) DTYPE(__VA_ARGS__)
#include "gradus/tensor/base/dtypes.def"
#undef DTYPE
};
using Dtype = ScalarType;

// kBool, kLong, kFloat, kDouble ...
#define DTYPE(name, type, short_name, kind, computed) \
  inline constexpr ScalarType k##name = ScalarType::name;
#define COMPLEX(...) DTYPE(__VA_ARGS__)
#include "gradus/tensor/base/dtypes.def"
#undef DTYPE
inline constexpr ScalarType kUInt8 = kByte, kInt8 = kChar, kInt16 = kShort, kInt32 = kInt,
                            kInt64 = kLong, kFloat16 = kHalf, kFloat32 = kFloat, kFloat64 = kDouble;
inline constexpr ScalarType kU8 = kByte, kI8 = kChar, kI16 = kShort, kI32 = kInt, kI64 = kLong,
                            kF16 = kHalf, kF32 = kFloat, kF64 = kDouble;
inline constexpr ScalarType kComplex64 = kComplexFloat, kComplex128 = kComplexDouble;

// Boolean < Integral < Floating < Complex: an operation's result has the highest category of its
// operands.
enum class DtypeKind : int8_t { Boolean, Integral, Floating, Complex };

// The dtype of a C++ type: dtype_of<float> == kFloat.
template <class T>
inline constexpr ScalarType dtype_of = [] {
  static_assert(sizeof(T) == 0, "no dtype for this C++ type");
  return kBool;
}();
#define DTYPE(name, type, short_name, kind, computed) \
  template <>                                         \
  inline constexpr ScalarType dtype_of<type> = ScalarType::name;
#define COMPLEX(...) DTYPE(__VA_ARGS__)
#include "gradus/tensor/base/dtypes.def"
#undef DTYPE

// The name of a C++ type, for messages.
template <class T>
inline constexpr std::string_view cpp_name = "asked for";
#define DTYPE(name, type, short_name, kind, computed) \
  template <>                                         \
  inline constexpr std::string_view cpp_name<type> = #type;
#define COMPLEX(...) DTYPE(__VA_ARGS__)
#include "gradus/tensor/base/dtypes.def"
#undef DTYPE

constexpr size_t element_size(ScalarType dtype) {
  switch (dtype) {
#define DTYPE(name, type, short_name, kind, computed) \
  case ScalarType::name:                              \
    return sizeof(type);
#define COMPLEX(...) DTYPE(__VA_ARGS__)
#include "gradus/tensor/base/dtypes.def"
#undef DTYPE
  }
  return 0;
}

constexpr DtypeKind kind_of(ScalarType dtype) {
  switch (dtype) {
#define DTYPE(name, type, short_name, kind, computed) \
  case ScalarType::name:                              \
    return DtypeKind::kind;
#define COMPLEX(...) DTYPE(__VA_ARGS__)
#include "gradus/tensor/base/dtypes.def"
#undef DTYPE
  }
  return DtypeKind::Boolean;
}

constexpr bool isFloatingType(ScalarType dtype) { return kind_of(dtype) == DtypeKind::Floating; }
constexpr bool isIntegralType(ScalarType dtype, bool include_bool = false) {
  return kind_of(dtype) == DtypeKind::Integral ||
         (include_bool && kind_of(dtype) == DtypeKind::Boolean);
}

constexpr bool isComplexType(ScalarType dtype) { return kind_of(dtype) == DtypeKind::Complex; }
// Whether tensors of the dtype may require grad.
constexpr bool is_differentiable(ScalarType dtype) { return kind_of(dtype) >= DtypeKind::Floating; }
// The dtype of complex numbers whose parts hold a floating point dtype.
constexpr ScalarType toComplexType(ScalarType dtype) {
  if (dtype == kDouble || dtype == kComplexDouble) return kComplexDouble;
  if (!is_differentiable(dtype))
    fail<TypeError>(
        "toComplexType: Unknown Complex ScalarType for a dtype of integers; convert "
        "with .to(kFloat)");
  return kComplexFloat;
}
// The dtype of the parts; a real dtype itself.
constexpr ScalarType toRealValueType(ScalarType dtype) {
  return dtype == kComplexFloat ? kFloat : dtype == kComplexDouble ? kDouble : dtype;
}
constexpr bool isSignedType(ScalarType dtype) { return dtype != kBool && dtype != kByte; }
// Whether an operation may store its result of dtype `from` in a tensor of dtype `to`.
constexpr bool canCast(ScalarType from, ScalarType to) { return kind_of(from) <= kind_of(to); }

// The smallest dtype that holds both (PyTorch's torch.promote_types).
constexpr ScalarType promoteTypes(ScalarType a, ScalarType b) {
  const ScalarType low = a < b ? a : b, high = a < b ? b : a;
  if (low == kByte && high == kChar) return kShort;
  if (low == kHalf && high == kBFloat16) return kFloat;
  if (low == kDouble && high == kComplexFloat) return kComplexDouble;
  return high;
}

// The dtype in which numbers of a dtype are computed: kLong, kFloat, kDouble or a complex one.
constexpr ScalarType computed_type(ScalarType dtype) {
  switch (dtype) {
#define DTYPE(name, type, short_name, kind, computed) \
  case ScalarType::name:                              \
    return ScalarType::computed;
#define COMPLEX(...) DTYPE(__VA_ARGS__)
#include "gradus/tensor/base/dtypes.def"
#undef DTYPE
  }
  return kLong;
}

// An element is 0 where these bits of it are 0: all bits, but for the sign of a floating point
// number. REQUIRES: a real dtype.
constexpr uint64_t value_bits(ScalarType dtype) {
  return ~uint64_t{0} >> (64 - 8 * element_size(dtype) + (isFloatingType(dtype) ? 1 : 0));
}

// "Float", "Long": PyTorch's C++ names. `short_name` gives "float32", "int64".
const char* toString(ScalarType dtype);
constexpr size_t elementSize(ScalarType dtype) { return element_size(dtype); }
std::string_view short_name(ScalarType dtype);
std::ostream& operator<<(std::ostream& out, ScalarType dtype);

// The dtype of new floating point tensors: kFloat until set.
// Errors: TypeError where dtype is not a floating point one.
ScalarType get_default_dtype_as_scalartype();
void set_default_dtype(ScalarType dtype);

template <class T>
struct TypeTag {
  using type = T;
};

// Calls f(TypeTag<T>{}) with the C++ type of dtype. Errors: TypeError for a complex one.
template <class F>
decltype(auto) visit(ScalarType dtype, F&& f) {
  switch (dtype) {
#define DTYPE(name, type, short_name, kind, computed) \
  case ScalarType::name:                              \
    return f(TypeTag<type>{});
#include "gradus/tensor/base/dtypes.def"
#undef DTYPE
    default:
      break;
  }
  fail<TypeError>("not implemented for '", std::string_view(toString(dtype)),
                  "'; compute with real() and imag()");
}

// The same over complex dtypes, with the type of their parts. `op` is named in the error.
template <class F>
decltype(auto) visit_complex(std::string_view op, ScalarType dtype, F&& f) {
  if (dtype == kComplexFloat) return f(TypeTag<float>{});
  if (dtype == kComplexDouble) return f(TypeTag<double>{});
  fail<TypeError>(op, ": dtype ", short_name(dtype),
                  " is not complex; convert with .to(kComplexFloat)");
}

// The same over the floating point types that are computed with. `op` is named in the error.
template <class F>
decltype(auto) visit_floating(std::string_view op, ScalarType dtype, F&& f) {
  if (dtype == kFloat) return f(TypeTag<float>{});
  if (dtype == kDouble) return f(TypeTag<double>{});
  fail<TypeError>(op, ": dtype ", short_name(dtype),
                  " is not a floating point type; convert with .to(kFloat)");
}

inline void append(std::string& out, ScalarType dtype) { out += short_name(dtype); }
// A dtype in an error's text by the name that toString gives: Float.
struct TypeName {
  ScalarType dtype;
};
inline void append(std::string& out, TypeName name) { out += toString(name.dtype); }

// Whether a result may be stored. Errors: TypeError that names op followed by form (add, _).
inline void check_can_cast(const char* op, const char* form, ScalarType result, ScalarType output) {
  check<TypeError>(canCast(result, output), op, form, ": result type ", TypeName{result},
                   " can't be cast to the desired output type ", TypeName{output},
                   "; use the form that returns a new tensor");
}

}  // namespace gradus
