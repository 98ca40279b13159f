// The rows of optimizers.def as types, and the way from run-time values to template arguments.
#pragma once

#include <algorithm>
#include <array>
#include <bit>

#include "gradus/tensor/base/host_device.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus {

enum class UpdateOp : uint8_t {
#define OPTIMIZER(name, ...) name,
#include "gradus/tensor/table/optimizers.def"
};

// The coefficients of a row, in the type that its formula is computed in.
template <UpdateOp op, class T>
struct UpdateCoefficients;
#define OPTIMIZER(name, least, most, ...)        \
  template <class T>                             \
  struct UpdateCoefficients<UpdateOp::name, T> { \
    T __VA_ARGS__;                               \
  };
#include "gradus/tensor/table/optimizers.def"

template <UpdateOp op>
inline constexpr size_t coefficient_count = sizeof(UpdateCoefficients<op, char>);
inline constexpr size_t kMostCoefficients = std::max({
#define OPTIMIZER(name, ...) coefficient_count<UpdateOp::name>,
#include "gradus/tensor/table/optimizers.def"
});
inline constexpr size_t kMostStates = std::max<size_t>({
#define OPTIMIZER(name, least, most, ...) most,
#include "gradus/tensor/table/optimizers.def"
});

// The coefficients of any row, in their order.
using CoefficientList = std::array<double, kMostCoefficients>;

template <UpdateOp op>
CoefficientList list_of(const UpdateCoefficients<op, double>& coefficients) {
  const auto values = std::bit_cast<std::array<double, coefficient_count<op>>>(coefficients);
  CoefficientList out{};
  std::copy(values.begin(), values.end(), out.begin());
  return out;
}
// The coefficients in `numbers`, a list or an array.
template <UpdateOp op, class T, class Numbers>
GRADUS_HD UpdateCoefficients<op, T> coefficients_of(const Numbers& numbers) {
  struct {
    T at[coefficient_count<op>];
  } values;
  for (size_t i = 0; i < coefficient_count<op>; ++i) values.at[i] = static_cast<T>(numbers[i]);
  return __builtin_bit_cast(UpdateCoefficients<op, T>, values);
}

namespace detail {
template <int least, int most, class F>
void visit_count(int count, F&& f) {
  if constexpr (least < most)
    if (count > least) return visit_count<least + 1, most>(count, f);
  f(Constant<least>{});
}
}  // namespace detail

// Calls f(Constant<op>{}, Constant<states>{}). REQUIRES: the row takes so many states.
template <class F>
void visit_update(UpdateOp op, int states, F&& f) {
  switch (op) {
#define OPTIMIZER(name, least, most, ...)           \
  case UpdateOp::name:                              \
    return detail::visit_count<least, most>(states, \
                                            [&](auto n) { f(Constant<UpdateOp::name>{}, n); });
#include "gradus/tensor/table/optimizers.def"
  }
}

}  // namespace gradus
