// MobileNetV2 (Sandler et al., 2018) and a vision transformer, ViT-S/16 (Dosovitskiy et al., 2021),
// for images of 224 x 224, written as gpt.h. bench/models/vision.py is PyTorch's side.
#pragma once

#include "bench/models/gpt.h"
#include "bench/resnet.h"

namespace bench {

// norm(x) + identity. Gradus' model calls the helper that makes one operation of it.
template <class Norm>
Tensor add(Norm& norm, const Tensor& x, const Tensor& identity) {
  using namespace nn::detail;
  if constexpr (requires { norm_add(*norm, x, identity); })
    return norm_add(*norm, x, identity);
  else
    return norm->forward(x) + identity;
}

// Wider by a convolution of 1 x 1, each channel by itself, narrower again.
struct InvertedResidual : nn::Module {
  InvertedResidual(int64_t in, int64_t out, int64_t stride, int64_t wider)
      : adds(stride == 1 && in == out), norm(out) {
    const int64_t width = in * wider;
    const auto add = [&](const nn::Conv2dOptions& options) {
      inner->push_back(nn::Conv2d(options));
      inner->push_back(nn::BatchNorm2d(options.out_channels()));
      inner->push_back(nn::ReLU6(nn::ReLU6Options(true)));
    };
    if (wider > 1) add(nn::Conv2dOptions(in, width, 1).bias(false));
    add(nn::Conv2dOptions(width, width, 3).stride(stride).padding(1).groups(width).bias(false));
    inner->push_back(nn::Conv2d(nn::Conv2dOptions(width, out, 1).bias(false)));
    register_module("inner", inner), register_module("norm", norm);
  }
  Tensor forward(const Tensor& x) {
    const Tensor y = inner->forward(x);
    return adds ? add(norm, y, x) : norm->forward(y);
  }
  bool adds;
  nn::Sequential inner;
  nn::BatchNorm2d norm;
};

// Images (N, 3, 224, 224) to scores (N, 1000).
struct MobileNetV2 : nn::Module {
  MobileNetV2() {
    const auto add = [&](int64_t in, int64_t out, int64_t kernel, int64_t stride) {
      layers->push_back(convolution(in, out, kernel, stride));
      layers->push_back(nn::BatchNorm2d(out));
      layers->push_back(nn::ReLU6(nn::ReLU6Options(true)));
    };
    add(3, 32, 3, 2);
    int64_t in = 32;
    constexpr int64_t kStages[][4] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                                      {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
    for (const auto& [wider, out, count, stride] : kStages)
      for (int64_t i = 0; i < count; ++i) {
        layers->push_back(InvertedResidual(in, out, i == 0 ? stride : 1, wider));
        in = out;
      }
    add(in, 1280, 1, 1);
    layers->push_back(nn::AdaptiveAvgPool2d(1));
    layers->push_back(nn::Flatten());
    layers->push_back(nn::Linear(1280, 1000));
    register_module("layers", layers);
  }
  Tensor forward(const Tensor& x) { return layers->forward(x); }
  nn::Sequential layers;
};

// Images (N, 3, 224, 224) to scores (N, 1000), by 12 layers of 384 over patches of 16 x 16.
struct ViT : nn::Module {
  ViT()
      : patches(register_module("patches", nn::Conv2d(nn::Conv2dOptions(3, 384, 16).stride(16)))),
        first(register_parameter("first", library::zeros({1, 1, 384}))),
        places(register_parameter("places", library::randn({1, 197, 384}) * 0.02)),
        norm(register_module("norm", GPTBlock::norm(384))),
        head(register_module("head", nn::Linear(384, 1000))) {
    for (int64_t i = 0; i < 12; ++i)
      blocks->push_back(std::make_shared<GPTBlock>(6, 384, /*sees_all=*/true));
    register_module("blocks", blocks);
  }
  Tensor forward(const Tensor& images) {
    const Tensor parts = patches->forward(images).flatten(2).transpose(1, 2);
    Tensor x = library::cat({first.expand({parts.size(0), 1, 384}), parts}, 1) + places;
    for (const auto& block : *blocks) x = block->as<GPTBlock>()->forward(x);
    return head->forward(norm->forward(x).select(1, 0));
  }
  nn::Conv2d patches;
  Tensor first, places;
  nn::LayerNorm norm;
  nn::Linear head;
  nn::ModuleList blocks;
};

}  // namespace bench
