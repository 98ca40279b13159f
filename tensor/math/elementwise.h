// The rows of elementwise.def, ternary.def, reductions.def and scans.def as functions on numbers,
// for host and device. Kernels include this; nobody else needs it.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "gradus/tensor/base/host_device.h"
#include "gradus/tensor/math/scalar_functions.h"
#include "gradus/tensor/math/special.h"
#include "gradus/tensor/table/ops.h"

namespace gradus::scalar {
inline namespace GRADUS_VARIANT {

using math::Number;
using std::copysign, std::sqrt;

// Rows may use one another on numbers: sigmoid(x) in the derivative of another row. exp(x) in the
// row of exp must not mean the function of that row, which is declared here and would call itself.
// On the host math::exp takes a Real, a concept made of Number, and so is the more constrained of
// the two; on a device ::exp is no template. A function that a row calls by the row's own name must
// be so, too.
#define UNARY(name, ...) \
  template <Number T>    \
  GRADUS_HD T name(T x);
#define BINARY(name, ...) \
  template <Number T>     \
  GRADUS_HD T name(T x, T y);
#include "gradus/tensor/table/elementwise.def"

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
GRADUS_HD constexpr Uses underivable(const char*, Uses a) { return a; }
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
GRADUS_USES_OPERATOR(!=)
GRADUS_USES_OPERATOR(<)
GRADUS_USES_OPERATOR(<=)
GRADUS_USES_OPERATOR(>=)
#undef GRADUS_USES_OPERATOR
#define UNARY(name, ...) \
  GRADUS_HD constexpr Uses name(Uses a) { return a; }
#define BINARY(name, ...)     \
  template <class A, class B> \
  requires AnyUses<A, B> GRADUS_HD constexpr Uses name(A a, B b) { return {uses(a) | uses(b)}; }
#include "gradus/tensor/table/elementwise.def"

// The type of a constant R(0.5) in a row, so that no float kernel computes in double.
template <class T>
using Real = std::conditional_t<std::is_floating_point_v<T>, T, double>;

// The treatment of integers and bool, as elementwise.def says.
enum class Ints : uint8_t { any, same, real, none, only, bits };
enum class Complex : uint8_t { no, yes };
// The types that a row is computed in.
template <Ints kind, Complex complex = Complex::no>
struct Computed {
  static constexpr bool complex_numbers = complex == Complex::yes;
  static constexpr Ints ints = kind;
  static constexpr bool integers = kind != Ints::real && kind != Ints::none;
  static constexpr bool reals = kind != Ints::only && kind != Ints::bits;
};

// The work that an element takes on the CPU, as elementwise.def says.
enum class Work : uint8_t {
  bits,            // cheap; also computed in bool, and in integers of 8 to 32 bits
  narrow,          // cheap; also computed in integers of 8 to 32 bits
  cheap,           // a few instructions
  formula,         // a function of tensor/math/
  near_exp,        // one that is shorter within math::kExpRange,
  near_log,        // math::kLogRange,
  near_turns,      // math::kTrigRange,
  near_half_turn,  // math::kHalfTurnRange,
  near_quotient,   // or for small quotients
  scalar,          // what no vector instruction makes faster
};
// The names of PyTorch's nodes: for tensors, with a number on the right, with one on the left. Null
// where the name is made of the row's.
struct NodeNames {
  const char *tensors = nullptr, *number_right = nullptr, *number_left = nullptr;
};

template <UnaryOp>
struct Unary;
#define UNARY(name_, doc_, ints_, complex_, lo_, hi_, f_, df_, px_, py_, work_, ...)         \
  template <>                                                                                \
  struct Unary<UnaryOp::name_> : Computed<Ints::ints_, Complex::complex_> {                  \
    static constexpr const char *name = #name_, *doc = doc_, *formula = #f_,                 \
                                *derivative_formula = #df_;                                  \
    static constexpr bool gives_bool = false;                                                \
    static constexpr double lo = lo_, hi = hi_, point_x = px_, point_y = py_;                \
    static constexpr Work work = Work::work_;                                                \
    static constexpr NodeNames nodes = {__VA_ARGS__};                                        \
    template <class T>                                                                       \
    GRADUS_HD static T f(T x) {                                                              \
      return static_cast<T>(f_);                                                             \
    }                                                                                        \
    template <class T>                                                                       \
    GRADUS_HD static constexpr auto derivative([[maybe_unused]] T x, [[maybe_unused]] T y) { \
      using R [[maybe_unused]] = Real<T>;                                                    \
      return df_;                                                                            \
    }                                                                                        \
  };
#define PREDICATE(name_, doc_, complex_, f_)                              \
  template <>                                                             \
  struct Unary<UnaryOp::name_> : Computed<Ints::any, Complex::complex_> { \
    static constexpr const char *name = #name_, *doc = doc_;              \
    static constexpr bool gives_bool = true;                              \
    static constexpr Work work = Work::cheap;                             \
    template <class T>                                                    \
    GRADUS_HD static bool f(T x) {                                        \
      return f_;                                                          \
    }                                                                     \
  };
#include "gradus/tensor/table/elementwise.def"

template <BinaryOp>
struct Binary;
#define BINARY(name_, doc_, ints_, complex_, xlo_, xhi_, ylo_, yhi_, f_, dx_, dy_, px_, py_, pz_, \
               work_, ...)                                                                        \
  template <>                                                                                     \
  struct Binary<BinaryOp::name_> : Computed<Ints::ints_, Complex::complex_> {                     \
    static constexpr const char *name = #name_, *doc = doc_, *formula = #f_, *dx_formula = #dx_,  \
                                *dy_formula = #dy_;                                               \
    static constexpr bool gives_bool = false;                                                     \
    static constexpr double x_lo = xlo_, x_hi = xhi_, y_lo = ylo_, y_hi = yhi_;                   \
    static constexpr double point_x = px_, point_y = py_, point_z = pz_;                          \
    static constexpr Work work = Work::work_;                                                     \
    static constexpr NodeNames nodes = {__VA_ARGS__};                                             \
    template <class T>                                                                            \
    GRADUS_HD static T f(T x, T y) {                                                              \
      return static_cast<T>(f_);                                                                  \
    }                                                                                             \
    template <class X, class Y, class Z>                                                          \
    static constexpr auto dx([[maybe_unused]] const X& x, [[maybe_unused]] const Y& y,            \
                             [[maybe_unused]] const Z& z) {                                       \
      using R [[maybe_unused]] = Real<X>;                                                         \
      return dx_;                                                                                 \
    }                                                                                             \
    template <class X, class Y, class Z>                                                          \
    static constexpr auto dy([[maybe_unused]] const X& x, [[maybe_unused]] const Y& y,            \
                             [[maybe_unused]] const Z& z) {                                       \
      using R [[maybe_unused]] = Real<X>;                                                         \
      return dy_;                                                                                 \
    }                                                                                             \
  };
#define COMPARISON(name_, doc_, complex_, f_)                               \
  template <>                                                               \
  struct Binary<BinaryOp::name_> : Computed<Ints::any, Complex::complex_> { \
    static constexpr const char *name = #name_, *doc = doc_;                \
    static constexpr bool gives_bool = true;                                \
    static constexpr Work work = Work::bits;                                \
    template <class T>                                                      \
    GRADUS_HD static bool f(T x, T y) {                                     \
      return f_;                                                            \
    }                                                                       \
  };
#define INTEGER(name_, doc_, ints_, f_, px_, py_, pz_, work_)             \
  template <>                                                             \
  struct Binary<BinaryOp::name_> : Computed<Ints::ints_> {                \
    static constexpr const char *name = #name_, *doc = doc_;              \
    static constexpr bool gives_bool = false;                             \
    static constexpr int64_t point_x = px_, point_y = py_, point_z = pz_; \
    static constexpr Work work = Work::work_;                             \
    template <class T>                                                    \
    GRADUS_HD static T f(T x, T y) {                                      \
      return static_cast<T>(f_);                                          \
    }                                                                     \
  };
#include "gradus/tensor/table/elementwise.def"

template <TernaryOp>
struct Ternary;
#define TERNARY(name_, doc_, ints_, ylo_, yhi_, zlo_, zhi_, f_, px_, py_, pz_, pf_, work_) \
  template <>                                                                              \
  struct Ternary<TernaryOp::name_> : Computed<Ints::ints_> {                               \
    static constexpr const char *name = #name_, *doc = doc_;                               \
    static constexpr double y_lo = ylo_, y_hi = yhi_, z_lo = zlo_, z_hi = zhi_;            \
    static constexpr double point_x = px_, point_y = py_, point_z = pz_, value = pf_;      \
    static constexpr Work work = Work::work_;                                              \
    template <class T>                                                                     \
    GRADUS_HD static T f(T x, T y, [[maybe_unused]] T z, [[maybe_unused]] T w = T(1)) {    \
      return static_cast<T>(f_);                                                           \
    }                                                                                      \
  };
#include "gradus/tensor/table/ternary.def"

// The values that the derivatives read: kUsesX | kUsesY | kUsesZ.
template <UnaryOp op>
inline constexpr unsigned derivative_uses = uses(Unary<op>::derivative(Uses{kUsesX}, Uses{kUsesY}));
template <BinaryOp op>
inline constexpr unsigned dx_uses = uses(Binary<op>::dx(Uses{kUsesX}, Uses{kUsesY}, Uses{kUsesZ}));
template <BinaryOp op>
inline constexpr unsigned dy_uses = uses(Binary<op>::dy(Uses{kUsesX}, Uses{kUsesY}, Uses{kUsesZ}));

template <ReduceOp>
struct Reduction;
#define REDUCTION(name_, doc_, start_, enter_, combine_, finish_) \
  template <>                                                     \
  struct Reduction<ReduceOp::name_> {                             \
    static constexpr ReduceOp op = ReduceOp::name_;               \
    static constexpr const char *name = #name_, *doc = doc_;      \
    template <class T>                                            \
    GRADUS_HD static constexpr T start() {                        \
      return start_;                                              \
    }                                                             \
    template <class T>                                            \
    GRADUS_HD static T enter(T x) {                               \
      return enter_;                                              \
    }                                                             \
    template <class T>                                            \
    GRADUS_HD static T combine(T a, T b) {                        \
      return combine_;                                            \
    }                                                             \
    template <class T>                                            \
    GRADUS_HD static T finish(T s, [[maybe_unused]] int64_t n) {  \
      return finish_;                                             \
    }                                                             \
  };
#include "gradus/tensor/table/reductions.def"
// The row that folds what a row has made of parts.
constexpr ReduceOp of_parts(ReduceOp op) {
  const bool sums = op == ReduceOp::nansum || op == ReduceOp::norm1 || op == ReduceOp::norm2;
  return sums ? ReduceOp::sum : op;
}
// Whether a row folds integers, too.
constexpr bool folds_integers(ReduceOp op) { return op != ReduceOp::mean && of_parts(op) == op; }

template <ScanOp>
struct Scan;
#define SCAN(name_, doc_, start_, combine_)                  \
  template <>                                                \
  struct Scan<ScanOp::name_> {                               \
    static constexpr const char *name = #name_, *doc = doc_; \
    template <class T>                                       \
    GRADUS_HD static constexpr T start() {                   \
      return start_;                                         \
    }                                                        \
    template <class T>                                       \
    GRADUS_HD static T combine(T a, T b) {                   \
      return combine_;                                       \
    }                                                        \
  };
#include "gradus/tensor/table/scans.def"

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
#include "gradus/tensor/table/elementwise.def"

}  // namespace GRADUS_VARIANT
}  // namespace gradus::scalar
