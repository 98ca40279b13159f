// Functions of one and two tensors, element by element.
#include <torch/torch.h>

#include <iostream>

int main() {
  const auto x = torch::tensor({-1.5, -0.5, 0.0, 0.25, 2.5}, torch::kDouble);
  const auto p = torch::tensor({0.1, 0.5, 1.0, 2.0, 7.5}, torch::kDouble);
  for (const auto& y :
       {x.abs(),   x.neg(),  x.exp(),     x.exp2(),  x.expm1(), x.sigmoid(), x.tanh(),
        x.sin(),   x.cos(),  x.tan(),     x.atan(),  x.sinh(),  x.cosh(),    x.asinh(),
        x.floor(), x.ceil(), x.round(),   x.trunc(), x.frac(),  x.sign(),    x.square(),
        x.erf(),   x.erfc(), x.deg2rad(), x.sinc()})
    std::cout << y << "\n";
  for (const auto& y :
       {p.log(), p.log2(), p.log10(), p.log1p(), p.sqrt(), p.rsqrt(), p.reciprocal(), p.lgamma(),
        p.digamma(), p.acosh(), torch::mvlgamma(p + 1, 2), torch::polygamma(1, p)})
    std::cout << y << "\n";
  const auto u = torch::tensor({0.1, 0.5, 0.9}, torch::kDouble);
  std::cout << u.asin() << u.acos() << u.atanh() << u.erfinv() << u.logit() << torch::logit(u, 0.2)
            << "\n";

  const auto a = torch::tensor({5.0, -5.0, 5.0, -5.0}), b = torch::tensor({3.0, 3.0, -3.0, -3.0});
  std::cout << torch::fmod(a, b) << torch::remainder(a, b) << torch::floor_divide(a, b)
            << torch::div(a, b, "trunc") << torch::div(a, b, "floor") << "\n";
  std::cout << torch::atan2(a, b) << torch::hypot(a, b) << torch::pow(b, 2) << torch::pow(2, b)
            << torch::maximum(a, b) << torch::minimum(a, b) << torch::fmax(a, b)
            << torch::copysign(a, b) << "\n";
  std::cout << torch::logaddexp(a, b) << torch::logaddexp2(a, b) << torch::xlogy(u, u)
            << torch::heaviside(x, torch::tensor({0.5}, torch::kDouble))
            << torch::float_power(torch::tensor({2, 3}), 2)
            << torch::ldexp(torch::tensor({1.0, 3.0}), torch::tensor({2, -1})) << "\n";
  const auto i = torch::tensor({7, -7, 12, 0}), j = torch::tensor({2, 2, -5, 3});
  std::cout << i.floor_divide(j) << i.remainder(j) << i.fmod(j) << torch::gcd(i, j)
            << torch::lcm(i, j) << torch::div(i, j, "trunc") << torch::true_divide(i, j) << "\n";
  std::cout << x.clamp(-1, 1) << x.clamp_min(0) << x.clamp_max(0)
            << torch::clamp(x, c10::nullopt, 0.1) << torch::clamp(a, torch::tensor(-1.0), b.abs())
            << torch::clip(i, -3, 3) << "\n";
  std::cout << torch::lerp(a, b, 0.25) << torch::addcmul(a, a, b, 0.5) << torch::addcdiv(a, a, b, 2)
            << torch::add(a, b, 10) << torch::sub(a, b, 2) << torch::rsub(a, b) << "\n";
  const auto odd = torch::tensor({NAN, INFINITY, -INFINITY, 1.0f});
  std::cout << torch::nan_to_num(odd, 0.0, 9.0, -9.0) << odd.isnan() << odd.isposinf()
            << odd.isneginf() << odd.signbit() << "\n";
  std::cout << (i & j) << (i | j) << (i ^ j) << (~i) << torch::bitwise_left_shift(i, 1)
            << torch::bitwise_right_shift(i, 1) << torch::bitwise_and(i, 6) << "\n";
  std::cout << torch::logical_and(i, j) << torch::logical_or(i, j) << torch::eq(i, j) << i.ge(0)
            << i.ne(12) << "\n";
}
