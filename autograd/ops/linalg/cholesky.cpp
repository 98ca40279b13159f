// The Cholesky factorization, and equations that are solved by it.
#include "gradus/autograd/functions.h"
#include "gradus/autograd/ops/linalg/matrices.h"

namespace gradus {

namespace {

// Murray 2016, Differentiation of the Cholesky decomposition: the gradient is L^-T P(L^T g) L^-1,
// made symmetric. P keeps the lower triangle and half of the diagonal.
Tensor cholesky_gradient(const Tensor& grad, const Tensor& factor, bool upper) {
  const Tensor l = upper ? factor.mT() : factor;
  const Tensor lower = l.mT().matmul(upper ? grad.mT() : grad).tril();
  const Tensor inner = (lower + lower.tril(-1).mT()) * 0.5;
  return linalg_solve_triangular(l.mT(), linalg_solve_triangular(l, inner, false, false), true);
}

TensorPair cholesky_ex(const Called& op, const Tensor& self, bool upper) {
  const raw::Cholesky out = raw::cholesky(matrices::checked_square(op, self), upper);
  if (recording(self))
    record("LinalgCholeskyExBackward0", out.factor, {self}, {out.factor},
           [upper](Node& n, const Tensor& grad) {
             return Tensors{cholesky_gradient(grad, n.saved(0), upper)};
           });
  return {out.factor, out.info};
}

Tensor cholesky_checked(const Called& op, const Tensor& self, bool upper) {
  const auto [factor, info] = cholesky_ex(op, self, upper);
  matrices::check_info(op, info, matrices::not_positive_definite);
  return factor;
}

}  // namespace

Tensor cholesky(const Tensor& self, bool upper) {
  return cholesky_checked("cholesky", self, upper);
}
Tensor linalg_cholesky(const Tensor& self, bool upper) {
  return cholesky_checked("linalg.cholesky", self, upper);
}
TensorPair linalg_cholesky_ex(const Tensor& self, bool upper, bool check_errors) {
  TensorPair out = cholesky_ex("linalg.cholesky_ex", self, upper);
  if (check_errors)
    matrices::check_info("linalg.cholesky_ex", std::get<1>(out), matrices::not_positive_definite);
  return out;
}

Tensor cholesky_solve(const Tensor& self, const Tensor& input2, bool upper) {
  const Called op("cholesky_solve");
  matrices::checked(op, self, "b");
  matrices::checked_square(op, input2, "input2");
  const Tensor l = upper ? input2.mT() : input2;
  return linalg_solve_triangular(l.mT(), linalg_solve_triangular(l, self, false), true);
}

Tensor cholesky_inverse(const Tensor& self, bool upper) {
  const Called op("cholesky_inverse");
  matrices::checked_square(op, self);
  return cholesky_solve(matrices::identity_like(self), self, upper);
}

}  // namespace gradus
