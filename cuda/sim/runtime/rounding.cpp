// Intrinsics with a direction of rounding, as __fadd_rn.
#include <sim/rounding.h>

#include <cfenv>
#include <cmath>

namespace gradus::cuda::sim {

namespace {

// The compiler moves no operation on what this gives, nor this itself, across other side effects.
template <class T>
T unknown(T x) {
  const volatile T hidden = x;
  return hidden;
}

// The result of f under another rounding mode of the CPU.
template <class Result, class F, class... Args>
Result rounded(Rounding to, const F& f, Args... args) {
  const int before = std::fegetround();
  std::fesetround(to == Rounding::zero ? FE_TOWARDZERO
                  : to == Rounding::up ? FE_UPWARD
                                       : FE_DOWNWARD);
  const Result result = unknown<Result>(f(unknown(args)...));
  std::fesetround(before);
  return result;
}

}  // namespace

template <class T>
T add(Rounding to, T x, T y) {
  return rounded<T>(
      to, [](T a, T b) { return a + b; }, x, y);
}
template <class T>
T multiply(Rounding to, T x, T y) {
  return rounded<T>(
      to, [](T a, T b) { return a * b; }, x, y);
}
template <class T>
T divide(Rounding to, T x, T y) {
  return rounded<T>(
      to, [](T a, T b) { return a / b; }, x, y);
}
template <class T>
T multiply_add(Rounding to, T x, T y, T z) {
  return rounded<T>(
      to, [](T a, T b, T c) { return std::fma(a, b, c); }, x, y, z);
}
template <class T>
T square_root(Rounding to, T x) {
  return rounded<T>(
      to, [](T a) { return std::sqrt(a); }, x);
}
template <class To, class From>
To convert(Rounding to, From x) {
  return rounded<To>(
      to, [](From a) { return static_cast<To>(a); }, x);
}

#define GRADUS_SIM_ARITHMETIC(type)                       \
  template type add(Rounding, type, type);                \
  template type multiply(Rounding, type, type);           \
  template type divide(Rounding, type, type);             \
  template type multiply_add(Rounding, type, type, type); \
  template type square_root(Rounding, type);
GRADUS_SIM_ARITHMETIC(float)
GRADUS_SIM_ARITHMETIC(double)
#undef GRADUS_SIM_ARITHMETIC
template float convert(Rounding, double);
template float convert(Rounding, int);
template float convert(Rounding, unsigned);
template float convert(Rounding, long long);
template float convert(Rounding, unsigned long long);
template double convert(Rounding, long long);
template double convert(Rounding, unsigned long long);

}  // namespace gradus::cuda::sim
