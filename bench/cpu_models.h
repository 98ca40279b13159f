// Steps of small models of each kind for a CPU, and tokens that a GPT generates, written as
// bench/resnet.h.
#pragma once

#include "bench/models/generation.h"
#include "bench/models/recurrent.h"
#include "bench/models/unet.h"
#include "bench/models/vision.h"

namespace bench {

// time_step(name, calls, model, x, y, loss); time(name, calls, f) for what has no step.
template <class TimeStep, class Time>
void time_models(const TimeStep& time_step, const Time& time) {
  using library::randint, library::randn, library::kLong;
  constexpr GPTSizes kBERT = {
      .vocabulary = 1000, .tokens = 128, .layers = 4, .heads = 4, .width = 256};
  constexpr GPTSizes kGPT = {
      .vocabulary = 1000, .tokens = 256, .layers = 6, .heads = 6, .width = 384};
  const auto loss = [](const Tensor& scores, const Tensor& y) {
    return nn::functional::cross_entropy(scores.reshape({-1, scores.size(-1)}), y.flatten());
  };
  time_step("step ViT-S batch 2", 1, std::make_shared<ViT>(), randn({2, 3, 224, 224}),
            randint(1000, {2}, kLong), loss);
  time_step("step MobileNetV2 batch 4", 1, std::make_shared<MobileNetV2>(),
            randn({4, 3, 224, 224}), randint(1000, {4}, kLong), loss);
  time_step("step U-Net 64 batch 4", 1, std::make_shared<UNet>(21, 16), randn({4, 3, 64, 64}),
            randint(21, {4, 64, 64}, kLong), loss);
  time_step("step LSTM language model 2 x 256 batch 16", 1, std::make_shared<LSTMModel>(1000, 256),
            randint(1000, {16, 64}, kLong), randint(1000, {16, 64}, kLong), loss);
  Tensor padded = randint(1, 1000, {8, 128}, kLong);
  padded.narrow(0, 0, 4).narrow(1, 96, 32).zero_();
  time_step("step BERT 4 x 256 padded batch 8", 1, std::make_shared<PaddedEncoder>(kBERT), padded,
            randint(1000, {8, 128}, kLong), loss);
  const library::NoGradGuard guard;
  Generation generation(std::make_shared<GPT>(kGPT), 1, kGPT.tokens);
  time("GPT 6 x 384 generates 64 tokens", 1, [&] {
    generation.place.zero_();
    for (int i = 0; i < 64; ++i) generation.step();
  });
}

}  // namespace bench
