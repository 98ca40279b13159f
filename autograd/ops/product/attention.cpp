// scaled_dot_product_attention: one pass of the backend, which keeps no matrix of scores; its
// second derivative is that of the composite.
#include <algorithm>
#include <cmath>
#include <limits>

#include "gradus/autograd/engine/cast_operands.h"
#include "gradus/autograd/engine/record.h"
#include "gradus/autograd/ops/dropout.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

namespace {

constexpr const char* kName = "scaled_dot_product_attention";
constexpr double kHidden = -std::numeric_limits<double>::infinity();

// softmax(scale q k^T + mask), and 0 for a query that sees nothing.
Tensor weights_of(const Attention& how, const Tensor& q, const Tensor& k, const Tensor& mask) {
  Tensor scores = q.matmul(k.transpose(-1, -2)) * how.scale;
  if (mask.defined()) scores = scores + mask;
  if (how.causal)
    scores = scores.masked_fill(ones({q.size(-2), k.size(-2)}, q.options().dtype(kBool)).triu(1),
                                kHidden);
  if (!mask.defined()) return scores.softmax(-1);
  const Tensor blind = (scores.detach() == kHidden).all(-1, true);
  return scores.masked_fill(blind, 0).softmax(-1).masked_fill(blind, 0);
}

Tensor drawn(const Attention& how, const Tensor& weights) {
  return how.dropout > 0 ? thinned(weights.contiguous(), how.dropout, how.state) : weights;
}

// A head of keys or values for each head of queries.
Tensor for_heads(const Tensor& x, const Tensor& q) {
  if (x.dim() < 3 || x.size(-3) == q.size(-3)) return x;
  return x.repeat_interleave(q.size(-3) / x.size(-3), -3);
}
// The sum of what heads of queries give to the head (B, K, length, width) that they share.
Tensor of_shared(const Tensor& grads, const Tensor& x) {
  if (grads.size(1) == x.size(1)) return grads;
  return grads.unflatten(1, {x.size(1), grads.size(1) / x.size(1)}).sum(2);
}

Tensor computed(const Tensor& x) { return x.defined() ? x.to(computed_type(x.dtype())) : x; }

Tensor composite(const Attention& how, const Tensor& q, const Tensor& k, const Tensor& v,
                 const Tensor& mask) {
  return drawn(how, weights_of(how, computed(q), for_heads(computed(k), q), computed(mask)))
      .matmul(for_heads(computed(v), q))
      .to(q.dtype());
}

Tensors composite_grad(const Attention& how, const Tensor& grad, const Tensor& q,
                       const Tensor& shared_k, const Tensor& shared_v, const Tensor& mask) {
  const Tensor k = for_heads(shared_k, q), v = for_heads(shared_v, q);
  const Tensor weights = weights_of(how, q, k, mask);
  const Tensor of_weights = drawn(how, grad.matmul(v.transpose(-1, -2)));
  const Tensor mean = (of_weights * weights).sum(-1, true);
  const Tensor of_scores = weights * (of_weights - mean) * how.scale;
  return {of_scores.matmul(k), of_shared(of_scores.transpose(-1, -2).matmul(q), shared_k),
          of_shared(drawn(how, weights).transpose(-1, -2).matmul(grad), shared_v)};
}

bool writes_rows(const Tensor& like) {
  return contracts::strides_of(contracts::attention::out, like.device().type()) ==
         contracts::Strides::rows;
}

// Whether the tokens of all sequences that are at one place lie side by side, as in tensors whose
// tokens come first.
bool has_tokens_first(const Tensor& x) {
  return x.size(0) > 1 && x.size(2) > 1 && x.stride(0) < x.stride(2);
}

// Memory of a result (B, H, length, width). Where the device can write them so, its rows lie beside
// those of the other heads in the order of x's tokens: the next layer reads them in that order.
Tensor room_for(IntArrayRef sizes, const Tensor& x) {
  if (!writes_rows(x)) return raw::empty(sizes, x.dtype(), x.device());
  const int64_t row = sizes[1] * sizes[3];
  const bool first = has_tokens_first(x);
  const Tensor rows =
      raw::as_strided(raw::empty({numel_of(sizes)}, x.dtype(), x.device()), Dims(sizes.data(), 4),
                      {first ? row : row * sizes[2], sizes[3], first ? row * sizes[0] : row, 1}, 0);
  return raw::alias(rows);  // a tensor of its own, as on the CPU
}

// Whether q, k and v lie one behind the other in the rows of one tensor (B, length, 3 H width), or
// (length, B, 3 H width).
bool are_parts(const Tensor& q, const Tensor& k, const Tensor& v) {
  const IntArrayRef sizes = q.sizes(), strides = q.strides();
  const int64_t part = sizes[1] * sizes[3], row = 3 * part;
  const auto follows = [&](const Tensor& x, int64_t i) {
    return x.sizes() == sizes && x.strides() == strides && x.impl().storage == q.impl().storage &&
           x.storage_offset() == q.storage_offset() + i * part;
  };
  const bool first = has_tokens_first(q);
  return writes_rows(q) && strides[0] == (first ? row : row * sizes[2]) && strides[1] == sizes[3] &&
         strides[2] == (first ? row * sizes[0] : row) && follows(k, 1) && follows(v, 2);
}
// Room for gradients of all heads: parts of one tensor for those of such parts, which then need not
// be put together.
Tensors room_for_grads(const Tensor& q, const Tensor& k, const Tensor& v) {
  if (!are_parts(q, k, v)) {
    const auto room = [&](const Tensor& x) {
      return room_for({x.size(0), q.size(1), x.size(2), x.size(3)}, x);
    };
    return {room(q), room(k), room(v)};
  }
  const IntArrayRef sizes = q.sizes();
  const int64_t part = sizes[1] * sizes[3];
  const Tensor all = raw::empty({sizes[0] * sizes[2] * 3 * part}, q.dtype(), q.device());
  Tensors out;
  for (int64_t i = 0; i < 3; ++i)
    out.push_back(raw::as_strided(all, q.impl().sizes, q.impl().strides, i * part));
  return out;
}

// The gradients of what `attended` saves.
Tensors attended_grad(const Attention& how, Node& n, const Tensor& grad) {
  const Tensor q = n.saved(0), k = n.saved(1), v = n.saved(2), mask = n.saved(5);
  if (GradMode::is_enabled())
    return composite_grad(how, computed(grad), computed(q), computed(k), computed(v),
                          computed(mask));
  Tensors grads = room_for_grads(q, k, v);
  backend(q).attention_grad(how, raw::taken(contracts::attention_grad::grad, grad), q, k, v, mask,
                            n.saved(3), n.saved(4), grads[0], grads[1], grads[2]);
  grads[1] = of_shared(grads[1], k), grads[2] = of_shared(grads[2], v);
  return grads;
}

// q (B, H, length, width), k and v of as many or fewer heads; mask (B, H, M, N), or undefined.
Tensor attended(const Attention& how, const Tensor& q, const Tensor& k, const Tensor& v,
                const Tensor& mask) {
  Dims sizes = q.impl().sizes;
  const Tensor log_sums = raw::empty(Dims(sizes.data(), 3), computed_type(q.dtype()), q.device());
  sizes[3] = v.size(3);
  const Tensor out = room_for(sizes, q);
  backend(q).attention(how, q, k, v, mask, out, log_sums);
  if (recording(q, k, v))
    record("ScaledDotProductAttentionBackward0", out, {q, k, v}, {q, k, v, out, log_sums, mask},
           [how](Node& n, const Tensor& grad) { return attended_grad(how, n, grad); });
  return out;
}

// x with four dimensions.
Tensor with_heads(const Tensor& x) {
  Tensor out = x.dim() > 4 ? x.flatten(0, -4) : x;
  while (out.dim() < 4) out = out.unsqueeze(0);
  return out;
}
// The same, as the device takes it.
Tensor with_rows(const Tensor& x) {
  const Tensor out = with_heads(x);
  return raw::takes(contracts::attention::q, out) ? out : out.contiguous();
}

void check_operand(const Tensor& x, const char* name, const Tensor& query) {
  check(x.operand(kName, name).dim() >= 2, kName, ": ", name, " has shape ", x.sizes(),
        ", expected (..., length, width), at least 2 dimensions");
  check<TypeError>(x.is_floating_point() && x.dtype() == query.dtype(), kName, ": ", name,
                   " has dtype ", x.dtype(), ", query has ", query.dtype(),
                   "; expected one floating point type, convert with .to(...)");
  raw::check_same_device(kName, query, "query", x, name);
}

// The sizes before the last `own`.
Dims batch_of(const Tensor& x, int64_t own) {
  return Dims(x.sizes().data(), static_cast<size_t>(x.dim() - own));
}
// x with this batch.
Tensor with_batch(const Tensor& x, Dims batch, int64_t own) {
  if (IntArrayRef(batch_of(x, own)) == IntArrayRef(batch)) return x;
  for (int64_t d = -own; d < 0; ++d) batch.push_back(x.size(d));
  return x.expand(batch);
}

// Whether heads of the query share those of key and value. Errors: where they are to, and cannot.
bool shares_heads(const Tensor& query, const Tensor& key, const Tensor& value, bool enable_gqa) {
  const auto heads = [](const Tensor& x) { return x.dim() < 3 ? int64_t{1} : x.size(-3); };
  const int64_t each = heads(query), shared = heads(key);
  const bool can = std::min({query.dim(), key.dim(), value.dim()}) >= 3 && shared == heads(value) &&
                   (each == shared || (shared > 0 && each % shared == 0));
  check(!enable_gqa || can, kName, ": query has shape ", query.sizes(), ", key ", key.sizes(),
        ", value ", value.sizes(),
        "; enable_gqa expects one number of heads (dimension -3) for key and value, which divides "
        "that of query");
  check(enable_gqa || !can || each == shared || shared == 1, kName, ": query has ", each,
        " heads, key and value ", shared, " (dimension -3); set enable_gqa for heads that share");
  return can && each != shared && (enable_gqa || shared == 1);
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& given_query, const Tensor& given_key,
                                    const Tensor& given_value,
                                    const std::optional<Tensor>& attn_mask, double dropout_p,
                                    bool is_causal, std::optional<double> scale, bool enable_gqa) {
  GRADUS_AUTOCAST(scaled_dot_product_attention, given_query, given_key, given_value, attn_mask,
                  dropout_p, is_causal, scale, enable_gqa);
  check_operand(given_query, "query", given_query);
  check_operand(given_key, "key", given_query), check_operand(given_value, "value", given_query);
  // Heads that are shared do not broadcast.
  const int64_t own = shares_heads(given_query, given_key, given_value, enable_gqa) ? 3 : 2;
  const auto batch_with = [&](const Dims& batch, const Tensor& x) {
    return broadcast_shapes(kName, batch, batch_of(x, own));
  };
  const Dims batch = batch_with(batch_with(batch_of(given_query, own), given_key), given_value);
  const Tensor query = with_batch(given_query, batch, own), key = with_batch(given_key, batch, own),
               value = with_batch(given_value, batch, own);
  check(key.size(-1) == query.size(-1), kName, ": key has shape ", key.sizes(), ", query ",
        query.sizes(), "; their last dimensions must be equal, project one");
  check(value.size(-2) == key.size(-2), kName, ": value has shape ", value.sizes(), ", key ",
        key.sizes(), "; there must be one value for each key, as many rows in both");
  check(dropout_p >= 0 && dropout_p <= 1, kName, ": dropout_p is ", dropout_p,
        ", expected a probability, between 0 and 1");
  Tensor mask = attn_mask.value_or(Tensor());
  check(!mask.defined() || !is_causal, kName,
        ": Explicit attn_mask should not be set when is_causal=True; give one of them");
  const ScalarType dtype = raw::taken_type(contracts::attention::q, query);
  if (dtype != query.dtype())
    return scaled_dot_product_attention(query.to(dtype), key.to(dtype), value.to(dtype), attn_mask,
                                        dropout_p, is_causal, scale, enable_gqa)
        .to(query.dtype());

  const double width = static_cast<double>(query.size(-1));
  Attention how{scale.value_or(width > 0 ? 1 / std::sqrt(width) : 1)};
  how.causal = is_causal;
  const int64_t n = key.size(-2);
  Dims shape = query.impl().sizes;
  if (dropout_p > 0) {
    how.dropout = dropout_p;
    shape[query.dim() - 1] = n;
    how.state = raw::take({}, query.device(), numel_of(shape));
  }
  if (mask.defined()) {
    raw::check_same_device(kName, query, "query", mask, "attn_mask");
    check<TypeError>(mask.dtype() == kBool || mask.is_floating_point(), kName,
                     ": attn_mask has dtype ", mask.dtype(),
                     ", expected bool or a floating point type; convert it");
    mask = mask.dtype() == kBool ? zeros(mask.sizes(), query.options()).masked_fill(~mask, kHidden)
                                 : mask.to(dtype);
    shape[query.dim() - 1] = n;
    check(broadcasts_to(mask.sizes(), shape), kName, ": attn_mask has shape ", mask.sizes(),
          ", which does not broadcast to ", IntArrayRef(shape),
          ", (..., queries, keys); transpose or unsqueeze it");
    mask = mask.expand(shape);
  }
  // The derivative of a mask, and what has no elements, are left to the composite.
  if (recording(mask) || dropout_p == 1 || query.numel() == 0 || value.numel() == 0)
    return composite(how, query, key, value, mask);
  const Tensor out = attended(how, with_rows(query), with_rows(key), with_rows(value),
                              mask.defined() ? with_heads(mask) : mask);
  shape[query.dim() - 1] = value.size(-1);
  return out.view(shape);
}

}  // namespace gradus
