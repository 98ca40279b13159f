// Losses of classes with all their options, as functions and as modules.
#include <torch/torch.h>

#include <iostream>

namespace F = torch::nn::functional;

int main() {
  auto x = torch::tensor({{1.0, 2.0, 0.5}, {0.1, 0.2, 3.0}, {-1.0, 0.0, 1.0}}, torch::kDouble);
  x.set_requires_grad(true);
  auto target = torch::tensor({1, 0, 2});
  auto weight = torch::tensor({0.5, 2.0, 1.0}, torch::kDouble);
  const auto show = [&](torch::Tensor loss) {
    auto grad = torch::autograd::grad({loss.sum()}, {x}, {}, /*retain_graph=*/true,
                                      /*create_graph=*/true)[0];
    auto second = torch::autograd::grad({grad.square().sum()}, {x})[0];
    std::cout << loss << "\n" << grad << "\n" << second << "\n";
  };
  show(F::cross_entropy(x, target, F::CrossEntropyFuncOptions().weight(weight)));
  show(F::cross_entropy(x, target, F::CrossEntropyFuncOptions().ignore_index(1)));
  show(F::cross_entropy(x, target,
                        F::CrossEntropyFuncOptions().label_smoothing(0.2).reduction(torch::kSum)));
  show(F::cross_entropy(
      x, target,
      F::CrossEntropyFuncOptions().weight(weight).ignore_index(0).label_smoothing(0.1).reduction(
          torch::kNone)));
  show(F::cross_entropy(x, torch::softmax(x.detach() * 2, 1),
                        F::CrossEntropyFuncOptions().weight(weight).label_smoothing(0.3)));
  show(torch::nll_loss(x.log_softmax(1), target, weight, at::Reduction::Sum, 2));
  show(torch::nll_loss_nd(x.log_softmax(1), target, {}, at::Reduction::None));
  show(torch::cross_entropy_loss(x, target, weight, at::Reduction::Mean, -100, 0.5));

  auto images = torch::arange(24.0, torch::kDouble).sin().view({2, 3, 2, 2});
  auto places = torch::tensor({{{0, 1}, {2, -100}}, {{1, 1}, {0, 2}}});
  std::cout << F::nll_loss(images, places, F::NLLLossFuncOptions().weight(weight)) << "\n"
            << F::nll_loss(images, places, F::NLLLossFuncOptions().reduction(torch::kNone)) << "\n"
            << F::cross_entropy(images.view({2, 3, 4}), places.view({2, 4})) << "\n"
            << torch::nll_loss2d(images, places) << "\n";

  torch::nn::NLLLoss nll(torch::nn::NLLLossOptions().weight(weight).ignore_index(1));
  std::cout << nll->forward(x.log_softmax(1), target) << "\n" << nll->weight << "\n";
  torch::nn::CrossEntropyLoss criterion(
      torch::nn::CrossEntropyLossOptions().label_smoothing(0.1).reduction(torch::kSum));
  std::cout << criterion(x, target) << criterion->buffers().size() << "\n"
            << criterion->options.ignore_index() << criterion->options.label_smoothing() << "\n";

  const auto refused = [](const char* name, auto f) {
    try {
      f();
      std::cout << name << ": taken\n";
    } catch (const c10::Error&) {
      std::cout << name << ": refused\n";
    }
  };
  using Options = F::CrossEntropyFuncOptions;
  refused("smoothing", [&] { F::cross_entropy(x, target, Options().label_smoothing(1.5)); });
  refused("weights", [&] { F::cross_entropy(x, target, Options().weight(torch::ones({2}))); });
  refused("ignored share", [&] { F::cross_entropy(x, x.detach(), Options().ignore_index(1)); });
  refused("whole shares", [&] { F::cross_entropy(x, torch::ones({3, 3}, torch::kLong)); });
  refused("rows", [&] { F::nll_loss(x, torch::tensor({0, 1})); });
  refused("class", [&] { F::nll_loss(x, torch::tensor({0, 1, 3})); });
}
