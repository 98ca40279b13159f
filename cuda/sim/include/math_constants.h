// CUDA's names for common numbers.
#pragma once

#include <limits>
#include <numbers>

#define CUDART_INF_F std::numeric_limits<float>::infinity()
#define CUDART_NAN_F std::numeric_limits<float>::quiet_NaN()
#define CUDART_MIN_DENORM_F std::numeric_limits<float>::denorm_min()
#define CUDART_NEG_ZERO_F -0.0F
#define CUDART_ZERO_F 0.0F
#define CUDART_ONE_F 1.0F
#define CUDART_PI_F std::numbers::pi_v<float>
#define CUDART_PIO2_F (CUDART_PI_F / 2)
#define CUDART_PIO4_F (CUDART_PI_F / 4)
#define CUDART_3PIO4_F (CUDART_PIO4_F * 3)
#define CUDART_2_OVER_PI_F (2 / CUDART_PI_F)
#define CUDART_SQRT_TWO_F std::numbers::sqrt2_v<float>
#define CUDART_SQRT_HALF_F (CUDART_SQRT_TWO_F / 2)
#define CUDART_THIRD_F (CUDART_ONE_F / 3)
#define CUDART_L2E_F std::numbers::log2e_v<float>
#define CUDART_LGE_F std::numbers::log10e_v<float>
#define CUDART_LN2_F std::numbers::ln2_v<float>
#define CUDART_LNT_F std::numbers::ln10_v<float>
#define CUDART_MAX_NORMAL_F std::numeric_limits<float>::max()

#define CUDART_INF std::numeric_limits<double>::infinity()
#define CUDART_NAN std::numeric_limits<double>::quiet_NaN()
#define CUDART_MIN_DENORM std::numeric_limits<double>::denorm_min()
#define CUDART_NEG_ZERO -0.0
#define CUDART_ZERO 0.0
#define CUDART_ONE 1.0
#define CUDART_PI std::numbers::pi_v<double>
#define CUDART_PIO2 (CUDART_PI / 2)
#define CUDART_PIO4 (CUDART_PI / 4)
#define CUDART_3PIO4 (CUDART_PIO4 * 3)
#define CUDART_2_OVER_PI (2 / CUDART_PI)
#define CUDART_SQRT_TWO std::numbers::sqrt2_v<double>
#define CUDART_SQRT_HALF (CUDART_SQRT_TWO / 2)
#define CUDART_THIRD (CUDART_ONE / 3)
#define CUDART_L2E std::numbers::log2e_v<double>
#define CUDART_LGE std::numbers::log10e_v<double>
#define CUDART_LN2 std::numbers::ln2_v<double>
#define CUDART_LNT std::numbers::ln10_v<double>
