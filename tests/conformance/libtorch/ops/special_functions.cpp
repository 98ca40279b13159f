// torch::special, frexp, ldexp and the incomplete gamma functions.
#include <torch/torch.h>

#include <iostream>

namespace s = torch::special;

int main() {
  auto x = torch::tensor({0.25, 0.5, 0.75, 0.9}, torch::kDouble);
  x.set_requires_grad(true);
  const auto show = [&](torch::Tensor y) {
    auto grad = torch::autograd::grad({y.sum()}, {x}, {}, /*retain_graph=*/true,
                                      /*create_graph=*/true)[0];
    std::cout << y << grad << torch::autograd::grad({grad.sum()}, {x})[0] << "\n";
  };
  show(s::entr(x));
  show(s::erfcx(x));
  show(s::ndtr(x));
  show(s::ndtri(x));
  show(s::log_ndtr(x * -5));
  show(s::i0e(x));
  show(s::i1(x));
  show(s::i1e(x * 3));
  show(s::xlog1py(x, x));
  show(s::xlogy(2, x));
  show(s::zeta(torch::tensor(2.5, torch::kDouble), x));
  auto a = torch::tensor({0.5, 1.0, 2.0, 12.0}, torch::kDouble);
  show(s::gammainc(a, x * 4));
  show(torch::igammac(a, x * 4));
  show(s::gammaln(x));
  show(s::polygamma(2, x));
  show(s::logit(x));

  auto y = x.detach() * 9;
  std::cout << s::bessel_j0(y) << s::bessel_j1(y) << s::bessel_y0(y) << s::bessel_y1(y)
            << s::modified_bessel_i0(y) << s::modified_bessel_i1(y) << s::modified_bessel_k0(y)
            << s::modified_bessel_k1(y) << s::scaled_modified_bessel_k0(y)
            << s::scaled_modified_bessel_k1(y) << s::spherical_bessel_j0(y) << "\n";
  std::cout << s::zeta(3, y) << s::zeta(y, 2) << torch::special_expit(y)
            << torch::special_zeta(y, y) << s::multigammaln(y, 1) << s::round(y) << s::sinc(y)
            << "\n";

  auto out = torch::empty({4}, torch::kDouble);
  s::erfcx_out(out, y);
  std::cout << out;
  s::gammaincc_out(out, a, y);
  std::cout << out;
  s::zeta_out(out, 2, y);
  std::cout << out;
  s::polygamma_out(out, 1, y);
  std::cout << out << "\n";

  auto numbers = torch::tensor({0.0, -3.0, 1e300, 0.1}, torch::kDouble);
  numbers.set_requires_grad(true);
  auto parts = torch::frexp(numbers);
  std::cout << std::get<0>(parts) << std::get<1>(parts)
            << torch::autograd::grad({std::get<0>(parts).slice(0, 0, 2).sum()}, {numbers})[0]
            << torch::ldexp(std::get<0>(parts), std::get<1>(parts)) << "\n";
  std::cout << s::ndtr(torch::tensor({-1, 2})) << s::entr(torch::tensor({0, 1})) << "\n";
  try {
    torch::frexp(torch::tensor({1, 2}));
  } catch (const c10::Error&) {
    std::cout << "frexp of integers: refused\n";
  }
  try {
    torch::igamma(x, x).sum().backward();
  } catch (const c10::Error&) {
    std::cout << "the derivative by a shape: refused\n";
  }
}
