// Losses, as functions (nn::functional) and as modules.
#pragma once

#include <cstdint>

#include "gradus/nn/cloneable.h"
#include "gradus/tensor/option.h"

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

struct CrossEntropyLossOptions {
  CrossEntropyLossOptions() = default;
  CrossEntropyLossOptions(Reduction reduction) : reduction_(reduction) {}  // NOLINT: implicit
  GRADUS_OPTION(CrossEntropyLossOptions, Reduction, reduction) = kMean;
};

namespace functional {
using MSELossFuncOptions = MSELossOptions;
using CrossEntropyFuncOptions = CrossEntropyLossOptions;

// (input - target)^2, averaged, summed, or one by one. Errors: ValueError where shapes differ.
Tensor mse_loss(const Tensor& input, const Tensor& target, const MSELossOptions& options = {});
// -input[n, target[n]]: input (N, C) of log-probabilities, target (N) of classes (int64).
Tensor nll_loss(const Tensor& input, const Tensor& target,
                const CrossEntropyLossOptions& options = {});
// nll_loss of log_softmax(input): input (N, C) or (C), target (N) or a number, in [0, C).
// Errors: ValueError for shapes, TypeError for a target that is not int64, IndexError for a class
// out of range (on a GPU at the next synchronisation).
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

struct CrossEntropyLossImpl : Cloneable<CrossEntropyLossImpl> {
  explicit CrossEntropyLossImpl(const CrossEntropyLossOptions& options_ = {})
      : Cloneable("CrossEntropyLoss"), options(options_) {}
  void reset() override {}
  Tensor forward(const Tensor& input, const Tensor& target) {
    return functional::cross_entropy(input, target, options);
  }
  CrossEntropyLossOptions options;
};
GRADUS_MODULE(CrossEntropyLoss);

}  // namespace nn

Tensor mse_loss(const Tensor& self, const Tensor& target, Reduction reduction = kMean);
Tensor nll_loss(const Tensor& self, const Tensor& target, Reduction reduction = kMean);
Tensor cross_entropy_loss(const Tensor& self, const Tensor& target, Reduction reduction = kMean);

}  // namespace gradus
