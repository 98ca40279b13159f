// Losses: the rows of losses.def as functions (nn::functional) and as modules.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>

#include "gradus/nn/layer.h"

namespace gradus {

// torch::kMean, kSum, kNone, kBatchMean: what becomes of the losses of the single elements.
enum class Reduction : uint8_t { None, Mean, Sum, BatchMean };
inline constexpr Reduction kNone = Reduction::None, kMean = Reduction::Mean, kSum = Reduction::Sum,
                           kBatchMean = Reduction::BatchMean;
// "kMean"; the number of an unknown one.
void append(std::string& out, Reduction reduction);
std::ostream& operator<<(std::ostream& stream, Reduction reduction);

namespace nn {

template <class Options>
concept HasWeight = requires(Options options) {
  options.weight();
};
template <class Options>
concept HasPosWeight = HasWeight<Options> && requires(Options options) {
  options.pos_weight();
};

// The tensors among the options of a loss, as buffers of its module.
template <class Options>
struct LossBuffers {};
template <HasWeight Options>
struct LossBuffers<Options> {
  Tensor weight;
};
template <HasPosWeight Options>
struct LossBuffers<Options> {
  Tensor weight, pos_weight;
};

// The module of a loss.
template <class Derived, class Options>
struct Loss : Layer<Derived, Options>, LossBuffers<Options> {
  using Layer<Derived, Options>::Layer;

  void reset() override {
    // The same memory in a tensor of its own: a module that moves does not move the tensor of its
    // options.
    const auto buffer = [this](const char* name, const Tensor& tensor) {
      return this->register_buffer(name, tensor.defined() ? tensor.detach() : tensor);
    };
    if constexpr (HasWeight<Options>) this->weight = buffer("weight", this->options.weight());
    if constexpr (HasPosWeight<Options>)
      this->pos_weight = buffer("pos_weight", this->options.pos_weight());
  }

  // "gradus::nn::HingeEmbeddingLoss(margin=1)", as libtorch prints it.
  void pretty_print(std::ostream& stream) const override {
    stream << class_name(typeid(Derived)) << '(';
    const char* separator = "";
    std::apply(
        [&](const auto&... option) {
          ((stream << std::exchange(separator, ", ") << option.name << '=' << std::boolalpha
                   << option.value),
           ...);
        },
        Derived::shown(this->options));
    stream << ')';
  }

 protected:
  // The options, with the buffers in place of the tensors that they began as.
  Options own_options() const {
    Options own = this->options;
    if constexpr (HasWeight<Options>) own.weight(this->weight);
    if constexpr (HasPosWeight<Options>) own.pos_weight(this->pos_weight);
    return own;
  }

 private:
  typename Layer<Derived, Options>::CallReset call_reset_{*this};
};

#define GRADUS_PLAIN(...) __VA_ARGS__
#define GRADUS_PARAMETER_SHOWN GRADUS_PARAMETER_OPTION
#define GRADUS_INITIALIZER_SHOWN GRADUS_INITIALIZER_OPTION
#define GRADUS_FIELD_SHOWN GRADUS_FIELD_OPTION
#define GRADUS_MEMBER_SHOWN GRADUS_MEMBER_OPTION
#define GRADUS_COUNT_SHOWN GRADUS_COUNT_OPTION
#define GRADUS_PLACE_SHOWN GRADUS_PLACE_OPTION
#define GRADUS_PARAMETER_TYPE(...)
#define GRADUS_INITIALIZER_TYPE(...)
#define GRADUS_FIELD_TYPE(...)
#define GRADUS_MEMBER_TYPE(name, ...) using name = __VA_ARGS__;
#define GRADUS_COUNT_TYPE(...)
#define GRADUS_PLACE_TYPE(...)
#define GRADUS_TEXT_TYPE(...)
#define GRADUS_TEXT_ARGUMENT(...)
#define GRADUS_TEXT_OPTION(...)
#define GRADUS_TEXT_SHOWN(type, name, ...) , named_option(#name, options.name())
#define LOSS_OF(tensors, names, Name, function, gradus_function, FuncOptions, meaning, ...)    \
  struct Name##Options {                                                                       \
    using reduction_t = Reduction;                                                             \
    GRADUS_OPTIONS(Name##Options, __VA_ARGS__);                                                \
  };                                                                                           \
  namespace functional {                                                                       \
  using FuncOptions = Name##Options;                                                           \
  Tensor function(GRADUS_PLAIN tensors, const Name##Options& options = {});                    \
  }                                                                                            \
  struct Name##Impl : Loss<Name##Impl, Name##Options> {                                        \
    using Loss::Loss;                                                                          \
    Tensor forward tensors { return functional::function(GRADUS_PLAIN names, own_options()); } \
    template <class Options>                                                                   \
    static auto shown([[maybe_unused]] const Options& options) {                               \
      return std::make_tuple(GRADUS_LIST(GRADUS_EACH(GRADUS_TEXT_, __VA_ARGS__)));             \
    }                                                                                          \
  };                                                                                           \
  GRADUS_MODULE(Name);
#include "gradus/nn/losses.def"
#undef GRADUS_PARAMETER_TYPE
#undef GRADUS_INITIALIZER_TYPE
#undef GRADUS_FIELD_TYPE
#undef GRADUS_MEMBER_TYPE
#undef GRADUS_COUNT_TYPE
#undef GRADUS_PLACE_TYPE
#undef GRADUS_TEXT_TYPE
#undef GRADUS_PARAMETER_SHOWN
#undef GRADUS_INITIALIZER_SHOWN
#undef GRADUS_FIELD_SHOWN
#undef GRADUS_MEMBER_SHOWN
#undef GRADUS_COUNT_SHOWN
#undef GRADUS_PLACE_SHOWN
#undef GRADUS_TEXT_ARGUMENT
#undef GRADUS_TEXT_OPTION
#undef GRADUS_TEXT_SHOWN

namespace functional {
using gradus::one_hot;

// Errors: also ValueError where the options have a beta too.
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const SmoothL1LossOptions& options,
                      double beta);
}  // namespace functional

}  // namespace nn

#define GRADUS_TAKEN_TYPE(...)
#define GRADUS_GIVEN_TYPE(...)
#define GRADUS_TAKEN_OPTION(type, name, ...) , const type& name = __VA_ARGS__
#define GRADUS_TAKEN_ARGUMENT GRADUS_TAKEN_OPTION
#define GRADUS_TAKEN_SHOWN GRADUS_TAKEN_OPTION
#define GRADUS_GIVEN_OPTION(type, name, ...) .name(name)
#define GRADUS_GIVEN_ARGUMENT GRADUS_GIVEN_OPTION
#define GRADUS_GIVEN_SHOWN GRADUS_GIVEN_OPTION
#define LOSS_OF(tensors, names, Name, function, gradus_function, FuncOptions, meaning, ...)       \
  inline Tensor gradus_function(GRADUS_PLAIN tensors GRADUS_EACH(GRADUS_TAKEN_, __VA_ARGS__)) {   \
    return nn::functional::function(GRADUS_PLAIN names,                                           \
                                    nn::Name##Options() GRADUS_EACH(GRADUS_GIVEN_, __VA_ARGS__)); \
  }
#define MODULE_LOSS(...)
#include "gradus/nn/losses.def"
#undef GRADUS_PLAIN
#undef GRADUS_TAKEN_TYPE
#undef GRADUS_GIVEN_TYPE
#undef GRADUS_TAKEN_OPTION
#undef GRADUS_TAKEN_ARGUMENT
#undef GRADUS_TAKEN_SHOWN
#undef GRADUS_GIVEN_OPTION
#undef GRADUS_GIVEN_ARGUMENT
#undef GRADUS_GIVEN_SHOWN

// The losses of nn::functional. The target may have another shape by dimensions of size 1: [N, 1]
// and [N].
inline Tensor binary_cross_entropy(const Tensor& input, const Tensor& target,
                                   const Tensor& weight = {}, Reduction reduction = kMean) {
  const bool same =
      input.defined() && target.defined() && input.squeeze().sizes() == target.squeeze().sizes();
  return nn::functional::binary_cross_entropy(
      input, same ? target.reshape(input.sizes()) : target,
      nn::BCELossOptions().weight(weight).reduction(reduction));
}

inline Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths,
                       IntArrayRef target_lengths, int64_t blank = 0, Reduction reduction = kMean,
                       bool zero_infinity = false) {
  return ctc_loss(log_probs, targets, tensor(input_lengths), tensor(target_lengths), blank,
                  reduction, zero_infinity);
}

// libtorch's names for inputs of more dimensions.
inline Tensor nll_loss2d(const Tensor& self, const Tensor& target, const Tensor& weight = {},
                         Reduction reduction = kMean, int64_t ignore_index = -100) {
  return nll_loss(self, target, weight, reduction, ignore_index);
}
inline Tensor nll_loss_nd(const Tensor& self, const Tensor& target, const Tensor& weight = {},
                          Reduction reduction = kMean, int64_t ignore_index = -100) {
  return nll_loss(self, target, weight, reduction, ignore_index);
}

}  // namespace gradus
