// ResNet-18 for images of 32 x 32 and ResNet-50 for those of 224 x 224 (He et al., "Deep residual
// learning for image recognition", 2016), written in names that Gradus and libtorch share. Before
// it is included, `library` stands for gradus or torch.
#pragma once

namespace bench {

namespace nn = library::nn;
using library::Tensor;

inline nn::Conv2d convolution(int64_t in, int64_t out, int64_t kernel, int64_t stride) {
  return nn::Conv2d(
      nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(false));
}

// relu(norm(x) + identity). Gradus' model calls the helper that makes one operation of it, as
// PyTorch's compiler does.
template <class Norm>
Tensor add_relu(Norm& norm, const Tensor& x, const Tensor& identity) {
  using namespace nn::detail;
  if constexpr (requires { norm_add_relu(*norm, x, identity); })
    return norm_add_relu(*norm, x, identity);
  else
    return library::relu(norm->forward(x) + identity);
}

// Two convolutions, and the shortcut around them.
struct ResidualBlock : nn::Module {
  ResidualBlock(int64_t in, int64_t out, int64_t stride)
      : inner(register_module(
            "inner", nn::Sequential(convolution(in, out, 3, stride), nn::BatchNorm2d(out),
                                    nn::ReLU(nn::ReLUOptions(true)), convolution(out, out, 3, 1)))),
        norm(register_module("norm", nn::BatchNorm2d(out))) {
    if (stride != 1 || in != out)
      shortcut = register_module(
          "shortcut", nn::Sequential(convolution(in, out, 1, stride), nn::BatchNorm2d(out)));
  }
  Tensor forward(const Tensor& x) {
    return add_relu(norm, inner->forward(x), shortcut ? shortcut->forward(x) : x);
  }
  nn::Sequential inner;
  nn::BatchNorm2d norm;
  nn::Sequential shortcut{nullptr};
};

// Images (N, 3, 32, 32) to scores (N, classes).
struct ResNet18 : nn::Module {
  explicit ResNet18(int64_t classes) {
    layers->push_back(convolution(3, 64, 3, 1));
    layers->push_back(nn::BatchNorm2d(64));
    layers->push_back(nn::ReLU(nn::ReLUOptions(true)));
    for (int64_t stage = 0, in = 64; stage < 4; ++stage) {
      const int64_t out = int64_t{64} << stage;
      layers->push_back(ResidualBlock(in, out, stage == 0 ? 1 : 2));
      layers->push_back(ResidualBlock(out, out, 1));
      in = out;
    }
    layers->push_back(nn::AdaptiveAvgPool2d(1));
    layers->push_back(nn::Flatten());
    layers->push_back(nn::Linear(512, classes));
    register_module("layers", layers);
  }
  Tensor forward(const Tensor& x) { return layers->forward(x); }
  nn::Sequential layers;
};

// Three convolutions, of which the middle one sees few channels, and the shortcut around them.
struct Bottleneck : nn::Module {
  Bottleneck(int64_t in, int64_t width, int64_t stride)
      : inner(register_module(
            "inner",
            nn::Sequential(convolution(in, width, 1, 1), nn::BatchNorm2d(width),
                           nn::ReLU(nn::ReLUOptions(true)), convolution(width, width, 3, stride),
                           nn::BatchNorm2d(width), nn::ReLU(nn::ReLUOptions(true)),
                           convolution(width, 4 * width, 1, 1)))),
        norm(register_module("norm", nn::BatchNorm2d(4 * width))) {
    if (stride != 1 || in != 4 * width)
      shortcut = register_module("shortcut", nn::Sequential(convolution(in, 4 * width, 1, stride),
                                                            nn::BatchNorm2d(4 * width)));
  }
  Tensor forward(const Tensor& x) {
    return add_relu(norm, inner->forward(x), shortcut ? shortcut->forward(x) : x);
  }
  nn::Sequential inner;
  nn::BatchNorm2d norm;
  nn::Sequential shortcut{nullptr};
};

// Images (N, 3, 224, 224) to scores (N, classes).
struct ResNet50 : nn::Module {
  explicit ResNet50(int64_t classes) {
    layers->push_back(convolution(3, 64, 7, 2));
    layers->push_back(nn::BatchNorm2d(64));
    layers->push_back(nn::ReLU(nn::ReLUOptions(true)));
    layers->push_back(nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2).padding(1)));
    int64_t in = 64, width = 64;
    for (const int64_t blocks : {3, 4, 6, 3}) {
      for (int64_t i = 0; i < blocks; ++i) {
        layers->push_back(Bottleneck(in, width, i == 0 && width > 64 ? 2 : 1));
        in = 4 * width;
      }
      width *= 2;
    }
    layers->push_back(nn::AdaptiveAvgPool2d(1));
    layers->push_back(nn::Flatten());
    layers->push_back(nn::Linear(2048, classes));
    register_module("layers", layers);
  }
  Tensor forward(const Tensor& x) { return layers->forward(x); }
  nn::Sequential layers;
};

}  // namespace bench
