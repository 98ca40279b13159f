// The time sequence example: two LSTM cells learn sine waves by LBFGS, and predict on their own.
#include <torch/torch.h>

#include <cmath>
#include <iostream>
#include <vector>

struct Sequence : torch::nn::Module {
  Sequence() : lstm1(1, 12), lstm2(12, 12), linear(12, 1) {
    register_module("lstm1", lstm1);
    register_module("lstm2", lstm2);
    register_module("linear", linear);
  }

  torch::Tensor forward(torch::Tensor input, int64_t future = 0) {
    std::vector<torch::Tensor> outputs;
    auto state = [&] { return torch::zeros({input.size(0), 12}, input.options()); };
    auto first = std::make_tuple(state(), state()), second = std::make_tuple(state(), state());
    torch::Tensor output;
    auto step = [&](const torch::Tensor& value) {
      first = lstm1(value, first);
      second = lstm2(std::get<0>(first), second);
      output = linear(std::get<0>(second));
      outputs.push_back(output);
    };
    for (const auto& value : input.split(1, /*dim=*/1)) step(value);
    for (int64_t i = 0; i < future; ++i) step(output);
    return torch::cat(outputs, 1);
  }

  torch::nn::LSTMCell lstm1, lstm2;
  torch::nn::Linear linear;
};

int main() {
  torch::manual_seed(0);
  const int64_t kLength = 40;
  auto shift = torch::randint(-80, 80, {10, 1}, torch::kFloat64);
  auto data = torch::sin((torch::arange(kLength, torch::kFloat64) + shift) / 5.0);
  auto input = data.slice(0, 3).slice(1, 0, -1), target = data.slice(0, 3).slice(1, 1);
  auto test_input = data.slice(0, 0, 3).slice(1, 0, -1);
  auto test_target = data.slice(0, 0, 3).slice(1, 1);

  Sequence model;
  model.to(torch::kFloat64);
  torch::nn::MSELoss criterion;
  torch::optim::LBFGS optimizer(model.parameters(), torch::optim::LBFGSOptions(0.5));
  double first = 0, last = 0;
  for (int i = 0; i < 6; ++i) {
    int calls = 0;
    auto closure = [&]() {
      optimizer.zero_grad();
      auto loss = criterion(model.forward(input), target);
      loss.backward();
      if (i == 0 && calls == 0) first = loss.item<double>();
      ++calls;
      return loss;
    };
    last = optimizer.step(closure).item<double>();
    std::cout << "step " << i << ": calls of the closure: " << (calls > 1) << "\n";
  }
  torch::NoGradGuard no_grad;
  const int64_t kFuture = 10;
  auto prediction = model.forward(test_input, kFuture);
  auto loss = criterion(prediction.slice(1, 0, -kFuture), test_target);
  std::cout << prediction.sizes() << " loss falls to a tenth: " << (10 * last < first)
            << ", on other waves below a fifth: " << (5 * loss.item<double>() < first) << "\n";
}
