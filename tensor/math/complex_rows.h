// Elementwise functions of complex numbers: which rows have them, for the devices.
#pragma once

#include <type_traits>

#include "gradus/tensor/base/error.h"
#include "gradus/tensor/math/complex.h"
#include "gradus/tensor/math/elementwise.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus {

template <class Row>
[[noreturn]] void refuse_complex(ScalarType dtype) {
  fail<TypeError>(Row::name, ": not implemented for '", TypeName{dtype},
                  "'; compute with real() and imag()");
}

// Calls f(row, TypeTag<Out>, TypeTag<Number>) for the row of op: Number is the ComplexNumber of the
// dtype, and Out what the row returns. Errors: TypeError where the row has no complex numbers.
template <class F>
void visit_complex_row(UnaryOp op, ScalarType dtype, const F& f) {
  visit_op(op, [&](auto row) {
    using Row = scalar::Unary<row.value>;
    if constexpr (!Row::complex_numbers || Row::gives_bool)
      refuse_complex<Row>(dtype);
    else
      visit_complex(Row::name, dtype, [&]<class T>(TypeTag<T>) {
        using Number = scalar::ComplexNumber<T>;
        f(row, TypeTag<Number>(), TypeTag<Number>());
      });
  });
}
template <class F>
void visit_complex_row(BinaryOp op, ScalarType dtype, const F& f) {
  visit_op(op, [&](auto row) {
    using Row = scalar::Binary<row.value>;
    if constexpr (!Row::complex_numbers)
      refuse_complex<Row>(dtype);
    else
      visit_complex(Row::name, dtype, [&]<class T>(TypeTag<T>) {
        using Number = scalar::ComplexNumber<T>;
        using Out = std::conditional_t<Row::gives_bool, bool, Number>;
        f(row, TypeTag<Out>(), TypeTag<Number>());
      });
  });
}

}  // namespace gradus
