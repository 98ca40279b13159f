// Losses, as functions (nn::functional) and as modules.
#pragma once

#include <cstdint>

#include "gradus/nn/cloneable.h"
#include "gradus/tensor/base/option.h"

namespace gradus {

// torch::kMean, kSum, kNone: what becomes of the losses of the single elements.
enum class Reduction : uint8_t { None, Mean, Sum };
inline constexpr Reduction kNone = Reduction::None, kMean = Reduction::Mean, kSum = Reduction::Sum;

namespace nn {

struct MSELossOptions {
  MSELossOptions() = default;
  MSELossOptions(Reduction reduction) : reduction_(reduction) {}  // NOLINT: implicit
  GRADUS_OPTION(MSELossOptions, Reduction, reduction) = kMean;
};

// `weight` (C): each class's losses are multiplied by its weight. A target of `ignore_index` adds
// nothing, neither a loss nor to what a mean is divided by.
struct NLLLossOptions {
  GRADUS_OPTION(NLLLossOptions, Tensor, weight);
  GRADUS_OPTION(NLLLossOptions, int64_t, ignore_index) = -100;
  GRADUS_OPTION(NLLLossOptions, Reduction, reduction) = kMean;
};

// `label_smoothing`: this part of the target's probability is spread over all classes.
struct CrossEntropyLossOptions {
  GRADUS_OPTION(CrossEntropyLossOptions, Tensor, weight);
  GRADUS_OPTION(CrossEntropyLossOptions, int64_t, ignore_index) = -100;
  GRADUS_OPTION(CrossEntropyLossOptions, Reduction, reduction) = kMean;
  GRADUS_OPTION(CrossEntropyLossOptions, double, label_smoothing) = 0;
};

namespace functional {
using MSELossFuncOptions = MSELossOptions;
using NLLLossFuncOptions = NLLLossOptions;
using CrossEntropyFuncOptions = CrossEntropyLossOptions;

// (input - target)^2, averaged, summed, or one by one. Errors: ValueError where shapes differ.
Tensor mse_loss(const Tensor& input, const Tensor& target, const MSELossOptions& options = {});
// -input[n, target[n, ...], ...]: input (N, C, ...) or (C) of log-probabilities, target (N, ...) or
// a number of classes (int64 or uint8) in [0, C). A mean is divided by the sum of the weights of
// the targets. Errors: ValueError for shapes, TypeError for dtypes, IndexError for a class out of
// range (on a GPU at the next synchronisation).
Tensor nll_loss(const Tensor& input, const Tensor& target, const NLLLossOptions& options = {});
// nll_loss of log_softmax(input, the dimension of classes). A target of input's shape holds
// probabilities instead: -sum(target * log_softmax(input)), whose mean is divided by N alone.
// Errors: those of nll_loss, and ValueError for a label_smoothing outside of [0, 1], and for an
// ignore_index among classes where the target holds probabilities.
Tensor cross_entropy(const Tensor& input, const Tensor& target,
                     const CrossEntropyLossOptions& options = {});
using gradus::one_hot;

inline Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias = {}) {
  return gradus::linear(input, weight, bias);
}
}  // namespace functional

struct MSELossImpl : Cloneable<MSELossImpl> {
  explicit MSELossImpl(const MSELossOptions& options_ = {})
      : Cloneable("MSELoss"), options(options_) {}
  void reset() override {}
  Tensor forward(const Tensor& input, const Tensor& target) {
    return functional::mse_loss(input, target, options);
  }
  MSELossOptions options;
};
GRADUS_MODULE(MSELoss);

struct NLLLossImpl : Cloneable<NLLLossImpl> {
  explicit NLLLossImpl(const NLLLossOptions& options_ = {});
  void reset() override;
  Tensor forward(const Tensor& input, const Tensor& target);
  NLLLossOptions options;
  Tensor weight;  // that of the options, as a buffer
};
GRADUS_MODULE(NLLLoss);

struct CrossEntropyLossImpl : Cloneable<CrossEntropyLossImpl> {
  explicit CrossEntropyLossImpl(const CrossEntropyLossOptions& options_ = {});
  void reset() override;
  Tensor forward(const Tensor& input, const Tensor& target);
  CrossEntropyLossOptions options;
  Tensor weight;  // that of the options, as a buffer
};
GRADUS_MODULE(CrossEntropyLoss);

}  // namespace nn

Tensor mse_loss(const Tensor& self, const Tensor& target, Reduction reduction = kMean);
Tensor nll_loss(const Tensor& self, const Tensor& target, const Tensor& weight = {},
                Reduction reduction = kMean, int64_t ignore_index = -100);
// libtorch's names for inputs of more dimensions.
inline Tensor nll_loss2d(const Tensor& self, const Tensor& target, const Tensor& weight = {},
                         Reduction reduction = kMean, int64_t ignore_index = -100) {
  return nll_loss(self, target, weight, reduction, ignore_index);
}
inline Tensor nll_loss_nd(const Tensor& self, const Tensor& target, const Tensor& weight = {},
                          Reduction reduction = kMean, int64_t ignore_index = -100) {
  return nll_loss(self, target, weight, reduction, ignore_index);
}
Tensor cross_entropy_loss(const Tensor& self, const Tensor& target, const Tensor& weight = {},
                          Reduction reduction = kMean, int64_t ignore_index = -100,
                          double label_smoothing = 0);

}  // namespace gradus
