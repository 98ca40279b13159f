// MultiheadAttention: projections, masks, and the attention of all heads.
#include "gradus/nn/modules/attention.h"

#include <cmath>
#include <limits>

#include "gradus/nn/init.h"

namespace gradus::nn {

namespace functional {

namespace {

constexpr const char* kName = "multi_head_attention_forward";
constexpr double kHidden = -std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
using Options = MultiheadAttentionForwardFuncOptions;

struct Projections {
  Tensor q, k, v;
};

// The rows of in_proj from `begin` on, applied.
Tensor projected(const Tensor& x, const Options& o, int64_t begin, int64_t rows) {
  const Tensor& bias = o.in_proj_bias();
  return gradus::linear(x, o.in_proj_weight().narrow(0, begin, rows),
                        bias.defined() ? bias.narrow(0, begin, rows) : bias);
}

// Projects by a weight of its own. `place` is the place of the bias among the three.
Tensor projected(const char* name, const Tensor& x, const Tensor& weight, const Options& o,
                 int64_t place) {
  const int64_t width = o.embed_dim_to_check();
  check(weight.operand(kName, name).sizes() == IntArrayRef({width, x.size(-1)}), kName, ": ", name,
        " has shape ", weight.sizes(), ", expected ", IntArrayRef({width, x.size(-1)}), " for ",
        *name == 'q'   ? "a query"
        : *name == 'k' ? "a key"
                       : "a value",
        " of shape ", x.sizes(), "; set embed_dim, kdim or vdim to the width");
  const Tensor& bias = o.in_proj_bias();
  return gradus::linear(x, weight, bias.defined() ? bias.narrow(0, place * width, width) : bias);
}

// Tensors that are the same share one product.
Projections project(const Tensor& query, const Tensor& key, const Tensor& value, const Options& o) {
  if (o.use_separate_proj_weight())
    return {projected("q_proj_weight", query, o.q_proj_weight(), o, 0),
            projected("k_proj_weight", key, o.k_proj_weight(), o, 1),
            projected("v_proj_weight", value, o.v_proj_weight(), o, 2)};
  const int64_t e = o.embed_dim_to_check();
  if (!key.is_same(value))
    return {projected(query, o, 0, e), projected(key, o, e, e), projected(value, o, 2 * e, e)};
  if (query.is_same(key)) {
    const Tensors all = projected(query, o, 0, 3 * e).chunk(3, -1);
    return {all[0], all[1], all[2]};
  }
  const Tensors both = projected(key, o, e, 2 * e).chunk(2, -1);
  return {projected(query, o, 0, e), both[0], both[1]};
}

// (length, batch, heads * width) as (batch, heads, length, width).
Tensor by_heads(const Tensor& x, int64_t heads) {
  return x.view({x.size(0), x.size(1), heads, x.size(2) / heads}).permute({1, 2, 0, 3});
}

// The mask as numbers to add to the scores.
Tensor additive(const char* name, const Tensor& mask, const Tensor& like) {
  if (mask.is_floating_point()) return mask.to(like.dtype());
  check<TypeError>(mask.dtype() == kBool || mask.dtype() == kByte, kName, ": ", name, " has dtype ",
                   mask.dtype(),
                   ", expected bool or a floating point type; convert with .to(kBool)");
  return zeros(mask.sizes(), like.options()).masked_fill(mask.to(kBool), kHidden);
}

// The mask of shape (batch or 1, heads or 1, targets or 1, sources), or undefined.
Tensor mask_of(const Options& o, const Tensor& q, int64_t sources, int64_t added) {
  const int64_t batch = q.size(0), heads = q.size(1), targets = q.size(2);
  const auto widened = [&](const Tensor& mask) {  // keys that were added are seen
    return added > 0 ? constant_pad_nd(mask, {0, added}, 0) : mask;
  };
  Tensor out;
  if (const Tensor& mask = o.attn_mask(); mask.defined()) {
    const Tensor wide = widened(additive("attn_mask", mask, q));
    const bool flat = wide.sizes() == IntArrayRef({targets, sources});
    check(flat || wide.sizes() == IntArrayRef({batch * heads, targets, sources}), kName,
          ": attn_mask has shape ", mask.sizes(), ", expected ",
          IntArrayRef({targets, sources - added}), " or ",
          IntArrayRef({batch * heads, targets, sources - added}),
          ", (targets, sources) or (batch * heads, targets, sources); transpose it?");
    out = flat ? wide : wide.view({batch, heads, targets, sources});
  }
  if (const Tensor& mask = o.key_padding_mask(); mask.defined()) {
    check(mask.sizes() == IntArrayRef({batch, sources - added}), kName,
          ": key_padding_mask has shape ", mask.sizes(), ", expected ",
          IntArrayRef({batch, sources - added}), ", (batch, sources); transpose it?");
    const Tensor wide = widened(additive("key_padding_mask", mask, q)).view({batch, 1, 1, sources});
    out = out.defined() ? out + wide : wide;
  }
  return out;
}

}  // namespace

std::tuple<Tensor, Tensor> multi_head_attention_forward(const Tensor& query, const Tensor& key,
                                                        const Tensor& value, const Options& o) {
  const IntArrayRef sizes = query.operand(kName, "query").sizes();
  check(sizes.size() == 3 && key.operand(kName, "key").dim() == 3 &&
            value.operand(kName, "value").dim() == 3,
        kName, ": query, key and value have shapes ", sizes, ", ", key.sizes(), " and ",
        value.sizes(), ", expected (length, batch, width) of each; unsqueeze(1) for a batch of 1");
  const int64_t targets = sizes[0], batch = sizes[1], width = sizes[2], heads = o.num_heads();
  check(width == o.embed_dim_to_check(), kName, ": query has shape ", sizes,
        ", expected embed_dim = ", o.embed_dim_to_check(),
        " last; permute it or make the module with embed_dim = ", width);
  check(o.use_separate_proj_weight() || (key.size(2) == width && value.size(2) == width), kName,
        ": key and value have shapes ", key.sizes(), " and ", value.sizes(),
        ", expected embed_dim = ", width, " last; set kdim and vdim for other widths");
  check(heads > 0, kName, ": num_heads must be greater than 0, but it is ", heads,
        "; give a divisor of embed_dim");
  check(width % heads == 0, kName, ": embed_dim must be divisible by num_heads, but they are ",
        width, " and ", heads, "; give a num_heads that divides ", width);
  check(key.size(0) == value.size(0) && key.size(1) == batch && value.size(1) == batch, kName,
        ": query, key and value have shapes ", sizes, ", ", key.sizes(), " and ", value.sizes(),
        "; expected one batch size, and as many values as keys, in (length, batch, width)");
  const int64_t head = width / heads;

  Projections p = project(query, key, value, o);
  int64_t added = 0;
  check(o.bias_k().defined() == o.bias_v().defined(), kName,
        ": one of bias_k and bias_v is undefined; give both or none");
  if (o.bias_k().defined()) {
    check(!o.static_k().defined(), kName,
          ": bias cannot be added to static key; leave out bias_k or static_k");
    check(!o.static_v().defined(), kName,
          ": bias cannot be added to static value; leave out bias_v or static_v");
    p.k = cat({p.k, o.bias_k().expand({1, batch, width})});
    p.v = cat({p.v, o.bias_v().expand({1, batch, width})});
    ++added;
  }
  const auto given = [&](const char* name, const Tensor& x) {
    check(x.dim() == 3 && x.size(0) == batch * heads && x.size(2) == head, kName, ": ", name,
          " has shape ", x.sizes(), ", expected (", batch * heads, ", sources, ", head,
          "), (batch * heads, sources, width of a head); reshape it");
    return x.reshape({batch, heads, x.size(1), head});
  };
  const Tensor q = by_heads(p.q, heads);
  Tensor k = o.static_k().defined() ? given("static_k", o.static_k()) : by_heads(p.k, heads);
  Tensor v = o.static_v().defined() ? given("static_v", o.static_v()) : by_heads(p.v, heads);
  if (o.add_zero_attn()) {
    const Tensor zero = zeros({batch, heads, 1, head}, q.options());
    k = cat({k, zero}, 2), v = cat({v, zero}, 2);
    ++added;
  }

  const double dropout = o.training() ? o.dropout_p() : 0;
  const Tensor mask = mask_of(o, q, k.size(2), added);
  Tensor out, weights;
  if (o.need_weights()) {
    const Tensor scores = (q / std::sqrt(static_cast<double>(head))).matmul(k.transpose(2, 3));
    weights = gradus::dropout((mask.defined() ? scores + mask : scores).softmax(-1), dropout, true);
    out = weights.matmul(v);
    if (o.average_attn_weights()) weights = weights.mean(1);
  } else {
    out = gradus::scaled_dot_product_attention(
        q, k, v, mask.defined() ? std::optional(mask) : std::nullopt, dropout);
    if (mask.defined()) out = out.masked_fill((mask == kHidden).all(-1, true), kNaN);
  }
  out = out.permute({2, 0, 1, 3}).reshape({targets, batch, width});
  return {gradus::linear(out, o.out_proj_weight(), o.out_proj_bias()), weights};
}

}  // namespace functional

void MultiheadAttentionImpl::reset() {
  const int64_t width = options.embed_dim(), heads = options.num_heads();
  check(width > 0 && heads > 0,
        "MultiheadAttention: embed_dim and num_heads must be 1 or more, but they are ", width,
        " and ", heads, "; give the width of the queries and a divisor of it");
  head_dim = width / heads;
  check(head_dim * heads == width,
        "MultiheadAttention: embed_dim must be divisible by num_heads, but they are ", width,
        " and ", heads, "; give a num_heads that divides ", width);
  _qkv_same_embed_dim = options.kdim() == width && options.vdim() == width;
  const auto parameter = [this](const char* name, bool exists, IntArrayRef shape) {
    return register_parameter(name, exists ? empty(shape) : Tensor(), exists);
  };
  const bool same = _qkv_same_embed_dim;
  in_proj_weight = parameter("in_proj_weight", same, {3 * width, width});
  q_proj_weight = parameter("q_proj_weight", !same, {width, width});
  k_proj_weight = parameter("k_proj_weight", !same, {width, options.kdim()});
  v_proj_weight = parameter("v_proj_weight", !same, {width, options.vdim()});
  in_proj_bias = parameter("in_proj_bias", options.bias(), {3 * width});
  out_proj = register_module("out_proj", Linear(LinearOptions(width, width).bias(options.bias())));
  bias_k = parameter("bias_k", options.add_bias_kv(), {1, 1, width});
  bias_v = parameter("bias_v", options.add_bias_kv(), {1, 1, width});
  _reset_parameters();
}

void MultiheadAttentionImpl::_reset_parameters() {
  for (const Tensor& weight : {in_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight})
    if (weight.defined()) init::xavier_uniform_(weight);
  if (in_proj_bias.defined()) init::zeros_(in_proj_bias), init::zeros_(out_proj->bias);
  for (const Tensor& bias : {bias_k, bias_v})
    if (bias.defined()) init::xavier_normal_(bias);
}

void MultiheadAttentionImpl::pretty_print(std::ostream& stream) const {
  print_tree(stream, class_name(typeid(*this)));
}

std::tuple<Tensor, Tensor> MultiheadAttentionImpl::forward(
    const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& key_padding_mask,
    bool need_weights, const Tensor& attn_mask, bool average_attn_weights) {
  check_defined(query, "query"), check_defined(key, "key"), check_defined(value, "value");
  return functional::multi_head_attention_forward(
      query, key, value,
      functional::MultiheadAttentionForwardFuncOptions(
          options.embed_dim(), options.num_heads(), in_proj_weight, in_proj_bias, bias_k, bias_v,
          options.add_zero_attn(), options.dropout(), out_proj->weight, out_proj->bias)
          .training(is_training())
          .key_padding_mask(key_padding_mask)
          .need_weights(need_weights)
          .attn_mask(attn_mask)
          .use_separate_proj_weight(!_qkv_same_embed_dim)
          .q_proj_weight(q_proj_weight)
          .k_proj_weight(k_proj_weight)
          .v_proj_weight(v_proj_weight)
          .average_attn_weights(average_attn_weights));
}

}  // namespace gradus::nn
