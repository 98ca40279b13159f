// The public functions on tensors: they compute through raw:: and record the graph. The rows of
// elementwise.def and functions.def say what each function does. Most are methods of Tensor as
// well.
#pragma once

#include <optional>
#include <tuple>

#include "gradus/tensor/base/windows.h"
#include "gradus/tensor/table/ops.h"
#include "gradus/tensor/tensor.h"

namespace gradus {

using TensorQuadruple = std::tuple<Tensor, Tensor, Tensor, Tensor>;

// --- Pointwise, broadcasting (tensor/table/elementwise.def)
#define UNARY(name, ...) Tensor name(const Tensor& self);
#define BINARY(name, ...)                               \
  Tensor name(const Tensor& self, const Tensor& other); \
  Tensor name(const Tensor& self, const Scalar& other); \
  Tensor name(const Scalar& self, const Tensor& other);
#define INTEGER(name, ...) BINARY(name)
#define COMPARISON(name, ...)                           \
  Tensor name(const Tensor& self, const Tensor& other); \
  Tensor name(const Tensor& self, const Scalar& other);
#define PREDICATE(name, ...) Tensor name(const Tensor& self);
#include "gradus/tensor/table/elementwise.def"

#define GRADUS_OPERATOR(op, name)                                                    \
  inline Tensor operator op(const Tensor& x, const Tensor& y) { return name(x, y); } \
  inline Tensor operator op(const Tensor& x, const Scalar& y) { return name(x, y); }
#define GRADUS_ARITHMETIC(op, name) \
  GRADUS_OPERATOR(op, name)         \
  inline Tensor operator op(const Scalar& x, const Tensor& y) { return name(x, y); }
#define GRADUS_COMPARISON(op, name, mirrored) \
  GRADUS_OPERATOR(op, name)                   \
  inline Tensor operator op(const Scalar& x, const Tensor& y) { return mirrored(y, x); }
GRADUS_ARITHMETIC(+, add)
GRADUS_ARITHMETIC(-, sub)
GRADUS_ARITHMETIC(*, mul)
GRADUS_ARITHMETIC(/, div)
GRADUS_ARITHMETIC(%, remainder)
GRADUS_ARITHMETIC(&, bitwise_and)
GRADUS_ARITHMETIC(|, bitwise_or)
GRADUS_ARITHMETIC(^, bitwise_xor)
GRADUS_COMPARISON(==, eq, eq)
GRADUS_COMPARISON(!=, ne, ne)
GRADUS_COMPARISON(<, lt, gt)
GRADUS_COMPARISON(<=, le, ge)
GRADUS_COMPARISON(>, gt, lt)
GRADUS_COMPARISON(>=, ge, le)
#undef GRADUS_OPERATOR
#undef GRADUS_ARITHMETIC
#undef GRADUS_COMPARISON

// --- The rows of functions.def: those that are no methods, and the other forms of those that are
#define FREE(result, name, params, ...) result name params;
#define FREE_OUT(...) FREE(__VA_ARGS__)
#include "gradus/tensor/table/functions.def"

namespace detail {
// Copies result into out, which takes its shape. Errors: TypeError where out's dtype is of a lower
// kind, Error where a gradient is asked for, or the devices differ.
Tensor& write_out(const char* op, Tensor& out, const Tensor& result);
inline TensorTie write_out(const char* op, Tensor& first, Tensor& second,
                           const TensorPair& results) {
  write_out(op, first, std::get<0>(results));
  write_out(op, second, std::get<1>(results));
  return {first, second};
}
// The same for rows of elementwise.def, without a copy where out is fit for the result.
Tensor& map_out(UnaryOp op, Tensor& out, const Tensor& self);
Tensor& zip_out(BinaryOp op, Tensor& out, const Tensor& self, const Tensor& other);
Tensor& zip_out(BinaryOp op, Tensor& out, const Tensor& self, const Scalar& other);
Tensor& zip_out(BinaryOp op, Tensor& out, const Scalar& self, const Tensor& other);
}  // namespace detail

#define FUNCTION(result, name, params, args, ...)                                \
  inline Tensor& name##_out(Tensor& out, const Tensor& self GRADUS_AND params) { \
    return detail::write_out(#name, out, gradus::name(self GRADUS_AND args));    \
  }
#define IN_PLACE(result, name, params, args, ...) \
  FUNCTION(result, name, params, args)            \
  inline Tensor& name##_(Tensor& self GRADUS_AND params) { return self.name##_ args; }
#define UPDATE(...) IN_PLACE(__VA_ARGS__)
#define PAIR(result, name, params, args, ...)                                                     \
  inline TensorTie name##_out(Tensor& out0, Tensor& out1, const Tensor& self GRADUS_AND params) { \
    return detail::write_out(#name, out0, out1, gradus::name(self GRADUS_AND args));              \
  }
#define FREE_OUT(result, name, params, args, ...)            \
  inline Tensor& name##_out(Tensor& out GRADUS_AND params) { \
    return detail::write_out(#name, out, gradus::name args); \
  }
#include "gradus/tensor/table/functions.def"

// --- Methods that change self, as functions
inline Tensor& fill_(Tensor& self, const Scalar& value) { return self.fill_(value); }
inline Tensor& fill_(Tensor& self, const Tensor& value) { return self.fill_(value); }
inline Tensor& zero_(Tensor& self) { return self.zero_(); }
inline Tensor& detach_(Tensor& self) { return self.detach_(); }
inline Tensor& conj_physical_(Tensor& self) { return self.conj_physical_(); }
inline const Tensor& as_strided_(const Tensor& self, IntArrayRef size, IntArrayRef stride,
                                 std::optional<int64_t> storage_offset = std::nullopt) {
  return self.as_strided_(size, stride, storage_offset);
}

// --- Other forms of the rows of elementwise.def
#define PREDICATE(name, ...)                                   \
  inline Tensor& name##_out(Tensor& out, const Tensor& self) { \
    return detail::map_out(UnaryOp::name, out, self);          \
  }
#define UNARY(name, ...)                                          \
  inline Tensor& name##_(Tensor& self) { return self.name##_(); } \
  PREDICATE(name)
#define LOGICAL(name, ...)                                                          \
  inline Tensor& name##_out(Tensor& out, const Tensor& self, const Tensor& other) { \
    return detail::zip_out(BinaryOp::name, out, self, other);                       \
  }
#define COMPARISON(name, ...)                                                       \
  LOGICAL(name)                                                                     \
  inline Tensor& name##_out(Tensor& out, const Tensor& self, const Scalar& other) { \
    return detail::zip_out(BinaryOp::name, out, self, other);                       \
  }
#define INTEGER(name, ...) BINARY(name)
#define BINARY(name, ...)                                                           \
  COMPARISON(name)                                                                  \
  inline Tensor& name##_out(Tensor& out, const Scalar& self, const Tensor& other) { \
    return detail::zip_out(BinaryOp::name, out, self, other);                       \
  }
#include "gradus/tensor/table/elementwise.def"

// --- Dtypes of results, by PyTorch's rules of promotion
ScalarType result_type(const Tensor& tensor, const Tensor& other);
ScalarType result_type(const Tensor& tensor, const Scalar& other);
ScalarType result_type(const Scalar& scalar, const Tensor& tensor);
ScalarType result_type(const Scalar& scalar1, const Scalar& scalar2);
constexpr ScalarType promote_types(ScalarType type1, ScalarType type2) {
  return promoteTypes(type1, type2);
}
// Whether a result of dtype `from` may be stored in a tensor of dtype `to`.
constexpr bool can_cast(ScalarType from, ScalarType to) { return kind_of(from) <= kind_of(to); }

}  // namespace gradus
