// Turns run-time enums into template arguments.
#pragma once

#include <type_traits>

#include "gradus/tensor/base/dtype.h"
#include "gradus/tensor/table/ops.h"

namespace gradus {

template <auto value>
using Constant = std::integral_constant<decltype(value), value>;

// Calls f(Constant<op>{}).
template <class F>
void visit_op(UnaryOp op, F&& f) {
  switch (op) {
#define UNARY(name, ...) \
  case UnaryOp::name:    \
    return f(Constant<UnaryOp::name>{});
#define PREDICATE(name, ...) UNARY(name)
#include "gradus/tensor/table/elementwise.def"
  }
}
template <class F>
void visit_op(BinaryOp op, F&& f) {
  switch (op) {
#define BINARY(name, ...) \
  case BinaryOp::name:    \
    return f(Constant<BinaryOp::name>{});
#define INTEGER(name, ...) BINARY(name)
#define COMPARISON(name, ...) BINARY(name)
#include "gradus/tensor/table/elementwise.def"
  }
}
template <class F>
void visit_op(TernaryOp op, F&& f) {
  switch (op) {
#define TERNARY(name, ...) \
  case TernaryOp::name:    \
    return f(Constant<TernaryOp::name>{});
#include "gradus/tensor/table/ternary.def"
  }
}
template <class F>
void visit_op(ReduceOp op, F&& f) {
  switch (op) {
#define REDUCTION(name, ...) \
  case ReduceOp::name:       \
    return f(Constant<ReduceOp::name>{});
#include "gradus/tensor/table/reductions.def"
  }
}

template <class F>
void visit_op(ScanOp op, F&& f) {
  switch (op) {
#define SCAN(name, ...) \
  case ScanOp::name:    \
    return f(Constant<ScanOp::name>{});
#include "gradus/tensor/table/scans.def"
  }
}

// Calls f(TypeTag<T>{}) with an unsigned integer of so many bytes: the bits of a real number.
template <class F>
void visit_real_bits(size_t element_size, F&& f) {
  switch (element_size) {
    case 1:
      return f(TypeTag<uint8_t>{});
    case 2:
      return f(TypeTag<uint16_t>{});
    case 4:
      return f(TypeTag<uint32_t>{});
    default:
      return f(TypeTag<uint64_t>{});
  }
}

// The bits of a complex128.
struct Bits128 {
  uint64_t at[2];
};

// The same for what only moves elements, which may be complex numbers.
template <class F>
void visit_bits(size_t element_size, F&& f) {
  if (element_size == sizeof(Bits128)) return f(TypeTag<Bits128>{});
  visit_real_bits(element_size, f);
}

// Calls f(TypeTag<T>{}) for the dtypes that real numbers are computed in. `op` is named in the
// error.
template <class F>
void visit_numbers(std::string_view op, ScalarType dtype, F&& f) {
  if (dtype == kFloat) return f(TypeTag<float>{});
  if (dtype == kDouble) return f(TypeTag<double>{});
  if (dtype == kLong) return f(TypeTag<int64_t>{});
  fail<TypeError>(op, ": dtype ", short_name(dtype),
                  " is not computed with; convert with .to(kLong) or .to(kFloat)");
}

// Calls f(TypeTag<T>{}) for the dtypes that an elementwise row is computed in.
template <class Row, class F>
void visit_computed(ScalarType dtype, F&& f) {
  if constexpr (Row::integers && Row::reals) {
    visit_numbers(Row::name, dtype, f);
  } else if constexpr (Row::reals) {
    visit_floating(Row::name, dtype, f);
  } else {
    check<TypeError>(dtype == kLong, Row::name, ": dtype ", short_name(dtype),
                     " is not computed with; convert with .to(kLong)");
    f(TypeTag<int64_t>{});
  }
}

}  // namespace gradus
