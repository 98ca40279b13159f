// Learns y = 2 x + 1 from 64 points.
#include <gradus/gradus.h>

#include <cmath>
#include <iostream>

int main() {
  gradus::manual_seed(1);
  auto x = gradus::rand({64, 1});
  auto y = 2 * x + 1;

  gradus::nn::Linear model(1, 1);
  gradus::nn::MSELoss mse;
  gradus::optim::SGD sgd(model->parameters(), gradus::optim::SGDOptions(0.1).momentum(0.9));
  for (int step = 0; step < 300; ++step) {
    sgd.zero_grad();
    mse(model(x), y).backward();
    sgd.step();
  }

  auto weight = model->weight.item<float>(), bias = model->bias.item<float>();
  std::cout << "y = " << weight << " x + " << bias << '\n';
  return std::abs(weight - 2) < 1e-3 && std::abs(bias - 1) < 1e-3 ? 0 : 1;
}
