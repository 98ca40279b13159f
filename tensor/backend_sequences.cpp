// The recurrent cells and attention of Backend, of other functions of tensors: what a device does
// that has no kernels of its own for them, and what its kernels are compared with.
#include <limits>

#include "gradus/tensor/raw/raw.h"

namespace gradus {

namespace {

Tensor plus(const Operand& x, const Operand& y) { return raw::zip(BinaryOp::add, x, y); }
Tensor minus(const Operand& x, const Operand& y) { return raw::zip(BinaryOp::sub, x, y); }
Tensor times(const Operand& x, const Operand& y) { return raw::zip(BinaryOp::mul, x, y); }
// The gradient of the operand of a function, given its result.
Tensor through(UnaryOp op, const Tensor& grad, const Tensor& y) {
  return raw::map_grad(op, grad, {}, y);
}
// The i-th of the matrices of H columns that stand side by side.
Tensor gate(const Tensor& all, int64_t units, int64_t i) {
  return raw::narrow(all, 1, i * units, units);
}

}  // namespace

void Backend::lstm_cell(const Tensor& x, const Tensor& s, const Tensor& c_prev, const Tensor& gates,
                        const Tensor& c, const Tensor& h) {
  const int64_t units = c.size(1);
  const auto of = [&](int64_t i) { return gate(gates, units, i); };
  raw::copy_(gates, plus(x, s));
  raw::map_(UnaryOp::sigmoid, raw::narrow(gates, 1, 0, 2 * units));
  raw::map_(UnaryOp::tanh, of(2));
  raw::map_(UnaryOp::sigmoid, of(3));
  raw::copy_(c, plus(times(of(1), c_prev), times(of(0), of(2))));
  raw::copy_(h, times(of(3), raw::map(UnaryOp::tanh, c)));
}

void Backend::lstm_cell_grad(const Tensor& grad_h, const Tensor& c_prev, const Tensor& gates,
                             const Tensor& c, const Tensor& grad_c, const Tensor& grad_x) {
  const int64_t units = c.size(1);
  const auto of = [&](int64_t i) { return gate(gates, units, i); };
  const auto set = [&](int64_t i, UnaryOp op, const Tensor& grad) {
    raw::copy_(gate(grad_x, units, i), through(op, grad, of(i)));
  };
  const Tensor t = raw::map(UnaryOp::tanh, c);
  raw::zip_(BinaryOp::add, grad_c, through(UnaryOp::tanh, times(grad_h, of(3)), t));
  set(0, UnaryOp::sigmoid, times(grad_c, of(2)));
  set(1, UnaryOp::sigmoid, times(grad_c, c_prev));
  set(2, UnaryOp::tanh, times(grad_c, of(0)));
  set(3, UnaryOp::sigmoid, times(grad_h, t));
  raw::zip_(BinaryOp::mul, grad_c, of(1));
}

void Backend::gru_cell(const Tensor& x, const Tensor& s, const Tensor& h_prev, const Tensor& gates,
                       const Tensor& h) {
  const int64_t units = h.size(1);
  const Tensor both = raw::narrow(gates, 1, 0, 2 * units), n = gate(gates, units, 2);
  raw::copy_(both, plus(raw::narrow(x, 1, 0, 2 * units), raw::narrow(s, 1, 0, 2 * units)));
  raw::map_(UnaryOp::sigmoid, both);
  raw::copy_(n, plus(gate(x, units, 2), times(gate(gates, units, 0), gate(s, units, 2))));
  raw::map_(UnaryOp::tanh, n);
  raw::copy_(h, plus(n, times(gate(gates, units, 1), minus(h_prev, n))));
}

void Backend::gru_cell_grad(const Tensor& h_prev, const Tensor& s, const Tensor& gates,
                            const Tensor& grad_h, const Tensor& grad_x, const Tensor& grad_s) {
  const int64_t units = h_prev.size(1);
  const auto of = [&](int64_t i) { return gate(gates, units, i); };
  const auto set = [&](int64_t i, const Tensor& grad) { raw::copy_(gate(grad_x, units, i), grad); };
  const Tensor grad_n = through(UnaryOp::tanh, minus(grad_h, times(grad_h, of(1))), of(2));
  set(0, through(UnaryOp::sigmoid, times(grad_n, gate(s, units, 2)), of(0)));
  set(1, through(UnaryOp::sigmoid, times(grad_h, minus(h_prev, of(2))), of(1)));
  set(2, grad_n);
  raw::copy_(grad_s, grad_x);
  raw::zip_(BinaryOp::mul, gate(grad_s, units, 2), of(0));
  raw::zip_(BinaryOp::mul, grad_h, of(1));
}

namespace {

// In place of -infinity, so that a difference from it is no NaN.
constexpr double kLeast = static_cast<double>(std::numeric_limits<float>::lowest());

Tensor transposed(const Tensor& x) { return raw::transpose(x, 2, 3); }

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
  const Tensor all = scores(how, q, k, mask);
  const Tensor top = raw::zip(BinaryOp::maximum, raw::reduce(ReduceOp::amax, all, IntArrayRef({3})),
                              Scalar(kLeast));
  const Tensor sums =
      raw::reduce(ReduceOp::sum, raw::map(UnaryOp::exp, minus(all, top)), IntArrayRef({3}));
  raw::copy_(raw::unsqueeze(log_sums, 3), plus(raw::map(UnaryOp::log, sums), top));
  raw::copy_(out, raw::matmul(thinned(how, weights(all, log_sums)), v));
}

void Backend::attention_grad(const Attention& how, const Tensor& grad, const Tensor& q,
                             const Tensor& k, const Tensor& v, const Tensor& mask,
                             const Tensor& out, const Tensor& log_sums, const Tensor& grad_q,
                             const Tensor& grad_k, const Tensor& grad_v) {
  const Tensor p = weights(scores(how, q, k, mask), log_sums);
  raw::copy_(grad_v, raw::matmul(transposed(thinned(how, p)), grad));
  const Tensor mean = raw::reduce(ReduceOp::sum, times(grad, out), IntArrayRef({3}));
  const Tensor of_weights = thinned(how, raw::matmul(grad, transposed(v)));
  const Tensor of_scores = times(times(p, minus(of_weights, mean)), Scalar(how.scale));
  raw::copy_(grad_q, raw::matmul(of_scores, k));
  raw::copy_(grad_k, raw::matmul(transposed(of_scores), q));
}

}  // namespace gradus
