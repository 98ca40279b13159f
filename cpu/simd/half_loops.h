// Conversions between float and float16, by the processor's own instructions where it has them:
// the same numbers as those of tensor/base/half.h, and NaN for NaN.
#pragma once

#include <cstdint>

#include "gradus/tensor/base/half.h"

namespace gradus::cpu {

void convert_run(int64_t n, const float* from, Half* to);
void convert_run(int64_t n, const Half* from, float* to);

}  // namespace gradus::cpu
