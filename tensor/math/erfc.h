// erfc and erfinv.
#pragma once

#include <cmath>

#include "gradus/tensor/math/erf.h"
#include "gradus/tensor/math/log.h"

namespace gradus::math {
inline namespace GRADUS_VARIANT {

// (1 + 2 x) e^(x^2) erfc(x), x >= 0, by t = (x - c) / (x + c). Shepherd and Laframboise, "Chebyshev
// approximation of (1 + 2x) exp(x^2) erfc x in 0 <= x < infinity" (1981).
template <class T>
GRADUS_HD Pair<T> erfc_series(T x) {
  constexpr T centre = is_float<T> ? T(3) : T(4);
  const T t = (x - centre) / (x + centre);
  if constexpr (is_float<T>) {
    const float slope = polynomial(t, -0x1.15c08cp-3f, -0x1.85a162p-5f, 0x1.09845cp-3f,
                                   -0x1.e889fcp-4f, 0x1.17b88ep-4f, -0x1.85d536p-6f, 0x1.5266c4p-9f,
                                   0x1.065416p-9f, -0x1.9ffcap-11f, -0x1.2167fap-12f);
    return Pair<T>{0x1.40c522p+0f, 0x1.afc93p-25f} + t * slope;
  } else {
    const T slope = polynomial(
        t, -0x1.1df1ad154a29bp-3, 0x1.f7f5df66fd7c3p-7, 0x1.16ecefcfa5f84p-4, -0x1.9ddb23c3e8f1dp-4,
        0x1.7fee004df8017p-4, -0x1.0fb06dfe51bc9p-4, 0x1.3079edf9d86f3p-5, -0x1.09623881ca0a2p-6,
        0x1.49c67197fc06ep-8, -0x1.8d4a9ecb201bdp-11, -0x1.a1de85e9e113dp-13, 0x1.3be0bfd7fa799p-13,
        -0x1.9969dcdb3ce3bp-16, -0x1.78a56d710afc2p-17, 0x1.7fb0f4b8c5439p-18,
        0x1.43aa5b47ac0b4p-22, -0x1.c01742493bdc1p-21, 0x1.0d9693a0faeb6p-24, 0x1.edf8a3450982p-24,
        -0x1.0cf3f77309fep-27, -0x1.d2c2f716ea0a2p-27, -0x1.e9254218fb36fp-30);
    return Pair<T>{0x1.3ba5916e9fd7fp+0, -0x1.aa9c415679e6fp-55} + t * slope;
  }
}

// Up to 1/2, 1 - erf(x). Beyond, the series times e^(-x^2) is divided by 1 + 2 |x|; then the rest
// of the quotient is added. Negative x: 2 minus that.
template <Real T>
GRADUS_HD T erfc(T x) {
  constexpr T end = is_float<T> ? T(10.1) : T(27.3);  // from where on it is 0
  const T size = without_sign(x), t = size > end ? end : size;
  const auto [square, lost] = exact_product(t, t);
  const auto [k, r, tail] = power_of_two(-square);
  const T curve = r * r * exp_series(r), lack_of_r = tail - lost;
  const Pair<T> power = exact_sum(r, multiply_add(lack_of_r, 1 + (r + curve), curve));
  const Pair<T> series = erfc_series(t);
  const Pair<T> top = series + series * power;
  const T below = 1 + 2 * t, below_lost = 2 * t - (below - 1);
  const T reciprocal = 1 / below, quotient = top.high * reciprocal;
  const auto [product, low] = exact_product(quotient, below);
  const T lack = ((top.high - product) - low) + multiply_add(-quotient, below_lost, top.low);
  const T y = scale(multiply_add(lack, reciprocal, quotient), k);
  const auto [rest, rest_low] = exact_sum(T(1), -x);
  const T near = rest + multiply_add(-x, erf_series(square), rest_low);
  const T far = x < 0 ? 2 - y : y;
  return size < T(0.5) ? near : far;
}

// The y for which erf(y) = x, with w = -log(1 - x^2): x p(w) where w is small, and x p(sqrt(w))
// beyond. Giles, "Approximating the erfinv function" (2011).
template <Real T>
GRADUS_HD T erfinv(T x) {
  constexpr T split = is_float<T> ? T(5) : T(6.25);
  const T size = without_sign(x), inside = size < 1 ? size : T(0);
  const T w = -log(Near<T>((1 - inside) * (1 + inside))).value;
  // Where it counts the root lies between 2 and 6, and its half reciprocal close to a line.
  const T root = std::sqrt(w);
  const auto [square, low] = exact_product(root, root);
  const T rest = ((w - square) - low) * multiply_add(root, T(-0.0373), T(0.29));
  Pair<T> near, far;
  if constexpr (is_float<T>) {
    near = Pair<T>{0x1.c5bf8ap-1f, -0x1.c96212p-26f} +
           w * polynomial(w, 0x1.db2a08p-3f, 0x1.7a6ecp-7f, -0x1.320056p-9f, -0x1.0ac80ap-13f,
                          0x1.74aa9ap-15f, 0x1.0e4078p-18f, -0x1.0a5eep-19f, 0x1.dc704ep-23f,
                          -0x1.2f45e2p-27f);
    const T t = (root - 0x1.8fe838p+1f) + rest;
    far = Pair<T>{0x1.7a925ep+1f, -0x1.0f09a2p-24f} +
          t * polynomial(t, 0x1.00f308p+0f, 0x1.cea56p-8f, -0x1.5c02f2p-8f, 0x1.f28a1p-9f,
                         -0x1.4c4ee2p-9f, 0x1.4ba158p-10f, -0x1.41c43ap-12f, -0x1.b31e44p-14f,
                         0x1.f83502p-14f, -0x1.363f84p-15f);
  } else {
    near = Pair<T>{0x1.c5bf891b4ef6bp-1, -0x1.618f13eb7ca89p-55} +
           w * polynomial(w, 0x1.db29fb2fee59cp-3, 0x1.7a72e72c29342p-7, -0x1.3211026012c4p-9,
                          -0x1.0c86b780769e6p-13, 0x1.870140cfb1ea6p-15, 0x1.0f20799dfd236p-19,
                          -0x1.0fd60f70045f6p-20, -0x1.3f182d8d6fe62p-25, 0x1.852ea23e5bb55p-26,
                          0x1.d46b335dfa526p-31, -0x1.3ae78f883c4cbp-31, -0x1.042f79b3b56abp-40,
                          0x1.8500d6b2ef1e5p-37, -0x1.831f07f27b49fp-40, 0x1.f002835a9246p-41,
                          -0x1.f19e597ac3769p-42, 0x1.05f842eeb25d9p-43, -0x1.58f0a07000452p-46,
                          0x1.32162eb4327bp-49, -0x1.7380637269a4ep-53, 0x1.2acf936b55e93p-57,
                          -0x1.2143d7db8bb37p-62, 0x1.007d3386e3363p-68);
    const T t = (root - 0x1.104438p+2) + rest;
    far = Pair<T>{0x1.062be3631676dp+2, 0x1.da713b01fc2c2p-54} +
          t * polynomial(t, 0x1.028e52c2f514ep+0, 0x1.71b77a183f89ap-11, -0x1.3cdd5a11be1dcp-11,
                         0x1.ba2a8b25c21bbp-13, -0x1.0be888485ca41p-14, 0x1.6bd364a75a361p-16,
                         -0x1.4fc0b6b16259bp-17, 0x1.7db8a884786b2p-18, -0x1.a6bad05fd333ap-19,
                         0x1.89b5dcee4b3e3p-20, -0x1.1218bda2eb341p-21, 0x1.966978c655163p-24,
                         0x1.99cb6dbc6aa14p-26, -0x1.f77206537f26cp-26, 0x1.c77742559ac0dp-27,
                         -0x1.a7b93526ce38dp-29, -0x1.752e31b73f257p-33, 0x1.ee7452eb1a3edp-32,
                         -0x1.86f988913ecc6p-33, 0x1.26963ef2755e1p-35, 0x1.0a0226dcdb223p-42,
                         -0x1.0a73b5940bf32p-38, 0x1.1a993e63f1a79p-39, -0x1.7bcd03d193634p-42,
                         -0x1.709ba0775eb78p-44, 0x1.3a5d4f7fcc604p-45, -0x1.a2276892a42c5p-49);
  }
  const T slope = w < split ? near.high : far.high, lack = w < split ? near.low : far.low;
  const T y = multiply_add(inside, slope, inside * lack);
  const T at_end = size == 1 ? kInfinity<T> : kNan<T>;
  return with_sign_of(x, size < 1 ? y : at_end);
}

}  // namespace GRADUS_VARIANT
}  // namespace gradus::math
