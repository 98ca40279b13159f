// Losses, as functions (nn::functional) and as modules.
#pragma once

#include <cstdint>

#include "gradus/nn/options_module.h"
#include "gradus/tensor/base/option.h"

namespace gradus {

// torch::kMean, kSum, kNone: what becomes of the losses of the single elements.
enum class Reduction : uint8_t { None, Mean, Sum };
inline constexpr Reduction kNone = Reduction::None, kMean = Reduction::Mean, kSum = Reduction::Sum;

namespace nn {

// What most losses take.
template <class Options>
struct LossOptions {
  GRADUS_OPTION(Options, Tensor, weight);
  GRADUS_OPTION(Options, Reduction, reduction) = kMean;
};

struct MSELossOptions {
  MSELossOptions() = default;
  MSELossOptions(Reduction reduction) : reduction_(reduction) {}  // NOLINT: implicit
  GRADUS_OPTION(MSELossOptions, Reduction, reduction) = kMean;
  auto fields() { return std::tuple(); }
};
using L1LossOptions = MSELossOptions;

// `weight` multiplies the loss of each element, `pos_weight` the part that a positive target adds;
// both broadcast to the input's shape.
struct BCEWithLogitsLossOptions : LossOptions<BCEWithLogitsLossOptions> {
  GRADUS_OPTION(BCEWithLogitsLossOptions, Tensor, pos_weight);
  auto fields() { return std::tuple(Field{"weight", &weight_}, Field{"pos_weight", &pos_weight_}); }
};

// `weight` (C): each class's losses are multiplied by its weight. A target of `ignore_index` adds
// nothing, neither a loss nor to what a mean is divided by.
struct NLLLossOptions : LossOptions<NLLLossOptions> {
  GRADUS_OPTION(NLLLossOptions, int64_t, ignore_index) = -100;
  auto fields() { return std::tuple(Field{"weight", &weight_}); }
};

// `label_smoothing`: this part of the target's probability is spread over all classes.
struct CrossEntropyLossOptions : LossOptions<CrossEntropyLossOptions> {
  GRADUS_OPTION(CrossEntropyLossOptions, int64_t, ignore_index) = -100;
  GRADUS_OPTION(CrossEntropyLossOptions, double, label_smoothing) = 0;
  auto fields() { return std::tuple(Field{"weight", &weight_}); }
};

namespace functional {
using MSELossFuncOptions = MSELossOptions;
using L1LossFuncOptions = L1LossOptions;
using BinaryCrossEntropyWithLogitsFuncOptions = BCEWithLogitsLossOptions;
using NLLLossFuncOptions = NLLLossOptions;
using CrossEntropyFuncOptions = CrossEntropyLossOptions;

// (input - target)^2, averaged, summed, or one by one. Errors: ValueError where shapes differ.
Tensor mse_loss(const Tensor& input, const Tensor& target, const MSELossOptions& options = {});
// |input - target|, reduced as above. Errors: ValueError where shapes differ.
Tensor l1_loss(const Tensor& input, const Tensor& target, const L1LossOptions& options = {});
// -(pos_weight * target * log(sigmoid(input)) + (1 - target) * log(1 - sigmoid(input))), reduced as
// above; without overflow for any input. Errors: ValueError where shapes differ.
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        const BCEWithLogitsLossOptions& options = {});
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

#define LOSS(Name, function, ...)                                              \
  struct Name##Impl : LossModule<Name##Impl, Name##Options> {                  \
    static constexpr const char* kName = #Name;                                \
    template <class... Args>                                                   \
    requires std::is_constructible_v<Name##Options, Args...>                   \
    explicit Name##Impl(Args&&... args)                                        \
        : LossModule<Name##Impl, Name##Options>(std::forward<Args>(args)...) { \
      reset();                                                                 \
    }                                                                          \
    Tensor forward(const Tensor& input, const Tensor& target) {                \
      return functional::function(input, target, current());                   \
    }                                                                          \
    __VA_OPT__(Tensor __VA_ARGS__;)                                            \
    auto tensors() { return std::tie(__VA_ARGS__); }                           \
  };                                                                           \
  GRADUS_MODULE(Name);
#include "gradus/nn/losses.def"

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
