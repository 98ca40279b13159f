// Trains a small convolutional network to tell images apart: a whole program, to be read alone.
//
//   train_cnn [FOLDER [DEVICE]]    FOLDER: the four files of MNIST or Fashion-MNIST
#include <gradus/gradus.h>

#include <algorithm>
#include <exception>
#include <iostream>
#include <string>

using gradus::Tensor;
namespace nn = gradus::nn;

// Images (N, 1, side, side) to scores (N, classes), like LeNet-5 (LeCun et al. 1998).
struct NetImpl : nn::Module {
  NetImpl(int64_t side, int64_t classes)
      : conv1(register_module("conv1", nn::Conv2d(nn::Conv2dOptions(1, 6, 5).padding(2)))),
        conv2(register_module("conv2", nn::Conv2d(nn::Conv2dOptions(6, 16, 5).padding(2)))),
        fc1(register_module("fc1", nn::Linear(16 * (side / 4) * (side / 4), 120))),
        fc2(register_module("fc2", nn::Linear(120, classes))) {}

  Tensor forward(const Tensor& images) {
    Tensor x = gradus::max_pool2d(conv1(images).relu(), 2);  // half the height and width
    x = gradus::max_pool2d(conv2(x).relu(), 2);              // a quarter
    return fc2(fc1(x.flatten(1)).relu());
  }

  nn::Conv2d conv1, conv2;
  nn::Linear fc1, fc2;
};
GRADUS_MODULE(Net);  // Net is a handle to a NetImpl

int main(int argc, char** argv) try {
  const std::string folder = argc > 1 ? argv[1] : "data/digits";  // of the repository
  const gradus::Device device(argc > 2 ? argv[2] : gradus::cuda::is_available() ? "cuda" : "cpu");

  // The images are numbers in [0, 1] with one channel. The targets are classes from 0 on.
  const auto train = gradus::data::load_idx_folder(folder, /*train=*/true);
  const auto test = gradus::data::load_idx_folder(folder, /*train=*/false);
  const Tensor images = train.images.unsqueeze(1).to(device), targets = train.targets.to(device);
  const Tensor test_images = test.images.unsqueeze(1).to(device);
  const Tensor test_targets = test.targets.to(device);

  gradus::manual_seed(1);
  Net model(images.size(3), train.classes);
  model->to(device);
  nn::CrossEntropyLoss loss_of;
  gradus::optim::Adam optimizer(model->parameters(), gradus::optim::AdamOptions(2e-3));

  for (int epoch = 1; epoch <= 10; ++epoch) {
    Tensor loss;
    // An epoch takes every image once, in a new order, 32 in a step.
    for (const Tensor& batch : gradus::randperm(train.size()).to(device).split(32)) {
      optimizer.zero_grad();
      loss = loss_of(model(images.index_select(0, batch)), targets.index_select(0, batch));
      loss.backward();
      optimizer.step();
    }
    const gradus::NoGradGuard no_grad;
    int64_t right = 0;
    for (int64_t first = 0; first < test.size(); first += 1000) {  // 1000 images fit any memory
      const int64_t count = std::min<int64_t>(1000, test.size() - first);
      const Tensor answers = model(test_images.narrow(0, first, count)).argmax(1);
      right += answers.eq(test_targets.narrow(0, first, count)).sum().item<int64_t>();
    }
    std::cout << "epoch " << epoch << ": loss " << loss.item<float>() << ", test accuracy "
              << 100.0 * static_cast<double>(right) / static_cast<double>(test.size()) << "%\n";
  }
} catch (const std::exception& error) {
  std::cerr << "train_cnn: " << error.what() << '\n';
  return 1;
}
