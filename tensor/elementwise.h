// The rows of elementwise.def and reductions.def as functions on numbers, for host and device.
// Kernels include this; nobody else needs it.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "gradus/tensor/host_device.h"
#include "gradus/tensor/math/math.h"
#include "gradus/tensor/ops.h"

namespace gradus::scalar::inline GRADUS_VARIANT {

using std::acos, std::acosh, std::asin, std::asinh, std::atan, std::atan2, std::atanh, std::cosh,
    std::erfc, std::hypot, std::sinh, std::sqrt, std::tan;

// A GPU has functions of its own; those of the host become vector code.
#ifdef __CUDA_ARCH__
using std::cos, std::erf, std::exp, std::exp2, std::expm1, std::log, std::log10, std::log1p,
    std::log2, std::sin, std::tanh;
template <class T>
GRADUS_HD T logistic(T x) {
  return 1 / (1 + exp(-x));
}
template <class T>
GRADUS_HD T normal_share(T x) {
  return T(0.5) * (1 + erf(x * T(0.7071067811865476)));
}
#else
using math::cos, math::erf, math::exp, math::exp2, math::expm1, math::log, math::log10, math::log1p,
    math::log2, math::logistic, math::normal_share, math::sin, math::tanh;
#endif
using math::Number;

// NaN in either operand gives NaN, as in PyTorch.
template <class T>
GRADUS_HD constexpr T max(T a, T b) {
  return a > b || a != a ? a : b;
}
template <class T>
GRADUS_HD constexpr T min(T a, T b) {
  return a < b || a != a ? a : b;
}

template <class T>
GRADUS_HD T magnitude(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return std::fabs(x);
  else
    return x < 0 ? -x : x;
}

// Integers: by squaring; a negative exponent gives 0, or +-1 where x is +-1.
template <class T>
GRADUS_HD T power(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::pow(x, y);
  } else {
    if (y < 0) return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
    // Unsigned, where a product that does not fit wraps around instead of being undefined.
    using Unsigned = std::make_unsigned_t<T>;
    Unsigned result = 1;
    for (auto base = static_cast<Unsigned>(x); y > 0; y >>= 1, base *= base)
      if (y & 1) result *= base;
    return static_cast<T>(result);
  }
}

enum class Rounding { down, up, to_zero, to_even };
template <Rounding mode, class T>
GRADUS_HD T round_by(T x) {
  if constexpr (!std::is_floating_point_v<T>)
    return x;
  else if constexpr (mode == Rounding::down)
    return std::floor(x);
  else if constexpr (mode == Rounding::up)
    return std::ceil(x);
  else if constexpr (mode == Rounding::to_zero)
    return std::trunc(x);
  else
    return std::nearbyint(x);
}

// Without overflow, and exact where the result is close to 0.
template <class T>
GRADUS_HD T log_of_sigmoid(T x) {
  return min(x, T(0)) - log1p(exp(-magnitude(x)));
}
template <class T>
GRADUS_HD T log_add(T x, T y) {
  return x == y ? x + T(0.6931471805599453)  // infinities too
                : max(x, y) + log1p(exp(-magnitude(x - y)));
}

template <class T>
GRADUS_HD T product_log(T x, T y) {
  return x == 0 && y == y ? T(0) : x * log(y);
}

// Variables, since device code may read a constant where it may not call numeric_limits.
template <class T, class Limits = std::numeric_limits<T>>
inline constexpr T least_value = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
template <class T, class Limits = std::numeric_limits<T>>
inline constexpr T greatest_value = Limits::has_infinity ? Limits::infinity() : Limits::max();
template <class T>
GRADUS_HD constexpr T least() {
  return least_value<T>;
}
template <class T>
GRADUS_HD constexpr T greatest() {
  return greatest_value<T>;
}

// Rows may use one another on numbers: sigmoid(x) in the derivative of another row.
#define UNARY(name, ...) \
  template <Number T>    \
  GRADUS_HD T name(T x);
#define BINARY(name, ...) \
  template <Number T>     \
  GRADUS_HD T name(T x, T y);
#include "gradus/tensor/elementwise.def"

// Stands for x, y or z in a derivative to learn, at compile time, which of them it reads; autograd
// saves those alone.
struct Uses {
  unsigned mask = 0;
};
enum : unsigned { kUsesX = 1, kUsesY = 2, kUsesZ = 4 };

template <class T>
GRADUS_HD constexpr unsigned uses(const T& value) {
  if constexpr (std::is_same_v<T, Uses>)
    return value.mask;
  else
    return 0;
}
template <class A, class B>
concept AnyUses = std::is_same_v<A, Uses> || std::is_same_v<B, Uses>;
GRADUS_HD constexpr Uses operator-(Uses a) { return a; }
#define GRADUS_USES_OPERATOR(op)                                          \
  template <class A, class B>                                             \
  requires AnyUses<A, B> GRADUS_HD constexpr Uses operator op(A a, B b) { \
    return {uses(a) | uses(b)};                                           \
  }
GRADUS_USES_OPERATOR(+)
GRADUS_USES_OPERATOR(-)
GRADUS_USES_OPERATOR(*)
GRADUS_USES_OPERATOR(/)
GRADUS_USES_OPERATOR(==)
#undef GRADUS_USES_OPERATOR
#define UNARY(name, ...) \
  GRADUS_HD constexpr Uses name(Uses a) { return a; }
#define BINARY(name, ...)     \
  template <class A, class B> \
  requires AnyUses<A, B> GRADUS_HD constexpr Uses name(A a, B b) { return {uses(a) | uses(b)}; }
#include "gradus/tensor/elementwise.def"

// The type of a constant R(0.5) in a row, so that no float kernel computes in double.
template <class T>
using Real = std::conditional_t<std::is_floating_point_v<T>, T, double>;

enum class Ints : uint8_t { same, real, none };

template <UnaryOp>
struct Unary;
#define UNARY(name_, doc_, ints_, lo_, hi_, f_, df_, px_, py_)                          \
  template <>                                                                           \
  struct Unary<UnaryOp::name_> {                                                        \
    static constexpr const char *name = #name_, *doc = doc_, *formula = #f_,            \
                                *slope_formula = #df_;                                  \
    static constexpr Ints ints = Ints::ints_;                                           \
    static constexpr double lo = lo_, hi = hi_, point_x = px_, point_y = py_;           \
    template <class T>                                                                  \
    GRADUS_HD static T f(T x) {                                                         \
      return static_cast<T>(f_);                                                        \
    }                                                                                   \
    template <class T>                                                                  \
    GRADUS_HD static constexpr auto slope([[maybe_unused]] T x, [[maybe_unused]] T y) { \
      using R [[maybe_unused]] = Real<T>;                                               \
      return df_;                                                                       \
    }                                                                                   \
  };

template <BinaryOp>
struct Binary;
#define BINARY(name_, doc_, ints_, xlo_, xhi_, ylo_, yhi_, f_, dx_, dy_, px_, py_, pz_)          \
  template <>                                                                                    \
  struct Binary<BinaryOp::name_> {                                                               \
    static constexpr const char *name = #name_, *doc = doc_, *formula = #f_, *dx_formula = #dx_, \
                                *dy_formula = #dy_;                                              \
    static constexpr Ints ints = Ints::ints_;                                                    \
    static constexpr bool compares = false;                                                      \
    static constexpr double x_lo = xlo_, x_hi = xhi_, y_lo = ylo_, y_hi = yhi_;                  \
    static constexpr double point_x = px_, point_y = py_, point_z = pz_;                         \
    template <class T>                                                                           \
    GRADUS_HD static T f(T x, T y) {                                                             \
      return static_cast<T>(f_);                                                                 \
    }                                                                                            \
    template <class X, class Y, class Z>                                                         \
    static constexpr auto dx([[maybe_unused]] const X& x, [[maybe_unused]] const Y& y,           \
                             [[maybe_unused]] const Z& z) {                                      \
      using R [[maybe_unused]] = Real<X>;                                                        \
      return dx_;                                                                                \
    }                                                                                            \
    template <class X, class Y, class Z>                                                         \
    static constexpr auto dy([[maybe_unused]] const X& x, [[maybe_unused]] const Y& y,           \
                             [[maybe_unused]] const Z& z) {                                      \
      using R [[maybe_unused]] = Real<X>;                                                        \
      return dy_;                                                                                \
    }                                                                                            \
  };
#define COMPARISON(name_, doc_, f_)                          \
  template <>                                                \
  struct Binary<BinaryOp::name_> {                           \
    static constexpr const char *name = #name_, *doc = doc_; \
    static constexpr Ints ints = Ints::same;                 \
    static constexpr bool compares = true;                   \
    template <class T>                                       \
    GRADUS_HD static bool f(T x, T y) {                      \
      return f_;                                             \
    }                                                        \
  };
#include "gradus/tensor/elementwise.def"

// What the derivatives read: kUsesX | kUsesY | kUsesZ.
template <UnaryOp op>
inline constexpr unsigned slope_uses = uses(Unary<op>::slope(Uses{kUsesX}, Uses{kUsesY}));
template <BinaryOp op>
inline constexpr unsigned dx_uses = uses(Binary<op>::dx(Uses{kUsesX}, Uses{kUsesY}, Uses{kUsesZ}));
template <BinaryOp op>
inline constexpr unsigned dy_uses = uses(Binary<op>::dy(Uses{kUsesX}, Uses{kUsesY}, Uses{kUsesZ}));

template <ReduceOp>
struct Reduction;
#define REDUCTION(name_, doc_, start_, combine_, finish_)        \
  template <>                                                    \
  struct Reduction<ReduceOp::name_> {                            \
    static constexpr const char *name = #name_, *doc = doc_;     \
    template <class T>                                           \
    GRADUS_HD static constexpr T start() {                       \
      return start_;                                             \
    }                                                            \
    template <class T>                                           \
    GRADUS_HD static T combine(T a, T b) {                       \
      return combine_;                                           \
    }                                                            \
    template <class T>                                           \
    GRADUS_HD static T finish(T s, [[maybe_unused]] int64_t n) { \
      return finish_;                                            \
    }                                                            \
  };
#include "gradus/tensor/reductions.def"

#define UNARY(name, ...)               \
  template <Number T>                  \
  GRADUS_HD T name(T x) {              \
    return Unary<UnaryOp::name>::f(x); \
  }
#define BINARY(name, ...)                   \
  template <Number T>                       \
  GRADUS_HD T name(T x, T y) {              \
    return Binary<BinaryOp::name>::f(x, y); \
  }
#include "gradus/tensor/elementwise.def"

}  // namespace gradus::scalar::inline GRADUS_VARIANT
