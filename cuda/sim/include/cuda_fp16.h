// CUDA's half: 5 bits of exponent, 10 of mantissa.
#pragma once

#include <sim/float16_names.h>

using __half = gradus::cuda::sim::Float16<5>;
using __half2 = gradus::cuda::sim::Float16x2<5>;
using __half_raw = __half::Raw;
using half = __half;
using half2 = __half2;

GRADUS_FLOAT16_NAMES(half, __half, __half2)
