// torch::nn::functional and the functions behind it.
#include <torch/torch.h>

#include <iostream>

namespace F = torch::nn::functional;

int main() {
  auto x = torch::tensor({{-2.0, -0.5, 0.0}, {0.5, 1.0, 3.0}}, torch::kDouble);
  std::cout << F::relu(x) << F::relu6(x * 3) << F::elu(x) << F::selu(x) << F::celu(x) << F::gelu(x)
            << F::silu(x) << F::mish(x) << F::softplus(x) << F::softsign(x) << F::tanhshrink(x)
            << F::logsigmoid(x) << F::hardtanh(x) << F::leaky_relu(x) << F::softshrink(x)
            << F::hardshrink(x) << "\n";
  std::cout << F::elu(x, F::ELUFuncOptions().alpha(0.42))
            << F::leaky_relu(x, F::LeakyReLUFuncOptions().negative_slope(0.42))
            << F::hardtanh(x, F::HardtanhFuncOptions().min_val(-1.0).max_val(0.5))
            << F::glu(torch::cat({x, x}, 1))
            << F::glu(x.t().contiguous().slice(0, 0, 2).t(), F::GLUFuncOptions(1))
            << F::softplus(x, F::SoftplusFuncOptions().beta(2).threshold(1))
            << F::softshrink(x, F::SoftshrinkFuncOptions(0.42))
            << F::threshold(x, F::ThresholdFuncOptions(0.3, 20))
            << F::prelu(x, torch::full({1}, 0.25, torch::kDouble))
            << F::gelu(x, F::GELUFuncOptions().approximate("tanh"))
            << F::celu(x, F::CELUFuncOptions().alpha(0.5))
            << F::hardshrink(x, F::HardshrinkFuncOptions(0.7)) << "\n";
  std::cout << F::softmax(x, 1) << F::softmax(x, F::SoftmaxFuncOptions(0)) << F::log_softmax(x, 1)
            << F::softmin(x, 0) << F::softmax(x, F::SoftmaxFuncOptions(1).dtype(torch::kFloat))
            << "\n";
  auto in_place = x.clone();
  F::relu(in_place, F::ReLUFuncOptions().inplace(true));
  std::cout << in_place << "\n";
  std::cout << F::one_hot(torch::tensor({0, 2, 1}))
            << F::one_hot(torch::tensor({{0}, {1}}), 3).sizes() << "\n";
  std::cout << F::normalize(x) << F::normalize(x, F::NormalizeFuncOptions().p(1).dim(0)) << "\n";
  auto image = torch::arange(12.0).view({1, 1, 3, 4});
  std::cout << F::pad(image, F::PadFuncOptions({1, 1}))
            << F::pad(image, F::PadFuncOptions({0, 1, 2, 0}).mode(torch::kConstant).value(9))
            << F::pad(image, F::PadFuncOptions({1, 2, 1, 1}).mode(torch::kReflect))
            << F::pad(image, F::PadFuncOptions({1, 0, 0, 2}).mode(torch::kReplicate))
            << F::pad(image, F::PadFuncOptions({1, 1, 1, 0}).mode(torch::kCircular)) << "\n";
  auto logits = torch::tensor({{1.0, 2.0, 0.5}, {0.1, 0.2, 3.0}}, torch::requires_grad());
  auto target = torch::tensor({1, 0});
  auto loss = F::cross_entropy(logits, target);
  loss.backward();
  std::cout << loss.item<float>() << logits.grad()
            << F::nll_loss(F::log_softmax(logits, 1), target).item<float>()
            << F::cross_entropy(logits, target, F::CrossEntropyFuncOptions().reduction(torch::kSum))
                   .item<float>()
            << "\n";
  std::cout << F::mse_loss(x, x + 1).item<double>()
            << F::mse_loss(x, torch::zeros_like(x), torch::kSum).item<double>()
            << F::mse_loss(x, torch::zeros_like(x), F::MSELossFuncOptions(torch::kNone)) << "\n";
  std::cout << F::linear(x, torch::ones({2, 3}, torch::kDouble))
            << F::linear(x, torch::ones({2, 3}, torch::kDouble), torch::ones({2}, torch::kDouble))
            << F::cosine_similarity(x, x + 1, F::CosineSimilarityFuncOptions().dim(1))
            << F::pairwise_distance(x, x + 1) << "\n";
  std::cout << F::dropout(x, F::DropoutFuncOptions().p(0.5).training(false))
            << F::dropout(x, F::DropoutFuncOptions().p(0)) << "\n";
  std::cout << torch::relu(x) << torch::sigmoid(x) << torch::tanh(x) << torch::softmax(x, -1)
            << torch::log_softmax(x, 0) << torch::gelu(x) << torch::selu(x) << torch::celu(x)
            << torch::elu(x, 0.5) << torch::leaky_relu(x, 0.1) << torch::hardtanh(x, -1, 1)
            << torch::threshold(x, 0.1, 5) << torch::prelu(x, torch::full({1}, 0.1, torch::kDouble))
            << torch::log_sigmoid(x) << torch::softplus(x) << torch::hardsigmoid(x)
            << torch::hardswish(x) << "\n";
}
