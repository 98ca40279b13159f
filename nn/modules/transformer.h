// Transformer, its encoder and decoder, and their layers.
//
// Sequences are (length, batch, d_model). A mask (targets, sources) and a key_padding_mask (batch,
// sources) are those of MultiheadAttention: what is true is not seen, numbers are added.
#pragma once

#include <functional>
#include <variant>

#include "gradus/nn/any_module.h"
#include "gradus/nn/containers.h"
#include "gradus/nn/modules/attention.h"
#include "gradus/nn/modules/dropout.h"
#include "gradus/nn/modules/normalization.h"
#include "gradus/nn/nonlinearity.h"

namespace gradus::nn {

// kReLU, kGELU, or a function.
using activation_t = std::variant<Nonlinearity, std::function<Tensor(const Tensor&)>>;

// layer_norm_eps: the eps of each LayerNorm. norm_first: a LayerNorm stands before attention and
// before the linear layers, and not behind their sums. bias: of all linear layers and norms.
struct TransformerEncoderLayerOptions {
  GRADUS_OPTIONS(TransformerEncoderLayerOptions, ARGUMENT(int64_t, d_model),
                 ARGUMENT(int64_t, nhead), OPTION(int64_t, dim_feedforward, 2048),
                 OPTION(double, dropout, 0.1), OPTION(activation_t, activation, kReLU),
                 OPTION(double, layer_norm_eps, 1e-5), OPTION(bool, norm_first, false),
                 OPTION(bool, bias, true));
};

struct TransformerDecoderLayerOptions {
  GRADUS_OPTIONS(TransformerDecoderLayerOptions, ARGUMENT(int64_t, d_model),
                 ARGUMENT(int64_t, nhead), OPTION(int64_t, dim_feedforward, 2048),
                 OPTION(double, dropout, 0.1), OPTION(activation_t, activation, kReLU),
                 OPTION(double, layer_norm_eps, 1e-5), OPTION(bool, norm_first, false),
                 OPTION(bool, bias, true));
};

namespace detail {

// A layer that consists of others, and is printed as they are.
template <class Derived, class Options>
struct LayerOfLayers : Layer<Derived, Options> {
  using Layer<Derived, Options>::Layer;
  void pretty_print(std::ostream& stream) const override {
    this->print_tree(stream, class_name(typeid(Derived)) + "Impl");
  }
};

}  // namespace detail

// norm1(x + attention(x)), and norm2(y + linear2(activation(linear1(y)))) of that, each with
// dropout. Output of src's shape. Vaswani et al., "Attention is all you need" (2017), section 3.1.
// norm_first: y = x + attention(norm1(x)), and y + linear2(activation(linear1(norm2(y)))). Xiong et
// al., "On layer normalization in the transformer architecture" (2020).
//
// Errors: ValueError for an undefined input, an activation that is neither kReLU nor kGELU, and
// those of MultiheadAttention.
struct TransformerEncoderLayerImpl
    : detail::LayerOfLayers<TransformerEncoderLayerImpl, TransformerEncoderLayerOptions> {
  using LayerOfLayers::LayerOfLayers;
  void reset() override;
  void reset_parameters();
  Tensor forward(const Tensor& src, const Tensor& src_mask = {},
                 const Tensor& src_key_padding_mask = {});

  MultiheadAttention self_attn{nullptr};
  Linear linear1{nullptr};
  Dropout dropout{nullptr};
  Linear linear2{nullptr};
  LayerNorm norm1{nullptr}, norm2{nullptr};
  Dropout dropout1{nullptr}, dropout2{nullptr};
  CallReset call_reset{*this};

 protected:
  GRADUS_FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())}, {2, AnyValue(Tensor())})
};
GRADUS_MODULE(TransformerEncoderLayer);

// The same with attention to `memory`, the encoder's output, between the two. Output of tgt's
// shape.
struct TransformerDecoderLayerImpl
    : detail::LayerOfLayers<TransformerDecoderLayerImpl, TransformerDecoderLayerOptions> {
  using LayerOfLayers::LayerOfLayers;
  void reset() override;
  void reset_parameters();
  Tensor forward(Tensor tgt, const Tensor& memory, const Tensor& tgt_mask = {},
                 const Tensor& memory_mask = {}, const Tensor& tgt_key_padding_mask = {},
                 const Tensor& memory_key_padding_mask = {});

  MultiheadAttention self_attn{nullptr}, multihead_attn{nullptr};
  Linear linear1{nullptr};
  Dropout dropout{nullptr};
  Linear linear2{nullptr};
  LayerNorm norm1{nullptr}, norm2{nullptr}, norm3{nullptr};
  Dropout dropout1{nullptr}, dropout2{nullptr}, dropout3{nullptr};
  CallReset call_reset{*this};

 protected:
  GRADUS_FORWARD_HAS_DEFAULT_ARGS({2, AnyValue(Tensor())}, {3, AnyValue(Tensor())},
                                  {4, AnyValue(Tensor())}, {5, AnyValue(Tensor())})
};
GRADUS_MODULE(TransformerDecoderLayer);

// num_layers clones of encoder_layer, followed by norm unless it is empty.
struct TransformerEncoderOptions {
  TransformerEncoderOptions(TransformerEncoderLayer encoder_layer, int64_t num_layers)
      : encoder_layer_(std::move(encoder_layer)), num_layers_(num_layers) {}
  TransformerEncoderOptions(const TransformerEncoderLayerOptions& encoder_layer_options,
                            int64_t num_layers);
  auto fields() const { return std::make_tuple(NamedOption<int64_t>{"num_layers", num_layers_}); }

  GRADUS_OPTION(TransformerEncoderOptions, TransformerEncoderLayer, encoder_layer);
  GRADUS_OPTION(TransformerEncoderOptions, int64_t, num_layers);
  GRADUS_OPTION(TransformerEncoderOptions, AnyModule, norm);
};

struct TransformerDecoderOptions {
  TransformerDecoderOptions(TransformerDecoderLayer decoder_layer, int64_t num_layers)
      : decoder_layer_(std::move(decoder_layer)), num_layers_(num_layers) {}
  TransformerDecoderOptions(const TransformerDecoderLayerOptions& decoder_layer_options,
                            int64_t num_layers);
  auto fields() const { return std::make_tuple(NamedOption<int64_t>{"num_layers", num_layers_}); }

  GRADUS_OPTION(TransformerDecoderOptions, TransformerDecoderLayer, decoder_layer);
  GRADUS_OPTION(TransformerDecoderOptions, int64_t, num_layers);
  GRADUS_OPTION(TransformerDecoderOptions, AnyModule, norm);
};

// The layers one after the other. Output of src's shape.
// Errors: ValueError for an empty encoder_layer, a num_layers below 1, and those of the layers.
struct TransformerEncoderImpl
    : detail::LayerOfLayers<TransformerEncoderImpl, TransformerEncoderOptions> {
  using LayerOfLayers::LayerOfLayers;
  void reset() override;
  void reset_parameters();
  Tensor forward(const Tensor& src, const Tensor& src_mask = {},
                 const Tensor& src_key_padding_mask = {});

  ModuleList layers{nullptr};
  AnyModule norm;
  CallReset call_reset{*this};

 protected:
  GRADUS_FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())}, {2, AnyValue(Tensor())})
};
GRADUS_MODULE(TransformerEncoder);

// The same for decoder_layer, and tgt.
struct TransformerDecoderImpl
    : detail::LayerOfLayers<TransformerDecoderImpl, TransformerDecoderOptions> {
  using LayerOfLayers::LayerOfLayers;
  void reset() override;
  void reset_parameters();
  Tensor forward(const Tensor& tgt, const Tensor& memory, const Tensor& tgt_mask = {},
                 const Tensor& memory_mask = {}, const Tensor& tgt_key_padding_mask = {},
                 const Tensor& memory_key_padding_mask = {});

  ModuleList layers{nullptr};
  AnyModule norm;
  CallReset call_reset{*this};

 protected:
  GRADUS_FORWARD_HAS_DEFAULT_ARGS({2, AnyValue(Tensor())}, {3, AnyValue(Tensor())},
                                  {4, AnyValue(Tensor())}, {5, AnyValue(Tensor())})
};
GRADUS_MODULE(TransformerDecoder);

// custom_encoder, custom_decoder: clones of them are used in place of new ones.
struct TransformerOptions {
  GRADUS_OPTIONS(TransformerOptions, ARGUMENT(int64_t, d_model, 512), ARGUMENT(int64_t, nhead, 8),
                 ARGUMENT(int64_t, num_encoder_layers, 6), ARGUMENT(int64_t, num_decoder_layers, 6),
                 OPTION(int64_t, dim_feedforward, 2048), OPTION(double, dropout, 0.1),
                 OPTION(activation_t, activation, kReLU), OPTION(AnyModule, custom_encoder, {}),
                 OPTION(AnyModule, custom_decoder, {}), OPTION(double, layer_norm_eps, 1e-5),
                 OPTION(bool, norm_first, false), OPTION(bool, bias, true));
};

// The decoder of tgt and of the encoder's output for src, each with a LayerNorm after its layers.
// Output of tgt's shape.
// Errors: ValueError for sequences that do not have 3 dimensions, the width d_model and one batch
// size.
struct TransformerImpl : detail::LayerOfLayers<TransformerImpl, TransformerOptions> {
  using LayerOfLayers::LayerOfLayers;
  void reset() override;
  void reset_parameters();
  Tensor forward(const Tensor& src, const Tensor& tgt, const Tensor& src_mask = {},
                 const Tensor& tgt_mask = {}, const Tensor& memory_mask = {},
                 const Tensor& src_key_padding_mask = {}, const Tensor& tgt_key_padding_mask = {},
                 const Tensor& memory_key_padding_mask = {});
  // A mask by which a target sees the sources up to its own place: 0 there, else -infinity.
  static Tensor generate_square_subsequent_mask(int64_t sz);

  AnyModule encoder, decoder;
  CallReset call_reset{*this};

 protected:
  GRADUS_FORWARD_HAS_DEFAULT_ARGS({2, AnyValue(Tensor())}, {3, AnyValue(Tensor())},
                                  {4, AnyValue(Tensor())}, {5, AnyValue(Tensor())},
                                  {6, AnyValue(Tensor())}, {7, AnyValue(Tensor())})
};
GRADUS_MODULE(Transformer);

}  // namespace gradus::nn
