// A U-Net (Ronneberger et al., 2015) with group norms and SiLU, that sorts the pixels of images into
// classes, written as gpt.h. bench/models/vision.py is PyTorch's side.
#pragma once

#include "bench/resnet.h"

namespace bench {

// Images (N, 3, H, W) to scores (N, H, W, classes). H and W are multiples of 8.
struct UNet : nn::Module {
  explicit UNet(int64_t classes, int64_t width = 64) {
    constexpr int kLevels = 4;
    for (int64_t level = 0, in = 3, out = width; level < kLevels; ++level, in = out, out *= 2) {
      down->push_back(twice(in, out));
      if (level == 0) continue;
      up->push_back(nn::ConvTranspose2d(nn::ConvTranspose2dOptions(out, in, 2).stride(2)));
      joined->push_back(twice(out, in));
    }
    register_module("down", down), register_module("up", up), register_module("joined", joined);
    head = register_module("head", nn::Conv2d(width, classes, 1));
  }
  static nn::Sequential twice(int64_t in, int64_t out) {
    nn::Sequential layers;
    for (const int64_t channels : {in, out}) {
      layers->push_back(convolution(channels, out, 3, 1));
      layers->push_back(nn::GroupNorm(8, out));
      layers->push_back(nn::SiLU());
    }
    return layers;
  }
  Tensor forward(Tensor x) {
    std::vector<Tensor> seen;
    for (size_t level = 0; level < down->size(); ++level) {
      if (level > 0) x = library::max_pool2d(x, {2, 2});
      seen.push_back(x = down[level]->as<nn::Sequential>()->forward(x));
    }
    for (size_t level = up->size(); level-- > 0;) {
      x = up[level]->as<nn::ConvTranspose2d>()->forward(x);
      x = joined[level]->as<nn::Sequential>()->forward(library::cat({seen[level], x}, 1));
    }
    return head->forward(x).permute({0, 2, 3, 1});
  }
  nn::ModuleList down, up, joined;
  nn::Conv2d head{nullptr};
};

}  // namespace bench
