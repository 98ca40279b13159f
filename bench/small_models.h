// A perceptron and LeNet-5 (LeCun et al., "Gradient-based learning applied to document
// recognition", 1998; with relu and maxima) for 28 x 28 pictures of 10 classes, written as
// bench/resnet.h. bench/small_models.py has them in Python.
#pragma once

namespace bench {

inline library::nn::Sequential mlp() {
  namespace nn = library::nn;
  return nn::Sequential(nn::Linear(784, 512), nn::ReLU(), nn::Linear(512, 10));
}

inline library::nn::Sequential lenet() {
  namespace nn = library::nn;
  return nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, 6, 5).padding(2)), nn::ReLU(),
                        nn::MaxPool2d(2), nn::Conv2d(6, 16, 5), nn::ReLU(), nn::MaxPool2d(2),
                        nn::Flatten(), nn::Linear(400, 120), nn::ReLU(), nn::Linear(120, 84),
                        nn::ReLU(), nn::Linear(84, 10));
}

}  // namespace bench
