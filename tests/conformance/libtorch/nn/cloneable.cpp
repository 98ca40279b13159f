// Modules that can be cloned.
#include <torch/torch.h>

#include <iostream>

struct BlockImpl : torch::nn::Cloneable<BlockImpl> {
  explicit BlockImpl(int64_t width) : width_(width) { reset(); }
  void reset() override {
    fc = register_module("fc", torch::nn::Linear(width_, width_));
    scale = register_parameter("scale", torch::ones({width_}));
    seen = register_buffer("seen", torch::zeros({1}, torch::kLong));
  }
  torch::Tensor forward(torch::Tensor x) { return fc(x).relu() * scale; }
  int64_t width_;
  torch::nn::Linear fc{nullptr};
  torch::Tensor scale, seen;
};
TORCH_MODULE(Block);

struct NetImpl : torch::nn::Cloneable<NetImpl> {
  NetImpl() { reset(); }
  void reset() override {
    block = register_module("block", Block(3));
    tail =
        register_module("tail", torch::nn::Sequential(torch::nn::ReLU(), torch::nn::Linear(3, 2)));
  }
  torch::Tensor forward(torch::Tensor x) { return tail->forward(block->forward(x)); }
  Block block{nullptr};
  torch::nn::Sequential tail{nullptr};
};
TORCH_MODULE(Net);

struct PlainImpl : torch::nn::Module {};

struct LateImpl : torch::nn::Cloneable<LateImpl> {
  LateImpl() { register_parameter("late", torch::ones({1})); }
  void reset() override {}
};

int main() {
  torch::NoGradGuard guard;
  Net net;
  net->block->seen.fill_(4);
  net->block->scale.fill_(2);
  net->eval();
  auto copy = std::dynamic_pointer_cast<NetImpl>(net->clone());
  std::cout << (copy != nullptr) << copy->is_training() << copy->block->is_training() << '\n';
  for (const auto& p : net->named_parameters()) {
    auto other = copy->named_parameters()[p.key()];
    std::cout << p.key() << ' ' << torch::equal(p.value(), other)
              << (p.value().data_ptr() == other.data_ptr()) << other.requires_grad() << '\n';
  }
  std::cout << copy->named_buffers()["block.seen"].item<int64_t>() << '\n';
  auto x = torch::randn({4, 3});
  std::cout << torch::equal(net->forward(x), copy->forward(x)) << '\n';
  copy->block->scale.mul_(3);
  std::cout << net->block->scale[0].item<float>() << ' ' << copy->block->scale[0].item<float>()
            << '\n';
  auto linear = torch::nn::Linear(torch::nn::LinearOptions(2, 2).bias(false));
  auto moved = std::dynamic_pointer_cast<torch::nn::LinearImpl>(linear->clone(torch::kCPU));
  std::cout << torch::equal(linear->weight, moved->weight) << moved->bias.defined() << '\n';
  for (int which = 0; which < 2; ++which) {
    try {
      if (which == 0)
        PlainImpl().clone();
      else
        std::make_shared<LateImpl>()->clone();
      std::cout << "no error\n";
    } catch (const c10::Error&) {
      std::cout << "error\n";
    }
  }
}
