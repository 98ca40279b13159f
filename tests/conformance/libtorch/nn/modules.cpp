// Activations and losses as modules: what they print, their options and their values.
#include <torch/torch.h>

#include <iostream>

namespace F = torch::nn::functional;
using namespace torch::nn;

struct BlockImpl : Module {
  BlockImpl() {
    fc = register_module("fc", Linear(LinearOptions(2, 3).bias(false)));
    act = register_module("act", LeakyReLU(LeakyReLUOptions().negative_slope(0.42).inplace(true)));
  }
  Linear fc{nullptr};
  LeakyReLU act{nullptr};
};
TORCH_MODULE(Block);

struct NetImpl : Module {
  NetImpl() {
    register_module("block", Block());
    register_module("head", Sequential(ReLU(true), Linear(3, 1)));
  }
};
TORCH_MODULE(Net);

int main() {
  auto x = torch::tensor({{-2.0, -0.5, 0.25}, {0.5, 1.0, 3.0}}, torch::kDouble);
  const auto show = [&](auto module) { std::cout << module << "\n" << module(x) << "\n"; };
  show(ReLU());
  show(ReLU6(ReLU6Options()));
  show(SELU());
  show(ELU(ELUOptions().alpha(0.5)));
  show(CELU(CELUOptions().alpha(2)));
  show(LeakyReLU());
  show(LeakyReLU(LeakyReLUOptions().negative_slope(0.42)));
  show(Hardtanh(HardtanhOptions().min_val(-1).max_val(0.5)));
  show(Threshold(0.1, 20));
  show(Threshold(ThresholdOptions(0.3, -1)));
  show(Hardshrink(0.42));
  show(Softshrink());
  show(Softplus(SoftplusOptions().beta(2).threshold(3)));
  show(GELU());
  show(GELU(GELUOptions().approximate("tanh")));
  show(SiLU());
  show(Mish());
  show(Sigmoid());
  show(LogSigmoid());
  show(Tanh());
  show(Tanhshrink());
  show(Softsign());
  show(Softmax(1));
  show(LogSoftmax(LogSoftmaxOptions(0)));
  show(Softmin(1));
  std::cout << GLU() << RReLU() << GLU(0)(x) << "\n";
  RReLU random(RReLUOptions().lower(0.25).upper(0.25).inplace(true));
  std::cout << random << random(x.clone()) << "\n";
  random->eval();
  std::cout << random(x.clone()) << "\n" << Net() << "\n";

  auto y = x.clone();
  LeakyReLU in_place(LeakyReLUOptions().negative_slope(0.5).inplace(true));
  in_place(y);
  std::cout << in_place << y << in_place->options.negative_slope() << "\n";
  ELU(ELUOptions().inplace(true))(y);
  std::cout << y << "\n";

  auto target = torch::tensor({{0.0, 1.0, 0.5}, {1.0, 0.25, 0.0}}, torch::kDouble);
  auto weight = torch::tensor({0.5, 2.0, 1.0}, torch::kDouble);
  auto pos_weight = torch::tensor({3.0, 1.0, 0.5}, torch::kDouble);
  L1Loss l1(L1LossOptions(torch::kNone));
  std::cout << l1 << l1(x, target) << L1Loss()(x, target) << "\n"
            << F::l1_loss(x, target, F::L1LossFuncOptions().reduction(torch::kSum))
            << F::l1_loss(x, target, torch::kSum) << torch::l1_loss(x, target)
            << torch::l1_loss(x, target, at::Reduction::None) << "\n";
  x.set_requires_grad(true);
  const auto with_gradient = [&](torch::Tensor loss) {
    auto grad = torch::autograd::grad({loss.sum()}, {x}, {}, /*retain_graph=*/true,
                                      /*create_graph=*/true)[0];
    auto second = torch::autograd::grad({grad.square().sum()}, {x})[0];
    std::cout << loss << "\n" << grad << "\n" << second << "\n";
  };
  BCEWithLogitsLoss bce(BCEWithLogitsLossOptions().weight(weight).pos_weight(pos_weight));
  std::cout << bce << bce->weight << bce->pos_weight << bce->buffers().size() << "\n";
  with_gradient(bce(x, target));
  with_gradient(BCEWithLogitsLoss()->forward(x, target));
  with_gradient(F::binary_cross_entropy_with_logits(
      x, target,
      F::BinaryCrossEntropyWithLogitsFuncOptions().weight(weight).reduction(torch::kNone)));
  with_gradient(F::binary_cross_entropy_with_logits(
      x, target,
      F::BinaryCrossEntropyWithLogitsFuncOptions().pos_weight(pos_weight).reduction(torch::kSum)));
  with_gradient(
      torch::binary_cross_entropy_with_logits(x, target, weight, pos_weight, at::Reduction::Sum));
  std::cout << MSELoss() << NLLLoss() << CrossEntropyLoss()
            << F::binary_cross_entropy_with_logits(x * 1000, target) << "\n";
  const auto refused = [](const char* name, auto f) {
    try {
      f();
      std::cout << name << ": taken\n";
    } catch (const c10::Error&) {
      std::cout << name << ": refused\n";
    }
  };
  refused("shape", [&] { bce(x, weight); });
  refused("weight", [&] { torch::binary_cross_entropy_with_logits(x, target, torch::ones({2})); });
  refused("empty", [&] {
    Linear fc{nullptr};
    fc->forward(x);
  });
}
