// The regression example: a polynomial of the fourth degree, fitted by a linear layer.
#include <torch/torch.h>

#include <iostream>
#include <utility>
#include <vector>

constexpr int64_t kDegree = 4;

// Rows of x, x^2, x^3, x^4.
static torch::Tensor make_features(torch::Tensor x) {
  x = x.unsqueeze(1);
  std::vector<torch::Tensor> powers;
  for (int64_t i = 0; i < kDegree; ++i) powers.push_back(x.pow(i + 1));
  return torch::cat(powers, 1);
}

int main() {
  torch::manual_seed(3);
  auto target_weight = torch::randn({kDegree, 1}) * 2, target_bias = torch::randn({1}) * 2;
  auto get_batch = [&](int64_t batch_size = 64) {
    auto features = make_features(torch::rand({batch_size}) * 2 - 1);
    return std::make_pair(features, features.mm(target_weight) + target_bias);
  };

  torch::nn::Linear fc(target_weight.size(0), 1);
  torch::optim::SGD optim(fc->parameters(), torch::optim::SGDOptions(0.3).momentum(0.5));
  double loss = 1e9;
  int64_t batches = 0;
  while (loss >= 1e-3 && ++batches < 5000) {
    auto batch = get_batch();
    optim.zero_grad();
    auto output = torch::nn::functional::smooth_l1_loss(fc(batch.first), batch.second);
    loss = output.item<double>();
    output.backward();
    optim.step();
  }
  std::cout << "fitted: " << (loss < 1e-3) << " "
            << (fc->bias - target_bias).abs().max().lt(0.3).item<bool>() << "\n";
  std::cout << fc << "\n";
}
