// MultiheadAttention, and its function.
#pragma once

#include <tuple>

#include "gradus/nn/modules/linear.h"

namespace gradus::nn {

// embed_dim: the width of queries and outputs; num_heads divides it. kdim, vdim: the widths of keys
// and values, embed_dim unless set. dropout: the probability for weights while training.
// add_bias_kv: a learned key and value follow the others; add_zero_attn: a key and value of zeros
// do.
struct MultiheadAttentionOptions {
  GRADUS_OPTIONS(MultiheadAttentionOptions, ARGUMENT(int64_t, embed_dim),
                 ARGUMENT(int64_t, num_heads), HIDDEN(double, dropout, 0), HIDDEN(bool, bias, true),
                 HIDDEN(bool, add_bias_kv, false), HIDDEN(bool, add_zero_attn, false),
                 HIDDEN(int64_t, kdim, embed_dim_), HIDDEN(int64_t, vdim, embed_dim_));
};

namespace functional {

// The parameters of MultiheadAttention, and what its forward takes. static_k, static_v (batch *
// heads, keys, width of a head) stand in place of the projected keys and values.
struct MultiheadAttentionForwardFuncOptions {
  using Self = MultiheadAttentionForwardFuncOptions;
  MultiheadAttentionForwardFuncOptions(int64_t embed_dim_to_check, int64_t num_heads,
                                       Tensor in_proj_weight, Tensor in_proj_bias, Tensor bias_k,
                                       Tensor bias_v, bool add_zero_attn, double dropout_p,
                                       Tensor out_proj_weight, Tensor out_proj_bias)
      : embed_dim_to_check_(embed_dim_to_check),
        num_heads_(num_heads),
        in_proj_weight_(std::move(in_proj_weight)),
        in_proj_bias_(std::move(in_proj_bias)),
        bias_k_(std::move(bias_k)),
        bias_v_(std::move(bias_v)),
        add_zero_attn_(add_zero_attn),
        dropout_p_(dropout_p),
        out_proj_weight_(std::move(out_proj_weight)),
        out_proj_bias_(std::move(out_proj_bias)) {}

  GRADUS_OPTION(Self, int64_t, embed_dim_to_check);
  GRADUS_OPTION(Self, int64_t, num_heads);
  GRADUS_OPTION(Self, Tensor, in_proj_weight);
  GRADUS_OPTION(Self, Tensor, in_proj_bias);
  GRADUS_OPTION(Self, Tensor, bias_k);
  GRADUS_OPTION(Self, Tensor, bias_v);
  GRADUS_OPTION(Self, bool, add_zero_attn);
  GRADUS_OPTION(Self, double, dropout_p);
  GRADUS_OPTION(Self, Tensor, out_proj_weight);
  GRADUS_OPTION(Self, Tensor, out_proj_bias);
  GRADUS_OPTION(Self, bool, training) = true;
  GRADUS_OPTION(Self, Tensor, key_padding_mask);
  GRADUS_OPTION(Self, bool, need_weights) = true;
  GRADUS_OPTION(Self, Tensor, attn_mask);
  GRADUS_OPTION(Self, bool, use_separate_proj_weight) = false;
  GRADUS_OPTION(Self, Tensor, q_proj_weight);
  GRADUS_OPTION(Self, Tensor, k_proj_weight);
  GRADUS_OPTION(Self, Tensor, v_proj_weight);
  GRADUS_OPTION(Self, Tensor, static_k);
  GRADUS_OPTION(Self, Tensor, static_v);
  GRADUS_OPTION(Self, bool, average_attn_weights) = true;
};
// The result of MultiheadAttention.
std::tuple<Tensor, Tensor> multi_head_attention_forward(
    const Tensor& query, const Tensor& key, const Tensor& value,
    const MultiheadAttentionForwardFuncOptions& options);

inline Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key,
                                           const Tensor& value,
                                           const std::optional<Tensor>& attn_mask = std::nullopt,
                                           double dropout_p = 0, bool is_causal = false,
                                           std::optional<double> scale = std::nullopt) {
  return gradus::scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal,
                                              scale);
}

}  // namespace functional

// Each head's softmax(q k^T / sqrt(width of a head)) v of projections, side by side, and out_proj
// of that. Vaswani et al., "Attention is all you need" (2017), section 3.2.2.
//
// query (targets, batch, embed_dim), key (sources, batch, kdim), value (sources, batch, vdim).
// key_padding_mask (batch, sources) and attn_mask (targets, sources) or (batch * heads, targets,
// sources) hold numbers to be added, or true for sources that are not seen. Returns the output, of
// query's shape, and with need_weights the weights. The weights (batch, targets, sources) are the
// mean over the heads; average_attn_weights(false) gives (batch, heads, targets, sources). The
// output and the weights of a query that sees nothing are NaN.
// Errors: ValueError for undefined inputs, shapes, and an embed_dim that num_heads does not divide.
struct MultiheadAttentionImpl : Layer<MultiheadAttentionImpl, MultiheadAttentionOptions> {
  using Layer::Layer;
  void reset() override;
  void _reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  std::tuple<Tensor, Tensor> forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                     const Tensor& key_padding_mask = {}, bool need_weights = true,
                                     const Tensor& attn_mask = {},
                                     bool average_attn_weights = true);

  // in_proj_weight (3 * embed_dim, embed_dim), where kdim and vdim are embed_dim; else the three
  // others. Tensors that the options leave out are undefined.
  bool _qkv_same_embed_dim = true;
  Tensor in_proj_weight, in_proj_bias, bias_k, bias_v;
  Linear out_proj{nullptr};
  Tensor q_proj_weight, k_proj_weight, v_proj_weight;
  int64_t head_dim = 0;
  CallReset call_reset{*this};

 protected:
  GRADUS_FORWARD_HAS_DEFAULT_ARGS({3, AnyValue(Tensor())}, {4, AnyValue(true)},
                                  {5, AnyValue(Tensor())}, {6, AnyValue(true)})
};
GRADUS_MODULE(MultiheadAttention);

}  // namespace gradus::nn
