// The QR factorization.
#include "gradus/autograd/functions.h"
#include "gradus/autograd/ops/linalg/matrices.h"
#include "gradus/tensor/factories.h"

namespace gradus {

namespace {

// A = Q R with square R. Walter and Lehmann 2010, Algorithmic differentiation of linear algebra
// functions: (gQ + Q copyltu(R gR^T - gQ^T Q)) R^-T, where copyltu copies the lower triangle above
// the diagonal. grad_q or grad_r may be undefined.
Tensor square_gradient(const Tensor& grad_q, const Tensor& grad_r, const Tensor& q,
                       const Tensor& r) {
  Tensor inner = zeros_like(r);
  if (grad_r.defined()) inner = inner + r.matmul(grad_r.mT());
  if (grad_q.defined()) inner = inner - grad_q.mT().matmul(q);
  Tensor out = q.matmul(inner.tril() + inner.tril(-1).mT());
  if (grad_q.defined()) out = out + grad_q;
  return linalg_solve_triangular(r.mT(), out, false, false);
}

// A wide matrix is [X, Y] = Q [U, V], and V = Q^T Y.
Tensor qr_gradient(const Tensor& grad_q, const Tensor& grad_r, const Tensor& a, const Tensor& q,
                   const Tensor& r) {
  const int64_t m = a.size(-2), rest = a.size(-1) - m;
  if (rest <= 0) return square_gradient(grad_q, grad_r, q, r);
  const Tensor u = r.narrow(-1, 0, m);
  if (!grad_r.defined())
    return cat({square_gradient(grad_q, {}, q, u), zeros_like(a.narrow(-1, m, rest))}, -1);
  const Tensor grad_v = grad_r.narrow(-1, m, rest);
  const Tensor from_v = a.narrow(-1, m, rest).matmul(grad_v.mT());
  const Tensor first =
      square_gradient(grad_q.defined() ? grad_q + from_v : from_v, grad_r.narrow(-1, 0, m), q, u);
  return cat({first, q.matmul(grad_v)}, -1);
}

TensorPair factor_qr(const Called& op, const Tensor& A, bool complete, bool with_q) {
  raw::Qr out = raw::qr(matrices::checked(op, A), complete, with_q);
  if (recording(A)) {
    check<NotImplementedError>(with_q, op,
                               ": The derivative of linalg.qr depends on Q, which is not computed "
                               "when mode='r'. Please use linalg.qr(A, mode='reduced') if you are "
                               "going to differentiate through linalg.qr.");
    check<NotImplementedError>(!complete || A.size(-2) <= A.size(-1), op,
                               ": The QR decomposition is not differentiable when mode='complete' "
                               "and nrows > ncols, as in "
                               "shape ",
                               A.sizes(), "; use mode='reduced'");
    matrices::record_results(
        "LinalgQrBackward0", {out.q, out.r}, A, {A, out.q, out.r},
        [](Node& n, const Tensors& grads) {
          return Tensors{qr_gradient(grads[0], grads[1], n.saved(0), n.saved(1), n.saved(2))};
        });
  }
  if (!with_q) out.q = empty({0}, out.r.options());
  return {out.q, out.r};
}

}  // namespace

TensorPair linalg_qr(const Tensor& A, std::string_view mode) {
  check(mode == "reduced" || mode == "complete" || mode == "r",
        "linalg.qr: qr received unrecognized mode '", mode,
        "' but expected one of 'reduced' (default), 'r', or 'complete'");
  return factor_qr("linalg.qr", A, mode == "complete", mode != "r");
}
TensorPair qr(const Tensor& self, bool some) { return factor_qr("qr", self, !some, true); }

}  // namespace gradus
