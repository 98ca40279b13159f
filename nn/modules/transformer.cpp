// Transformer, its encoder and decoder, and their layers.
#include "gradus/nn/modules/transformer.h"

#include <limits>

#include "gradus/nn/init.h"

namespace gradus::nn {

namespace {

Tensor activated(const activation_t& activation, const Tensor& x) {
  if (const auto* function = std::get_if<std::function<Tensor(const Tensor&)>>(&activation))
    return (*function)(x);
  return std::get<Nonlinearity>(activation) == kGELU ? gradus::gelu(x) : gradus::relu(x);
}

// The part that both kinds of layers have behind their attention.
template <class Layer>
void register_feedforward(Layer& layer) {
  const auto& o = layer.options;
  const auto* const named = std::get_if<Nonlinearity>(&o.activation());
  check(named == nullptr || *named == kReLU || *named == kGELU, layer.name(),
        ": Unknown activation: activation should be kRelu, kGELU, or a callable");
  const auto linear = [&](const char* name, int64_t in, int64_t out) {
    return layer.register_module(name, Linear(LinearOptions(in, out).bias(o.bias())));
  };
  layer.linear1 = linear("linear1", o.d_model(), o.dim_feedforward());
  layer.dropout = layer.register_module("dropout", Dropout(o.dropout()));
  layer.linear2 = linear("linear2", o.dim_feedforward(), o.d_model());
}

template <class Layer>
MultiheadAttention attention(Layer& layer, const char* name) {
  const auto& o = layer.options;
  return layer.register_module(
      name,
      MultiheadAttention(
          MultiheadAttentionOptions(o.d_model(), o.nhead()).dropout(o.dropout()).bias(o.bias())));
}
template <class Layer>
LayerNorm norm(Layer& layer, const char* name) {
  const auto& o = layer.options;
  return layer.register_module(
      name, LayerNorm(LayerNormOptions({o.d_model()}).eps(o.layer_norm_eps()).bias(o.bias())));
}
template <class Layer>
Dropout drop(Layer& layer, const char* name) {
  return layer.register_module(name, Dropout(layer.options.dropout()));
}

template <class Layer>
Tensor feedforward(Layer& layer, const Tensor& x) {
  return layer.linear2(layer.dropout(activated(layer.options.activation(), layer.linear1(x))));
}

// x and a part of the layer, with its norm behind their sum, or before the part.
template <class Layer, class Part>
Tensor residual(Layer& layer, LayerNorm& norm, Dropout& dropout, const Tensor& x,
                const Part& part) {
  if (layer.options.norm_first()) return x + dropout(part(norm(x)));
  return norm(x + dropout(part(x)));
}

Tensor attended(MultiheadAttention& attention, const Tensor& query, const Tensor& memory,
                const Tensor& mask, const Tensor& key_padding_mask) {
  return std::get<0>(
      attention(query, memory, memory, key_padding_mask, /*need_weights=*/false, mask));
}

// Clones of a layer, and of the normalisation where there is one.
template <class Coder, class Holder>
void register_clones(Coder& coder, const char* argument, const Holder& layer) {
  check(!layer.is_empty(), coder.name(), ": ", argument,
        " is empty, expected a layer; construct it first");
  check(coder.options.num_layers() > 0, coder.name(), ": num_layers must be 1 or more, but it is ",
        coder.options.num_layers(), "; give the number of layers");
  coder.layers = coder.register_module("layers", ModuleList());
  for (int64_t i = 0; i < coder.options.num_layers(); ++i) coder.layers->push_back(layer->clone());
  if (coder.options.norm().is_empty()) return;
  coder.norm = coder.options.norm().clone();
  coder.register_module("norm", coder.norm.ptr());
}

template <class Layer, class Coder>
void reset_layers(Coder& coder) {
  for (size_t i = 0; i < coder.layers->size(); ++i)
    coder.layers->template at<Layer>(i).reset_parameters();
}

// Glorot's initial values, which the parameters of the whole are given.
void start_weights(const std::vector<Tensor>& parameters) {
  for (const Tensor& parameter : parameters)
    if (parameter.dim() > 1) init::xavier_uniform_(parameter);
}

}  // namespace

void TransformerEncoderLayerImpl::reset() {
  self_attn = attention(*this, "self_attn");
  register_feedforward(*this);
  norm1 = norm(*this, "norm1"), norm2 = norm(*this, "norm2");
  dropout1 = drop(*this, "dropout1"), dropout2 = drop(*this, "dropout2");
}

void TransformerEncoderLayerImpl::reset_parameters() {
  self_attn->_reset_parameters();
  linear1->reset_parameters(), linear2->reset_parameters();
  norm1->reset_parameters(), norm2->reset_parameters();
}

Tensor TransformerEncoderLayerImpl::forward(const Tensor& src, const Tensor& src_mask,
                                            const Tensor& src_key_padding_mask) {
  check_defined(src, "src");
  const Tensor x = residual(*this, norm1, dropout1, src, [&](const Tensor& own) {
    return attended(self_attn, own, own, src_mask, src_key_padding_mask);
  });
  return residual(*this, norm2, dropout2, x,
                  [&](const Tensor& own) { return feedforward(*this, own); });
}

void TransformerDecoderLayerImpl::reset() {
  self_attn = attention(*this, "self_attn");
  multihead_attn = attention(*this, "multihead_attn");
  register_feedforward(*this);
  norm1 = norm(*this, "norm1"), norm2 = norm(*this, "norm2"), norm3 = norm(*this, "norm3");
  dropout1 = drop(*this, "dropout1"), dropout2 = drop(*this, "dropout2");
  dropout3 = drop(*this, "dropout3");
}

void TransformerDecoderLayerImpl::reset_parameters() {
  self_attn->_reset_parameters(), multihead_attn->_reset_parameters();
  linear1->reset_parameters(), linear2->reset_parameters();
  norm1->reset_parameters(), norm2->reset_parameters(), norm3->reset_parameters();
}

Tensor TransformerDecoderLayerImpl::forward(Tensor tgt, const Tensor& memory,
                                            const Tensor& tgt_mask, const Tensor& memory_mask,
                                            const Tensor& tgt_key_padding_mask,
                                            const Tensor& memory_key_padding_mask) {
  check_defined(tgt, "tgt"), check_defined(memory, "memory");
  tgt = residual(*this, norm1, dropout1, tgt, [&](const Tensor& own) {
    return attended(self_attn, own, own, tgt_mask, tgt_key_padding_mask);
  });
  tgt = residual(*this, norm2, dropout2, tgt, [&](const Tensor& own) {
    return attended(multihead_attn, own, memory, memory_mask, memory_key_padding_mask);
  });
  return residual(*this, norm3, dropout3, tgt,
                  [&](const Tensor& own) { return feedforward(*this, own); });
}

TransformerEncoderOptions::TransformerEncoderOptions(
    const TransformerEncoderLayerOptions& encoder_layer_options, int64_t num_layers)
    : TransformerEncoderOptions(TransformerEncoderLayer(encoder_layer_options), num_layers) {}

TransformerDecoderOptions::TransformerDecoderOptions(
    const TransformerDecoderLayerOptions& decoder_layer_options, int64_t num_layers)
    : TransformerDecoderOptions(TransformerDecoderLayer(decoder_layer_options), num_layers) {}

void TransformerEncoderImpl::reset() {
  register_clones(*this, "encoder_layer", options.encoder_layer());
}

void TransformerEncoderImpl::reset_parameters() {
  reset_layers<TransformerEncoderLayerImpl>(*this);
}

Tensor TransformerEncoderImpl::forward(const Tensor& src, const Tensor& src_mask,
                                       const Tensor& src_key_padding_mask) {
  Tensor x = src;
  for (size_t i = 0; i < layers->size(); ++i)
    x = layers->at<TransformerEncoderLayerImpl>(i).forward(x, src_mask, src_key_padding_mask);
  return norm.is_empty() ? x : norm.forward<Tensor>(x);
}

void TransformerDecoderImpl::reset() {
  register_clones(*this, "decoder_layer", options.decoder_layer());
}

void TransformerDecoderImpl::reset_parameters() {
  reset_layers<TransformerDecoderLayerImpl>(*this);
}

Tensor TransformerDecoderImpl::forward(const Tensor& tgt, const Tensor& memory,
                                       const Tensor& tgt_mask, const Tensor& memory_mask,
                                       const Tensor& tgt_key_padding_mask,
                                       const Tensor& memory_key_padding_mask) {
  Tensor x = tgt;
  for (size_t i = 0; i < layers->size(); ++i)
    x = layers->at<TransformerDecoderLayerImpl>(i).forward(
        x, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask);
  return norm.is_empty() ? x : norm.forward<Tensor>(x);
}

void TransformerImpl::reset() {
  const auto with = [this](auto layer) {
    return layer.dim_feedforward(options.dim_feedforward())
        .dropout(options.dropout())
        .activation(options.activation())
        .layer_norm_eps(options.layer_norm_eps())
        .norm_first(options.norm_first())
        .bias(options.bias());
  };
  const int64_t width = options.d_model(), heads = options.nhead();
  const AnyModule behind(
      LayerNorm(LayerNormOptions({width}).eps(options.layer_norm_eps()).bias(options.bias())));
  encoder = options.custom_encoder().is_empty()
                ? AnyModule(TransformerEncoder(
                      TransformerEncoderOptions(with(TransformerEncoderLayerOptions(width, heads)),
                                                options.num_encoder_layers())
                          .norm(behind)))
                : options.custom_encoder().clone();
  register_module("encoder", encoder.ptr());
  decoder = options.custom_decoder().is_empty()
                ? AnyModule(TransformerDecoder(
                      TransformerDecoderOptions(with(TransformerDecoderLayerOptions(width, heads)),
                                                options.num_decoder_layers())
                          .norm(behind)))
                : options.custom_decoder().clone();
  register_module("decoder", decoder.ptr());
  reset_parameters();
}

void TransformerImpl::reset_parameters() { start_weights(parameters()); }

Tensor TransformerImpl::forward(const Tensor& src, const Tensor& tgt, const Tensor& src_mask,
                                const Tensor& tgt_mask, const Tensor& memory_mask,
                                const Tensor& src_key_padding_mask,
                                const Tensor& tgt_key_padding_mask,
                                const Tensor& memory_key_padding_mask) {
  check_defined(src, "src"), check_defined(tgt, "tgt");
  check(src.dim() == 3 && tgt.dim() == 3,
        "Transformer: src and tgt should have 3 dimensions, but got ", src.dim(), " and ",
        tgt.dim(), "; give (length, batch, d_model)");
  check(src.size(1) == tgt.size(1),
        "Transformer: src and tgt should have equal batch size (at dim 1), but got ", src.size(1),
        " and ", tgt.size(1), "; give (length, batch, d_model)");
  check(src.size(2) == options.d_model() && tgt.size(2) == options.d_model(),
        "Transformer: src and tgt should have same feature size as d_model (at dim 2), but got ",
        src.size(2), " and ", tgt.size(2), " while d_model is ", options.d_model(),
        "; embed them in d_model numbers");
  const Tensor memory = encoder.forward<Tensor>(src, src_mask, src_key_padding_mask);
  return decoder.forward<Tensor>(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask,
                                 memory_key_padding_mask);
}

Tensor TransformerImpl::generate_square_subsequent_mask(int64_t sz) {
  check(sz >= 0, "generate_square_subsequent_mask: sz must be non-negative, but it is ", sz,
        "; give the length of the sequence");
  return full({sz, sz}, -std::numeric_limits<float>::infinity()).triu(1);
}

}  // namespace gradus::nn
