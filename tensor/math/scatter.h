// ScatterOp as functions on numbers, for host and device.
#pragma once

#include "gradus/tensor/math/elementwise.h"
#include "gradus/tensor/table/dispatch.h"
#include "gradus/tensor/table/ops.h"

namespace gradus {

template <ScatterOp op, class T>
GRADUS_HD constexpr T put_to(T there, T fresh) {
  if constexpr (op == ScatterOp::sum)
    return there + fresh;
  else if constexpr (op == ScatterOp::prod)
    return there * fresh;
  else if constexpr (op == ScatterOp::amax)
    return scalar::max(there, fresh);
  else if constexpr (op == ScatterOp::amin)
    return scalar::min(there, fresh);
  else
    return fresh;
}

// Calls f(Constant<op>{}, TypeTag<T>{}); of a type that is only moved, T has the size alone.
template <class F>
void visit_scatter(const char* name, ScatterOp op, ScalarType dtype, F&& f) {
  const auto numbers = [&](auto constant) {
    visit_numbers(name, dtype, [&](auto type) { f(constant, type); });
  };
  switch (op) {
    case ScatterOp::set:
      return visit_bits(element_size(dtype), [&](auto t) { f(Constant<ScatterOp::set>{}, t); });
    case ScatterOp::sum:
      return numbers(Constant<ScatterOp::sum>{});
    case ScatterOp::prod:
      return numbers(Constant<ScatterOp::prod>{});
    case ScatterOp::amax:
      return numbers(Constant<ScatterOp::amax>{});
    case ScatterOp::amin:
      return numbers(Constant<ScatterOp::amin>{});
  }
}

}  // namespace gradus
