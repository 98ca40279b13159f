// What the row of log_cosh brings: the function, the methods, and derivatives of every order.
#include <gradus/autograd/engine/engine.h>
#include <gradus/autograd/engine/node.h>
#include <gradus/autograd/functions.h>
#include <gradus/tensor/factories.h>
#include <gradus/tensor/tensor.h>

#include <cmath>
#include <iostream>

namespace {

bool is_near(const char* what, const gradus::Tensor& got, double expected) {
  const bool near = std::fabs(got.item<double>() - expected) < 1e-12;
  if (!near) std::cout << what << " is " << got.item<double>() << ", expected " << expected << "\n";
  return near;
}

}  // namespace

int main() {
  const double number = -1.25;
  const gradus::Tensor x =
      gradus::full({}, number, gradus::dtype(gradus::kDouble).requires_grad(true));
  const gradus::Tensor y = gradus::log_cosh(x);
  const gradus::Tensor slope = gradus::autograd::grad({y}, {x}, {}, {}, /*create_graph=*/true)[0];
  y.backward({}, /*retain_graph=*/true);
  const double tanh = std::tanh(number);
  bool ok = is_near("log_cosh(x)", y, std::log(std::cosh(number)));
  ok &= is_near("x.log_cosh()", x.log_cosh(), std::log(std::cosh(number)));
  ok &= is_near("x.log_cosh_()", x.detach().clone().log_cosh_(), std::log(std::cosh(number)));
  ok &= is_near("the fused gradient", x.grad(), tanh);
  ok &= is_near("the gradient with a graph", slope, tanh);
  ok &= is_near("the second derivative", gradus::autograd::grad({slope}, {x})[0], 1 - tanh * tanh);
  if (y.grad_fn()->name() != "LogCoshBackward0")
    ok = false, std::cout << y.grad_fn()->name() << "\n";
  if (ok) std::cout << "log_cosh is right\n";
  return ok ? 0 : 1;
}
