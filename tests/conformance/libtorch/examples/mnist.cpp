// The convolutional net of the MNIST example, trained on digits that are drawn here.
#include <torch/torch.h>

#include <cstddef>
#include <iostream>
#include <vector>

struct Net : torch::nn::Module {
  Net()
      : conv1(torch::nn::Conv2dOptions(1, 6, 3).padding(1)),
        conv2(torch::nn::Conv2dOptions(6, 12, 3).padding(1)),
        fc1(12 * 4 * 4, 32),
        fc2(32, 10) {
    register_module("conv1", conv1);
    register_module("conv2", conv2);
    register_module("conv2_drop", conv2_drop);
    register_module("fc1", fc1);
    register_module("fc2", fc2);
  }

  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(torch::max_pool2d(conv1->forward(x), 2));
    x = torch::relu(torch::max_pool2d(conv2_drop->forward(conv2->forward(x)), 2));
    x = torch::relu(fc1->forward(x.view({-1, 12 * 4 * 4})));
    x = torch::dropout(x, /*p=*/0.1, /*training=*/is_training());
    return torch::log_softmax(fc2->forward(x), /*dim=*/1);
  }

  torch::nn::Conv2d conv1, conv2;
  torch::nn::Dropout2d conv2_drop{torch::nn::Dropout2dOptions(0.1)};
  torch::nn::Linear fc1, fc2;
};

// Digit d is a bar at a place of its own, and noise.
class Digits : public torch::data::datasets::Dataset<Digits> {
 public:
  explicit Digits(int64_t count) : targets_(torch::arange(count).remainder(10)) {
    images_ = torch::rand({count, 1, 16, 16}) * 0.3;
    for (int64_t i = 0; i < count; ++i) images_[i][0][3 + i % 10].add_(0.5);
  }
  torch::data::Example<> get(size_t index) override {
    const auto i = static_cast<int64_t>(index);
    return {images_[i], targets_[i]};
  }
  torch::optional<size_t> size() const override { return images_.size(0); }

 private:
  torch::Tensor images_, targets_;
};

template <typename DataLoader>
static void train(Net& model, torch::Device device, DataLoader& data_loader,
                  torch::optim::Optimizer& optimizer) {
  model.train();
  for (auto& batch : data_loader) {
    auto data = batch.data.to(device), targets = batch.target.to(device);
    optimizer.zero_grad();
    auto output = model.forward(data);
    auto loss = torch::nll_loss(output, targets);
    AT_ASSERT(!std::isnan(loss.template item<float>()));
    loss.backward();
    optimizer.step();
  }
}

template <typename DataLoader>
static void test(Net& model, torch::Device device, DataLoader& data_loader, size_t count) {
  torch::NoGradGuard no_grad;
  model.eval();
  double test_loss = 0;
  int64_t correct = 0;
  for (const auto& batch : data_loader) {
    auto data = batch.data.to(device), targets = batch.target.to(device);
    auto output = model.forward(data);
    test_loss += torch::nll_loss(output, targets, /*weight=*/{}, torch::Reduction::Sum)
                     .template item<double>();
    auto pred = output.argmax(1);
    correct += pred.eq(targets).sum().template item<int64_t>();
  }
  test_loss /= static_cast<double>(count);
  std::cout << "loss below 0.5: " << (test_loss < 0.5)
            << ", nine of ten right: " << (correct * 10 > static_cast<int64_t>(count) * 9) << "\n";
}

int main() {
  torch::manual_seed(1);
  torch::Device device(torch::kCPU);
  Net model;
  model.to(device);
  auto train_dataset = Digits(400)
                           .map(torch::data::transforms::Normalize<>(0.1307, 0.3081))
                           .map(torch::data::transforms::Stack<>());
  const size_t train_size = train_dataset.size().value();
  auto train_loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      std::move(train_dataset), 20);
  auto test_dataset = Digits(100)
                          .map(torch::data::transforms::Normalize<>(0.1307, 0.3081))
                          .map(torch::data::transforms::Stack<>());
  const size_t test_size = test_dataset.size().value();
  auto test_loader = torch::data::make_data_loader(std::move(test_dataset), 50);
  torch::optim::SGD optimizer(model.parameters(), torch::optim::SGDOptions(0.05).momentum(0.5));
  for (size_t epoch = 1; epoch <= 6; ++epoch) train(model, device, *train_loader, optimizer);
  std::cout << train_size << " pictures, ";
  test(model, device, *test_loader, test_size);
}
