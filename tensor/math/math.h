// The elementary functions of the CPU. Largest errors in units of the last place, over all float32
// values and 10 million float64 values:
//
//   exp        0.85      log    0.79      sin   0.79      tanh      1.21
//   exp2       1.19      log2   0.73      cos   0.80      logistic  1.40
//   expm1      1.07      log10  0.66                      erf       1.36
//                        log1p  0.79
#pragma once

#include "gradus/tensor/math/erf.h"
#include "gradus/tensor/math/exp.h"
#include "gradus/tensor/math/log.h"
#include "gradus/tensor/math/trig.h"
