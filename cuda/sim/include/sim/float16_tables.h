// The common part of float16.h and float16x2.h: tables of operators and of CUDA's names.
#pragma once

#define GRADUS_FLOAT16_OPERATORS(ROW) ROW(+) ROW(-) ROW(*) ROW(/)
#define GRADUS_FLOAT16_RELATIONS(ROW) ROW(==) ROW(!=) ROW(<) ROW(<=) ROW(>) ROW(>=)
#define GRADUS_FLOAT16_ARITHMETIC(ROW) ROW(add, +) ROW(sub, -) ROW(mul, *)

// Comparisons of x and y; the names that end in u also hold where one of them is NaN.
#define GRADUS_FLOAT16_COMPARISONS(ROW) \
  ROW(eq, x == y)                       \
  ROW(ne, x<y || x> y)                  \
  ROW(lt, x < y)                        \
  ROW(le, x <= y)                       \
  ROW(gt, x > y)                        \
  ROW(ge, x >= y)                       \
  ROW(equ, !(x < y || x > y))           \
  ROW(neu, !(x == y))                   \
  ROW(ltu, !(x >= y))                   \
  ROW(leu, !(x > y))                    \
  ROW(gtu, !(x <= y))                   \
  ROW(geu, !(x < y))

// Functions of the double x. CUDA allows its own an error of an ulp or two; these are rounded well.
#define GRADUS_FLOAT16_FUNCTIONS(ROW) \
  ROW(ceil, ::ceil(x))                \
  ROW(cos, ::cos(x))                  \
  ROW(exp, ::exp(x))                  \
  ROW(exp10, ::exp10(x))              \
  ROW(exp2, ::exp2(x))                \
  ROW(floor, ::floor(x))              \
  ROW(log, ::log(x))                  \
  ROW(log10, ::log10(x))              \
  ROW(log2, ::log2(x))                \
  ROW(rcp, 1 / x)                     \
  ROW(rint, ::rint(x))                \
  ROW(rsqrt, 1 / ::sqrt(x))           \
  ROW(sin, ::sin(x))                  \
  ROW(sqrt, ::sqrt(x))                \
  ROW(tanh, ::tanh(x))                \
  ROW(tanh_approx, ::tanh(x))         \
  ROW(trunc, ::trunc(x))
