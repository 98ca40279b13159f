// log(|gamma(x)|).
#pragma once

#include "gradus/tensor/math/log.h"
#include "gradus/tensor/math/trig.h"

namespace gradus::math {
inline namespace GRADUS_VARIANT {

// |sin(pi x)|, from what whole turns and quarters leave of x.
GRADUS_HD inline double sine_of_half_turns(double x) {
  constexpr double shift = kRounder<double> / 1.5;  // from where on all numbers are whole
  const double size = without_sign(x), capped = size > shift ? 0 : size;
  const double turns = (0.5 * capped + shift) - shift, left = multiply_add(turns, -2.0, capped);
  const double shifted = multiply_add(left, 2.0, kRounder<double>);
  const double rest = multiply_add(shifted - kRounder<double>, -0.5, left);
  const Angle<double> angle = {bits_of(shifted), rest * 3.141592653589793, 0};
  return without_sign(sin_of<double>(angle, 0, 0));
}

// Floats are computed in double. The error is 1.5 units of the last place next to the zeros at 1
// and 2, and 1 of 1 at the zeros below 0. Stirling's series serves from x + 8 on (Abramowitz and
// Stegun, 6.1.41), the recurrence below (6.1.15), and reflection for negative x (6.1.17).
GRADUS_HD inline float lgamma(float x) {
  constexpr double pi = 3.141592653589793;
  const double wide = static_cast<double>(x), size = without_sign(wide);
  const bool near = size < 8;
  double product = size;
  for (int k = 1; k < 8; ++k) product *= size + k;
  product = near ? product : 1.0;
  const double above = near ? size + 8 : size, inverse = 1 / above;
  const double series =
      polynomial(inverse * inverse, 0x1.555555555547dp-4, -0x1.6c16c156baee8p-9,
                 0x1.a01954d2854b2p-11, -0x1.37989e0b0bca3p-11, 0x1.952c9874800e5p-11);
  const double rest = multiply_add(inverse, series, 0.9189385332046727 - above);
  const double stirling = multiply_add(above - 0.5, log_of(factors<false>(above)), rest);
  const double sine = sine_of_half_turns(wide);
  const double factor = wide < 0 ? product * pi / (size * sine) : product;
  const double down = stirling - log_of(factors<false>(factor));
  const double mirrored = sine == 0 ? kInfinity<double> : -down;
  double y = wide < 0 ? mirrored : down;
  y = size == 0 ? kInfinity<double> : y;
  y = wide == 1 ? 0.0 : y;
  y = wide == 2 ? 0.0 : y;
  return static_cast<float>(size < kInfinity<double> ? y : size);
}

}  // namespace GRADUS_VARIANT
}  // namespace gradus::math
