// The elementwise loops for one instruction set.
#include "gradus/cpu/simd/loops.h"

#include <optional>

#include "gradus/cpu/simd/set.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "gradus/tensor/math/convert.h"
#include "gradus/tensor/math/elementwise.h"
#include "gradus/tensor/math/rounding.h"
#include "gradus/tensor/table/choices.h"

namespace gradus::cpu::GRADUS_SET {

using scalar::Work;

constexpr bool is_near(Work work) {
  return work == Work::near_exp || work == Work::near_log || work == Work::near_turns ||
         work == Work::near_half_turn;
}
template <Work work, class T>
constexpr math::Range<T> range_of() {
  return work == Work::near_exp     ? math::kExpRange<T>
         : work == Work::near_log   ? math::kLogRange<T>
         : work == Work::near_turns ? math::kTrigRange<T>
                                    : math::kHalfTurnRange<T>;
}
template <Work work, class T>
GRADUS_TARGET bool all_near(int64_t n, const T* x) {
  constexpr math::Range<T> range = range_of<work, T>();
  math::Bits<T> farthest = 0;
#pragma omp simd reduction(max : farthest)
  for (int64_t i = 0; i < n; ++i) farthest = std::max(farthest, range.place(x[i]));
  return farthest <= range.span();
}

template <UnaryOp op, class T>
GRADUS_TARGET void map(int64_t n, void* to, const void* const* in) {
  using Row = scalar::Unary<op>;
  using R = std::conditional_t<Row::gives_bool, bool, T>;
  R* const out = static_cast<R*>(to);
  const T* const x = static_cast<const T*>(in[0]);
  if constexpr (is_near(Row::work) && std::is_floating_point_v<T>) {
    if (all_near<Row::work>(n, x)) {
#pragma omp simd
      for (int64_t i = 0; i < n; ++i) out[i] = Row::f(math::Near<T>(x[i])).value;
      return;
    }
  }
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) out[i] = Row::f(x[i]);
}

template <UnaryOp op, class T>
GRADUS_TARGET void map_grad(int64_t n, void* to, const void* const* in) {
  using Row = scalar::Unary<op>;
  T* const out = static_cast<T*>(to);
  const T* const grad = static_cast<const T*>(in[0]);
  const T* const x = static_cast<const T*>(in[1]);
  const T* const y = static_cast<const T*>(in[2]);
  if constexpr (Row::work == Work::near_turns && scalar::derivative_uses<op> == scalar::kUsesX) {
    using Near = math::Near<T>;
    if (all_near<Row::work>(n, x)) {
#pragma omp simd
      for (int64_t i = 0; i < n; ++i)
        out[i] = grad[i] * Row::derivative(Near(x[i]), Near(y[i])).value;
      return;
    }
  }
#pragma omp simd
  for (int64_t i = 0; i < n; ++i)
    out[i] = times_slope<op>(grad[i], static_cast<T>(Row::derivative(x[i], y[i])));
}

template <class T>
GRADUS_TARGET bool all_divide_near(int64_t n, const T* x, const T* y) {
  math::Bits<T> farthest = 0;
#pragma omp simd reduction(max : farthest)
  for (int64_t i = 0; i < n; ++i)
    farthest = std::max(farthest, math::place_of_quotient(x[i], y[i]));
  return farthest <= math::bits_of(math::kQuotientLimit<T>);
}

template <BinaryOp op, class T>
GRADUS_TARGET void zip(int64_t n, void* to, const void* const* in) {
  using Row = scalar::Binary<op>;
  using R = std::conditional_t<Row::gives_bool, bool, T>;
  R* const out = static_cast<R*>(to);
  const T* const x = static_cast<const T*>(in[0]);
  const T* const y = static_cast<const T*>(in[1]);
  if constexpr (math::kFused && Row::work == Work::near_quotient && std::is_floating_point_v<T>) {
    using Near = math::Near<T>;
    if (all_divide_near(n, x, y)) {
#pragma omp simd
      for (int64_t i = 0; i < n; ++i) out[i] = Row::f(Near(x[i]), Near(y[i])).value;
      return;
    }
  }
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) out[i] = Row::f(x[i], y[i]);
}

// zip where input `which` is one number.
template <BinaryOp op, class T, int which>
GRADUS_TARGET void zip_number(int64_t n, void* to, const void* const* in) {
  using Row = scalar::Binary<op>;
  using R = std::conditional_t<Row::gives_bool, bool, T>;
  R* const out = static_cast<R*>(to);
  const T* const x = static_cast<const T*>(in[1 - which]);
  const T number = *static_cast<const T*>(in[which]);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) out[i] = which == 0 ? Row::f(number, x[i]) : Row::f(x[i], number);
}

template <TernaryOp op, class T>
GRADUS_TARGET void ternary(int64_t n, void* to, const void* const* in) {
  T* const out = static_cast<T*>(to);
  const T* const x = static_cast<const T*>(in[0]);
  const T* const y = static_cast<const T*>(in[1]);
  const T* const z = static_cast<const T*>(in[2]);
  const T w = *static_cast<const T*>(in[3]);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) out[i] = scalar::Ternary<op>::f(x[i], y[i], z[i], w);
}

// The type that a loop reads T as: the compiler makes no vector code of bool.
template <class T>
using Read = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;

#if GRADUS_VECTOR > 16
// Converts the whole vectors among n elements between float and float16, by instructions that give
// what tensor/base/half.h does, and NaN for NaN. Returns how many elements they have.
GRADUS_TARGET inline int64_t convert_vectors(int64_t n, const float* x, Half* out) {
  constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT;
  int64_t i = 0;
#if GRADUS_VECTOR == 64
  for (; i + 16 <= n; i += 16)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i),
                        _mm512_maskz_cvtps_ph(0xFFFF, _mm512_loadu_ps(x + i), kNearest));
#endif
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(x + i), kNearest));
  return i;
}
GRADUS_TARGET inline int64_t convert_vectors(int64_t n, const Half* x, float* out) {
  int64_t i = 0;
#if GRADUS_VECTOR == 64
  for (; i + 16 <= n; i += 16) {
    const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i));
    _mm512_storeu_ps(out + i, _mm512_maskz_cvtph_ps(0xFFFF, halves));
  }
#endif
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(out + i,
                     _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i))));
  return i;
}
#endif
template <class From, class To>
GRADUS_TARGET int64_t convert_vectors(int64_t, const From*, To*) {
  return 0;
}

template <class From, class To>
GRADUS_TARGET void convert_all(int64_t n, void* to, const void* const* in) {
  To* const out = static_cast<To*>(to);
  const Read<From>* const x = static_cast<const Read<From>*>(in[0]);
#pragma omp simd
  for (int64_t i = convert_vectors(n, x, out); i < n; ++i) out[i] = convert<To>(x[i]);
}

template <class T>
GRADUS_TARGET void repeat(int64_t n, void* to, const void* const* in) {
  T* const out = static_cast<T*>(to);
  const T number = *static_cast<const T*>(in[0]);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) out[i] = number;
}

template <class T>
GRADUS_TARGET void arange(int64_t n, void* to, const void* const* in) {
  using Wide = std::conditional_t<std::is_floating_point_v<T>, double, T>;
  T* const out = static_cast<T*>(to);
  const int64_t first = *static_cast<const int64_t*>(in[0]);
  const Wide start = *static_cast<const Wide*>(in[1]), step = *static_cast<const Wide*>(in[2]);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i)
    out[i] = static_cast<T>(multiply_then_add(static_cast<Wide>(first + i), step, start));
}

// own_loop: the loop that a set has in place of map<op, float>; own_grad_loop: of map_grad<op,
// float>. An optional, since GCC takes no address of a function for a constant that compares
// unequal to null while it sanitizes.
#if GRADUS_VECTOR == 64
}  // namespace gradus::cpu::GRADUS_SET
#include "gradus/cpu/simd/loops_avx512.inc"
namespace gradus::cpu::GRADUS_SET {
#elif GRADUS_VECTOR == 32
// Two loops, which together take 0.73 of the time of one while x is in a cache. A processor works
// on the next vectors while it waits for a vector's chain of instructions, and on more of them if
// the chain is short.
GRADUS_TARGET inline void sigmoids(int64_t n, void* to, const void* const* in) {
  const float* const x = static_cast<const float*>(in[0]);
  if (!all_near<Work::near_exp>(n, x)) return map<UnaryOp::sigmoid, float>(n, to, in);
  float* const out = static_cast<float*>(to);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) out[i] = math::exp(math::Near<float>(-x[i])).value;
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) out[i] = math::logistic_of_power(out[i]);
}
constexpr std::optional<Loop> own_loop(UnaryOp op) {
  return op == UnaryOp::sigmoid ? std::optional<Loop>(sigmoids) : std::nullopt;
}
#else
constexpr std::optional<Loop> own_loop(UnaryOp) { return std::nullopt; }
#endif
#if GRADUS_VECTOR != 64
constexpr std::optional<Loop> own_grad_loop(UnaryOp) { return std::nullopt; }
#endif

// Whether this set has a loop of a row on T.
template <class Row, class T>
constexpr bool has_loop() {
  if constexpr (HalfType<T>)
    return false;
  else if constexpr (std::is_same_v<T, bool>)
    return (Row::ints == scalar::Ints::any || Row::ints == scalar::Ints::bits) &&
           Row::work == Work::bits;
  else if constexpr (std::is_integral_v<T> && sizeof(T) < sizeof(int64_t))
    return Row::integers && Row::work <= Work::narrow;
  else
    return (std::is_integral_v<T> ? Row::integers : Row::reals) &&
           (GRADUS_COMPLETE || Row::work != Work::scalar);
}
template <UnaryOp op, class T>
constexpr Loop loop_of_map() {
  if constexpr (std::is_same_v<T, float> && own_loop(op).has_value())
    return *own_loop(op);
  else if constexpr (has_loop<scalar::Unary<op>, T>())
    return map<op, Read<T>>;
  else
    return nullptr;
}
template <UnaryOp op, class T>
constexpr Loop loop_of_map_grad() {
  if constexpr (std::is_same_v<T, float> && own_grad_loop(op).has_value())
    return *own_grad_loop(op);
  else if constexpr (std::is_floating_point_v<T> && has_loop<scalar::Unary<op>, T>())
    return map_grad<op, T>;
  else
    return nullptr;
}
template <BinaryOp op, class T>
constexpr Loop loop_of_zip() {
  if constexpr (has_loop<scalar::Binary<op>, T>())
    return zip<op, Read<T>>;
  else
    return nullptr;
}
// Where reading a number as often as the other operand takes a good part of the time.
template <BinaryOp op, class T, int which>
constexpr Loop loop_of_zip_number() {
  if constexpr (std::is_floating_point_v<T> && has_loop<scalar::Binary<op>, T>() &&
                scalar::Binary<op>::work <= Work::cheap)
    return zip_number<op, T, which>;
  else
    return nullptr;
}
template <TernaryOp op, class T>
constexpr Loop loop_of_ternary() {
  if constexpr (has_loop<scalar::Ternary<op>, T>())
    return ternary<op, Read<T>>;
  else
    return nullptr;
}

template <class From, class To>
constexpr Loop loop_of_convert() {
  if constexpr (converts_at_once(dtype_of<From>, dtype_of<To>) && !std::is_same_v<From, To>)
    return convert_all<From, To>;
  else
    return nullptr;
}

template <class T>
constexpr Loop loop_of_arange() {
  if constexpr (dtype_of<T> != computed_type(dtype_of<T>))
    return nullptr;
  else
    return arange<T>;
}

template <class T>
constexpr Loops make_loops() {
  return {{
#define UNARY(name, ...) loop_of_map<UnaryOp::name, T>(),
#define PREDICATE(name, ...) UNARY(name)
#include "gradus/tensor/table/elementwise.def"
          },
          {
#define UNARY(name, ...) loop_of_map_grad<UnaryOp::name, T>(),
#define PREDICATE(...) nullptr,
#include "gradus/tensor/table/elementwise.def"
          },
          {
#define BINARY(name, ...) loop_of_zip<BinaryOp::name, T>(),
#define INTEGER(name, ...) BINARY(name)
#define COMPARISON(name, ...) BINARY(name)
#include "gradus/tensor/table/elementwise.def"
          },
          {
#define TERNARY(name, ...) loop_of_ternary<TernaryOp::name, T>(),
#include "gradus/tensor/table/ternary.def"
          },
          {
#define DTYPE(name, type, ...) loop_of_convert<T, type>(),
#include "gradus/tensor/base/dtypes.def"
#undef DTYPE
          },
          {{
#define BINARY(name, ...) loop_of_zip_number<BinaryOp::name, T, 0>(),
#define INTEGER(name, ...) BINARY(name)
#define COMPARISON(name, ...) BINARY(name)
#include "gradus/tensor/table/elementwise.def"
           },
           {
#define BINARY(name, ...) loop_of_zip_number<BinaryOp::name, T, 1>(),
#define INTEGER(name, ...) BINARY(name)
#define COMPARISON(name, ...) BINARY(name)
#include "gradus/tensor/table/elementwise.def"
           }},
          repeat<T>,
          loop_of_arange<T>()};
}

constexpr LoopTable make_table() {
  return {{
#define DTYPE(name, type, ...) make_loops<type>(),
#include "gradus/tensor/base/dtypes.def"
#undef DTYPE
  }};
}

}  // namespace gradus::cpu::GRADUS_SET

namespace gradus::cpu {

const LoopTable& LoopTable::GRADUS_SET() {
  static constexpr LoopTable table = cpu::GRADUS_SET::make_table();
  return table;
}

}  // namespace gradus::cpu
