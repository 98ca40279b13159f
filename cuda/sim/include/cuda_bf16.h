// CUDA's bfloat16: the upper half of a float, 8 bits of exponent, 7 of mantissa.
#pragma once

#include <sim/float16_names.h>

using __nv_bfloat16 = gradus::cuda::sim::Float16<8>;
using __nv_bfloat162 = gradus::cuda::sim::Float16x2<8>;
using __nv_bfloat16_raw = __nv_bfloat16::Raw;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

GRADUS_FLOAT16_NAMES(bfloat16, __nv_bfloat16, __nv_bfloat162)
