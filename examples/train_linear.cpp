// Trains one linear layer to tell images of digits apart: a whole program, to be read alone.
//
//   train_linear [FOLDER [DEVICE]]    FOLDER: the four files of MNIST or Fashion-MNIST
#include <gradus/gradus.h>

#include <exception>
#include <iostream>
#include <string>

using gradus::Tensor;

int main(int argc, char** argv) try {
  const std::string folder = argc > 1 ? argv[1] : "data/digits";  // of the repository
  const gradus::Device device(argc > 2 ? argv[2] : gradus::cuda::is_available() ? "cuda" : "cpu");

  // The images are numbers in [0, 1], a row for each image. The targets are classes from 0 on.
  const auto train = gradus::data::load_idx_folder(folder, /*train=*/true);
  const auto test = gradus::data::load_idx_folder(folder, /*train=*/false);
  const Tensor images = train.images.flatten(1).to(device), targets = train.targets.to(device);
  const Tensor test_images = test.images.flatten(1).to(device);
  const Tensor test_targets = test.targets.to(device);

  gradus::manual_seed(1);
  gradus::nn::Linear model(images.size(1), train.classes);  // pixels to scores of the classes
  model->to(device);
  gradus::nn::CrossEntropyLoss loss_of;
  gradus::optim::SGD optimizer(model->parameters(), gradus::optim::SGDOptions(0.1).momentum(0.9));

  for (int epoch = 1; epoch <= 10; ++epoch) {
    Tensor loss;
    // An epoch takes every image once, in a new order, 128 in a step.
    for (const Tensor& batch : gradus::randperm(train.size()).to(device).split(128)) {
      optimizer.zero_grad();
      loss = loss_of(model(images.index_select(0, batch)), targets.index_select(0, batch));
      loss.backward();   // computes the gradient of each parameter
      optimizer.step();  // moves each parameter against its gradient
    }
    const gradus::NoGradGuard no_grad;  // nothing is recorded here
    const Tensor right = model(test_images).argmax(1).eq(test_targets);
    std::cout << "epoch " << epoch << ": loss " << loss.item<float>() << ", test accuracy "
              << 100 * right.to(gradus::kDouble).mean().item<double>() << "%\n";
  }
} catch (const std::exception& error) {
  std::cerr << "train_linear: " << error.what() << '\n';
  return 1;
}
