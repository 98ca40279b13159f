// The attention of Backend of other functions of tensors, with all scores in memory: what kernels
// are compared with.
#include <limits>

#include "gradus/tensor/raw/arithmetic.h"

namespace gradus {

using raw::plus, raw::minus, raw::times;

namespace {

// Stands for -infinity, so that a difference from it is no NaN.
constexpr double kLeast = static_cast<double>(std::numeric_limits<float>::lowest());

Tensor transposed(const Tensor& x) { return raw::transpose(x, 2, 3); }

// A head of keys or values for each head of queries.
Tensor for_heads(const Tensor& x, const Tensor& q) {
  const int64_t sharing = q.size(1) / x.size(1);
  if (sharing == 1) return x;
  const Tensor each =
      raw::expand(raw::unsqueeze(x, 2), {x.size(0), x.size(1), sharing, x.size(2), x.size(3)});
  return *raw::try_view(raw::contiguous(each), {x.size(0), q.size(1), x.size(2), x.size(3)});
}

Tensor scores(const Attention& how, const Tensor& q, const Tensor& k, const Tensor& mask) {
  Tensor out = raw::matmul(q, transposed(k));
  raw::zip_(BinaryOp::mul, out, Scalar(how.scale));
  if (mask.defined()) raw::zip_(BinaryOp::add, out, mask);
  if (!how.causal) return out;
  const Tensor seen = raw::empty({out.size(2), out.size(3)}, kFloat, out.device());
  raw::fill_(seen, 1);
  return raw::where(raw::zip(BinaryOp::ne, raw::triangle("attention", false, 0, seen), Scalar(0)),
                    out, Scalar(-std::numeric_limits<double>::infinity()));
}

// The weights of the values, as they are drawn.
Tensor thinned(const Attention& how, const Tensor& x) {
  if (how.dropout == 0) return x;
  const Tensor out = raw::empty(x.sizes(), x.dtype(), x.device());
  raw::random_map(RandomMap::dropout, how.dropout, how.state, raw::contiguous(x), out);
  return out;
}

// e^(scores - log_sums), which is 0 in a row without keys.
Tensor weights(const Tensor& scores, const Tensor& log_sums) {
  const Tensor finite = raw::zip(BinaryOp::maximum, raw::unsqueeze(log_sums, 3), Scalar(kLeast));
  return raw::map(UnaryOp::exp, minus(scores, finite));
}

}  // namespace

void Backend::attention(const Attention& how, const Tensor& q, const Tensor& k, const Tensor& v,
                        const Tensor& mask, const Tensor& out, const Tensor& log_sums) {
  const Tensor all = scores(how, q, for_heads(k, q), mask);
  const Tensor top = raw::zip(BinaryOp::maximum, raw::reduce(ReduceOp::amax, all, IntArrayRef({3})),
                              Scalar(kLeast));
  const Tensor sums =
      raw::reduce(ReduceOp::sum, raw::map(UnaryOp::exp, minus(all, top)), IntArrayRef({3}));
  raw::copy_(raw::unsqueeze(log_sums, 3), plus(raw::map(UnaryOp::log, sums), top));
  raw::copy_(out, raw::matmul(thinned(how, weights(all, log_sums)), for_heads(v, q)));
}

void Backend::attention_grad(const Attention& how, const Tensor& grad, const Tensor& q,
                             const Tensor& k, const Tensor& v, const Tensor& mask,
                             const Tensor& out, const Tensor& log_sums, const Tensor& grad_q,
                             const Tensor& grad_k, const Tensor& grad_v) {
  const Tensor keys = for_heads(k, q);
  const Tensor p = weights(scores(how, q, keys, mask), log_sums);
  raw::copy_(grad_v, raw::matmul(transposed(thinned(how, p)), grad));
  const Tensor mean = raw::reduce(ReduceOp::sum, times(grad, out), IntArrayRef({3}));
  const Tensor of_weights = thinned(how, raw::matmul(grad, transposed(for_heads(v, q))));
  const Tensor of_scores = times(times(p, minus(of_weights, mean)), Scalar(how.scale));
  raw::copy_(grad_q, raw::matmul(of_scores, keys));
  raw::copy_(grad_k, raw::matmul(transposed(of_scores), q));
}

}  // namespace gradus
