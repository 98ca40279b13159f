// A small network that learns to tell four classes apart.
#include <torch/torch.h>

#include <cstdio>
#include <iostream>

struct NetImpl : torch::nn::Module {
  NetImpl(int64_t in, int64_t hidden, int64_t out)
      : first(register_module("first", torch::nn::Linear(in, hidden))),
        second(register_module("second", torch::nn::Linear(hidden, out))) {
    scale = register_parameter("scale", torch::ones({1}));
    seen = register_buffer("seen", torch::zeros({1}, torch::kLong));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    seen += x.size(0);
    return second(torch::relu(first(x))) * scale;
  }
  torch::nn::Linear first, second;
  torch::Tensor scale, seen;
};
TORCH_MODULE(Net);

int main() {
  const auto corner = torch::arange(32);
  const auto x = torch::stack({(corner % 2) * 2 - 1, corner.floor_divide(2) % 2 * 2 - 1}, 1)
                     .to(torch::kFloat) +
                 torch::linspace(-0.3, 0.3, 64).view({32, 2});
  const auto target = corner % 4;
  Net net(2, 8, 4);
  {
    torch::NoGradGuard guard;
    float value = -0.6f;
    for (auto& p : net->parameters())
      if (p.dim() == 2)
        p.copy_(
            torch::sin(torch::arange(p.numel(), torch::kFloat) * 1.7 + (value += 0.5f)).view_as(p) *
            0.7);
      else if (p.size(0) > 1)
        p.zero_();
  }
  torch::optim::SGD sgd(net->parameters(), /*lr=*/0.5);
  for (int epoch = 1; epoch <= 30; ++epoch) {
    sgd.zero_grad();
    auto output = net->forward(x);
    auto loss = torch::nn::functional::cross_entropy(output, target);
    loss.backward();
    sgd.step();
    if (epoch % 10 == 0) {
      const auto right = output.argmax(1).eq(target).sum().item<int64_t>();
      std::printf("epoch %d loss %.4f right %ld\n", epoch, loss.item<double>(), long(right));
    }
  }
  for (const auto& pair : net->named_parameters())
    std::cout << pair.key() << " " << pair.value().sizes() << "\n";
  for (const auto& pair : net->named_buffers()) std::cout << pair.key() << pair.value() << "\n";
  std::cout << net << "\n"
            << net->second->options.out_features() << " " << net->is_training() << "\n";
  net->eval();
  std::cout << net->is_training() << net->first->is_training() << "\n";

  torch::nn::Sequential layers(torch::nn::Linear(2, 3), torch::nn::ReLU(), torch::nn::Linear(3, 1));
  std::cout << layers->size() << " " << layers->forward(x).sizes() << "\n";
  for (auto& p : layers->parameters()) torch::nn::init::constant_(p, 0.5);
  std::cout << layers->forward(torch::ones({1, 2})) << "\n";
  layers->to(torch::kDouble);
  std::cout << layers->parameters()[0].dtype() << "\n";
}
