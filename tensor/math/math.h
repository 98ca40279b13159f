// The elementary functions of the CPU, on float and double: subnormal numbers, infinities, NaN, the
// sign of 0 and arguments of any size are as they should be. Largest errors, in units of the last
// place, which tests/cpu/math_test.cpp holds them to:
//
//   exp    1.05    log    0.9     sin    0.85    asin   1.2     sinh   1.4     tanh      1.35
//   exp2   1.25    log2   0.9     cos    0.85    acos   1.2     cosh   1.4     erf       1.5
//   expm1  1.25    log10  0.8     tan    1.1     atan   1.4     asinh  1.3     erfc      1.4
//   pow    1       log1p  0.9     hypot  0.7     atan2  1.35    acosh  0.9     logistic  1.6
//                                                               atanh  1.3     erfinv    2.6
//
// erfinv keeps what its logarithm loses. fmod and nextafter are exact.
//
// cpu/simd/formulas_avx512.inc has some of them in other ways, with the same bounds.
//
// The coefficients are those of minimax polynomials, found by the exchange of Remez.
#pragma once

#include "gradus/tensor/math/atan.h"
#include "gradus/tensor/math/erf.h"
#include "gradus/tensor/math/erfc.h"
#include "gradus/tensor/math/exp.h"
#include "gradus/tensor/math/hyperbolic.h"
#include "gradus/tensor/math/hypot.h"
#include "gradus/tensor/math/lgamma.h"
#include "gradus/tensor/math/log.h"
#include "gradus/tensor/math/pow.h"
#include "gradus/tensor/math/rest.h"
#include "gradus/tensor/math/trig.h"
