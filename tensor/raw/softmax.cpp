// softmax, log_softmax, cross entropy and their gradients.
#include "gradus/tensor/raw/side_by_side.h"

namespace gradus::raw {

namespace {
// The same bits for a line in every batch.
void softmax_alike(bool log, const Tensor& x, int64_t dim, const Tensor& out) {
  const int64_t last = x.dim() - 1;
  const Tensor lines = side_by_side(raw::transpose(x, dim, last), 1);
  const Tensor turned = raw::transpose(out, dim, last);
  const bool direct = turned.strides() == lines.strides();
  const Tensor results = direct ? turned : empty_rows_of(lines, 1);
  backend(x).softmax(log, lines, last, results);
  if (!direct) copy_(turned, results);
}
}  // namespace

Tensor softmax(bool log, const Tensor& x, int64_t dim) {
  const char* const op = log ? "log_softmax" : "softmax";
  const int64_t d = wrap_dim(op, dim, x);
  check<TypeError>(
      x.is_floating_point(), op, ": not implemented for '", TypeName{x.dtype()},
      "', which is not a floating point type; convert with .to(kFloat), or pass dtype");
  const ScalarType compute = computed_type(x.dtype());
  if (compute != x.dtype()) return to(softmax(log, to(x, compute), d), x.dtype());
  const Tensor out = empty(x.sizes(), compute, x.device());
  if (x.dim() == 0)
    backend(x).softmax(log, lifted(x), d, lifted(out));
  else if (out.numel() > 0 && detail::batch_invariant())
    softmax_alike(log, x, d, out);
  else if (out.numel() > 0)
    backend(x).softmax(log, x, d, out);
  return out;
}

Tensor softmax_grad(bool log, const Tensor& grad, const Tensor& y, int64_t dim) {
  const ScalarType compute = computed_type(y.dtype());
  Tensor out = empty(y.sizes(), compute, y.device());
  if (out.numel() > 0)
    backend(y).softmax_grad(log, lifted(to(grad, compute)), lifted(to(y, compute)), dim,
                            lifted(out));
  return to(std::move(out), y.dtype());
}

std::pair<Tensor, Tensor> cross_entropy(const CrossEntropyRule& rule, const Tensor& x,
                                        const Tensor& target, const Tensor& weight, bool mean) {
  const ScalarType compute = computed_type(x.dtype());
  std::pair<Tensor, Tensor> out{empty({4, x.sizes()[0]}, compute, x.device()), {}};
  if (mean) out.second = empty({}, compute, x.device());
  namespace row = contracts::cross_entropy;
  Tensor logits = taken(row::x, x);
  if (detail::batch_invariant()) logits = side_by_side(logits, 1);
  backend(x).cross_entropy(rule, logits, taken(row::target, target), taken(row::weight, weight),
                           out.first, out.second);
  return out;
}

Tensor cross_entropy_grad(const CrossEntropyRule& rule, const Tensor& grad, const Tensor& x,
                          const Tensor& target, const Tensor& rows) {
  namespace row = contracts::cross_entropy_grad;
  Tensor out = empty_rows(row::out, x);
  backend(x).cross_entropy_grad(rule, grad, taken(row::x, x), taken(row::target, target), rows,
                                out);
  return out;
}

}  // namespace gradus::raw
