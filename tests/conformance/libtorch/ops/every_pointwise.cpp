// Pointwise functions and the shapes they come in: method, function, in place, out.
#include <torch/torch.h>

#include <iostream>

int main() {
  auto x = torch::tensor({-1.5, -0.5, 0.0, 0.5, 2.5}, torch::kDouble),
       y = torch::tensor({2.0, 0.5, -1.0, 3.0, 1.0}, torch::kDouble);
  auto p = x.abs() + 0.25, u = x.clamp(-0.9, 0.9);
  auto i = torch::tensor({-7, -2, 0, 3, 8}), j = torch::tensor({2, 3, 5, -2, 4});
  std::cout << x.abs() << x.neg() << x.sign() << x.floor() << x.ceil() << x.round() << x.trunc()
            << x.frac() << torch::round(x * 3.14159, 2) << "\n";
  std::cout << x.exp() << x.exp2() << x.expm1() << p.log() << p.log2() << p.log10() << p.log1p()
            << p.sqrt() << p.rsqrt() << x.square() << p.reciprocal() << "\n";
  std::cout << x.sin() << x.cos() << x.tan() << u.asin() << u.acos() << x.atan() << x.sinh()
            << x.cosh() << x.tanh() << x.asinh() << (p + 1).acosh() << u.atanh() << "\n";
  std::cout << x.sigmoid() << x.erf() << x.erfc() << u.erfinv() << p.lgamma() << p.digamma()
            << torch::polygamma(1, p) << p.mvlgamma(1) << x.sinc() << x.i0() << x.logit(0.1)
            << x.deg2rad() << x.rad2deg() << "\n";
  std::cout << (x + y) << x.sub(y, 2) << x * y << x / y << x.div(y, "floor") << x.div(y, "trunc")
            << x.floor_divide(y) << x.remainder(y) << x.fmod(y) << p.pow(y)
            << torch::float_power(p, 2) << "\n";
  std::cout << x.atan2(y) << x.hypot(y) << torch::maximum(x, y) << torch::minimum(x, y)
            << torch::fmax(x, y) << torch::fmin(x, y) << x.copysign(y) << x.heaviside(y)
            << torch::logaddexp(x, y) << torch::logaddexp2(x, y) << torch::xlogy(x, p)
            << x.nextafter(y) << "\n";
  std::cout << (i + 1) << (1 - i) << (2 * i) << (i / 2) << (3 / (i + 0.5)) << i.floor_divide(2)
            << (i % 3) << i.fmod(3) << i.gcd(j) << i.lcm(j) << (i & j) << (i | j) << (i ^ j) << ~i
            << i.bitwise_left_shift(1) << i.bitwise_right_shift(1) << "\n";
  std::cout << (x < y) << (x <= 0.5) << (x > y) << (0 >= x) << (x == 0) << (x != y)
            << x.logical_and(y) << x.logical_or(y) << x.logical_xor(y) << x.logical_not()
            << x.isnan() << x.isinf() << x.isfinite() << x.signbit() << torch::isposinf(x) << "\n";
  std::cout << x.clamp(-1, 1) << x.clamp_min(0) << x.clamp_max(y) << x.clamp(c10::nullopt, 0.3)
            << x.lerp(y, 0.25) << x.lerp(y, p) << x.addcmul(y, p, 2) << x.addcdiv(y, p, 0.5)
            << x.nan_to_num() << torch::threshold(x, 0, -1) << torch::where(x > 0, x, y)
            << torch::sub(x, 2, 3) << torch::rsub(x, 1) << torch::ldexp(x, i) << "\n";
  auto z = x.clone();
  z += 1;
  z -= y;
  z *= 2.5;
  z /= p;
  z.add_(y, 0.5).mul_(x).abs_().sqrt_().neg_().exp_().clamp_(0.1, 0.9).pow_(2).sub_(1, 3);
  torch::relu_(z);
  torch::sigmoid_(z);
  std::cout << z << z.fill_(2).zero_() << z.copy_(i) << z.div_(2, "floor") << z.remainder_(3)
            << z.lerp_(y, 0.5) << z.addcmul_(x, y) << z.clamp_min_(0) << z.floor_()
            << z.masked_fill_(z > 1, 9) << z.eq_(9) << z.random_(1, 2) << "\n";
  auto out = torch::empty({0}, torch::kDouble);
  torch::exp_out(out, x);
  std::cout << out << torch::add_out(out, x, y) << torch::clamp_out(out, x, 0, 1)
            << torch::pow_out(out, p, 2) << torch::maximum_out(out, x, y) << torch::sin_out(out, x)
            << torch::where_out(out, x > 0, x, y) << "\n";
  auto flag = torch::empty({0}, torch::kBool);
  std::cout << torch::lt_out(flag, x, y) << torch::isclose(x, y, 1, 1)
            << torch::logical_and_out(flag, x, y) << torch::eq_out(flag, x, 0) << "\n";
  std::cout << torch::cumsum(x, 0) << x.cumprod(0) << x.logcumsumexp(0) << torch::diff(x)
            << torch::gradient(x)[0] << torch::sgn(x) << torch::special::expit(x)
            << torch::special::logit(u * 0.5 + 0.5)
            << torch::special::log_softmax(x, 0, c10::nullopt) << "\n";
  std::cout << -x + 5 << (x * 2 + y / 3 - 1).sum() << (x > 0).logical_or(y > 0).any().item<bool>()
            << torch::logical_not(x) << ((x > 0) | (y > 0)) << ((x > 0) ^ (y > 0))
            << !torch::equal(x, y) << "\n";
  auto big = torch::tensor({255, 1, 2}, torch::kUInt8);
  std::cout << big + 1 << big - 2 << big * 2 << -big << ~big << big.sum() << big.to(torch::kInt8)
            << big / 2 << big.pow(2) << big.bitwise_and(3) << "\n";
}
