// Activations, as tensor functions and as those of nn::functional, with their slopes.
#include <torch/torch.h>

#include <iostream>

namespace F = torch::nn::functional;

int main() {
  const auto values = torch::tensor({-4.0, -1.0, -0.25, 0.5, 1.5, 5.0}, torch::kDouble);
  const auto show = [&](const char* name, auto f) {
    auto x = values.clone().requires_grad_();
    auto y = f(x);
    y.sum().backward();
    std::cout << name << "\n" << y.detach() << "\n" << x.grad() << "\n";
  };
  show("relu", [](auto x) { return torch::relu(x); });
  show("relu6", [](auto x) { return torch::relu6(x); });
  show("leaky_relu", [](auto x) { return torch::leaky_relu(x, 0.1); });
  show("elu", [](auto x) { return torch::elu(x); });
  show("selu", [](auto x) { return torch::selu(x); });
  show("celu", [](auto x) { return torch::celu(x, 2.0); });
  show("gelu", [](auto x) { return torch::gelu(x); });
  show("gelu_tanh", [](auto x) { return torch::gelu(x, "tanh"); });
  show("silu", [](auto x) { return torch::silu(x); });
  show("mish", [](auto x) { return torch::mish(x); });
  show("softplus", [](auto x) { return torch::softplus(x, 2); });
  show("hardtanh", [](auto x) { return torch::hardtanh(x); });
  show("hardsigmoid", [](auto x) { return torch::hardsigmoid(x); });
  show("hardswish", [](auto x) { return torch::hardswish(x); });
  show("hardshrink", [](auto x) { return torch::hardshrink(x); });
  show("softshrink", [](auto x) { return torch::softshrink(x); });
  show("threshold", [](auto x) { return torch::threshold(x, 0.4, -3); });
  show("log_sigmoid", [](auto x) { return torch::log_sigmoid(x); });
  show("glu", [](auto x) { return torch::glu(x); });
  show("prelu", [](auto x) { return torch::prelu(x, torch::tensor({0.3}, torch::kDouble)); });
  show("softmax", [](auto x) { return torch::softmax(x, 0).pow(2); });
  show("log_softmax", [](auto x) { return torch::log_softmax(x, 0) * 2; });

  show("F::leaky_relu",
       [](auto x) { return F::leaky_relu(x, F::LeakyReLUFuncOptions().negative_slope(0.2)); });
  show("F::elu", [](auto x) { return F::elu(x, F::ELUFuncOptions().alpha(0.5)); });
  show("F::gelu", [](auto x) { return F::gelu(x, F::GELUFuncOptions().approximate("tanh")); });
  show("F::hardtanh",
       [](auto x) { return F::hardtanh(x, F::HardtanhFuncOptions().min_val(-0.5).max_val(2)); });
  show("F::softplus", [](auto x) { return F::softplus(x, F::SoftplusFuncOptions().beta(0.5)); });
  show("F::softsign", [](auto x) { return F::softsign(x); });
  show("F::tanhshrink", [](auto x) { return F::tanhshrink(x); });
  show("F::softmin", [](auto x) { return F::softmin(x, F::SoftminFuncOptions(0)); });
  show("F::normalize", [](auto x) { return F::normalize(x, F::NormalizeFuncOptions().dim(0)); });

  auto y = values.clone();
  y.relu_();
  std::cout << y << "\n" << torch::leaky_relu_(y.sub_(1), 0.5) << "\n";
  F::relu(y, F::ReLUFuncOptions(/*inplace=*/true));
  std::cout << y << "\n"
            << torch::hardtanh_(y, -1, 0.5) << "\n"
            << torch::rrelu(values, 0.25, 0.25) << "\n";
}
