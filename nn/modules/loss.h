// Losses: the rows of losses.def as functions (nn::functional) and as modules.
#pragma once

#include <cstdint>

#include "gradus/nn/layer.h"

namespace gradus {

// torch::kMean, kSum, kNone: what becomes of the losses of the single elements.
enum class Reduction : uint8_t { None, Mean, Sum };
inline constexpr Reduction kNone = Reduction::None, kMean = Reduction::Mean, kSum = Reduction::Sum;

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
template <class Derived, class Options, auto function>
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

  Tensor forward(const Tensor& input, const Tensor& target) {
    Options own = this->options;
    if constexpr (HasWeight<Options>) own.weight(this->weight);
    if constexpr (HasPosWeight<Options>) own.pos_weight(this->pos_weight);
    return function(input, target, own);
  }

  // "gradus::nn::MSELoss()", as libtorch prints it.
  void pretty_print(std::ostream& stream) const override {
    stream << class_name(typeid(Derived)) << "()";
  }

 private:
  typename Layer<Derived, Options>::CallReset call_reset_{*this};
};

#define LOSS(Name, function, gradus_function, FuncOptions, meaning, ...)                         \
  struct Name##Options {                                                                         \
    GRADUS_OPTIONS(Name##Options, __VA_ARGS__);                                                  \
  };                                                                                             \
  namespace functional {                                                                         \
  using FuncOptions = Name##Options;                                                             \
  Tensor function(const Tensor& input, const Tensor& target, const Name##Options& options = {}); \
  }                                                                                              \
  struct Name##Impl : Loss<Name##Impl, Name##Options, functional::function> {                    \
    using Loss::Loss;                                                                            \
  };                                                                                             \
  GRADUS_MODULE(Name);
#include "gradus/nn/losses.def"

namespace functional {
using gradus::one_hot;
}

}  // namespace nn

#define GRADUS_TAKEN_OPTION(type, name, ...) , const type& name = __VA_ARGS__
#define GRADUS_TAKEN_ARGUMENT(...) GRADUS_TAKEN_OPTION(__VA_ARGS__)
#define GRADUS_GIVEN_OPTION(type, name, ...) .name(name)
#define GRADUS_GIVEN_ARGUMENT(...) GRADUS_GIVEN_OPTION(__VA_ARGS__)
#define LOSS(Name, function, gradus_function, FuncOptions, meaning, ...)                          \
  inline Tensor gradus_function(const Tensor& self,                                               \
                                const Tensor& target GRADUS_EACH(GRADUS_TAKEN_, __VA_ARGS__)) {   \
    return nn::functional::function(self, target,                                                 \
                                    nn::Name##Options() GRADUS_EACH(GRADUS_GIVEN_, __VA_ARGS__)); \
  }
#include "gradus/nn/losses.def"
#undef GRADUS_TAKEN_OPTION
#undef GRADUS_TAKEN_ARGUMENT
#undef GRADUS_GIVEN_OPTION
#undef GRADUS_GIVEN_ARGUMENT

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
