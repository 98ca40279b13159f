// The singular value decomposition.
#include "gradus/autograd/functions.h"
#include "gradus/autograd/ops/linalg/matrices.h"
#include "gradus/tensor/factories.h"

namespace gradus {

namespace {

// Townsend 2016, Differentiating the singular value decomposition: U (K_U S + S K_V + diag(gS))
// V^T. K_U is (U^T gU - gU^T U) / E with E[i, j] = S[j]^2 - S[i]^2; K_V is the same of V. Parts of
// gU and gV outside of the spaces of U and V are added. REQUIRES: U and V are reduced. Gradients
// may be undefined.
Tensor svd_gradient(const Tensor& grad_u, const Tensor& grad_s, const Tensor& grad_vh,
                    const Tensor& u, const Tensor& s, const Tensor& vh) {
  if (!grad_u.defined() && !grad_vh.defined()) return u.matmul(grad_s.unsqueeze(-1) * vh);
  // E is the product of the gaps and the sums of singular values, whose squares may overflow.
  const Tensor one = eye(s.size(-1), s.options()), row = s.unsqueeze(-2), column = s.unsqueeze(-1);
  const Tensor gaps = row - column + one, sums = row + column + one;
  const auto turn = [&](const Tensor& basis, const Tensor& grad) {
    const Tensor inner = basis.mT().matmul(grad);
    return (inner - inner.mT()) * (1 - one) / gaps;
  };
  // The part of a gradient that is orthogonal to a basis.
  const auto outside = [](const Tensor& basis, const Tensor& grad) {
    return grad - basis.matmul(basis.mT().matmul(grad));
  };
  Tensor inner = grad_s.defined() ? grad_s.diag_embed() : zeros_like(gaps);
  if (grad_u.defined()) inner = inner + turn(u, grad_u) * (row / sums);
  if (grad_vh.defined()) inner = inner + (column / sums) * turn(vh.mT(), grad_vh.mT());
  Tensor out = u.matmul(inner).matmul(vh);
  if (grad_u.defined() && u.size(-2) > u.size(-1))
    out = out + (outside(u, grad_u) / s.unsqueeze(-2)).matmul(vh);
  if (grad_vh.defined() && vh.size(-1) > vh.size(-2))
    out = out + u.matmul(outside(vh.mT(), grad_vh.mT()).mT() / s.unsqueeze(-1));
  return out;
}

struct Singular {
  Tensor u, s, vh;
};
// The vectors where they are asked for, or where a gradient needs them.
Singular decompose_singular(const Called& op, const Tensor& a, bool full, bool vectors) {
  const bool records = recording(matrices::checked(op, a));
  const raw::Svd out = raw::svd(a, full, vectors || records);
  matrices::check_info(op, out.info, matrices::no_singular_values);
  if (!records) return {out.u, out.s, out.vh};
  matrices::record_results(
      "LinalgSvdBackward0", {out.u, out.s, out.vh}, a, {out.u, out.s, out.vh},
      [](Node& n, const Tensors& grads) {
        // The first columns of square factors are the reduced ones. The others are any.
        const Tensor s = n.saved(1);
        const auto cut = [&](const Tensor& x, int64_t dim) {
          return x.defined() ? x.narrow(dim, 0, s.size(-1)) : x;
        };
        return Tensors{svd_gradient(cut(grads[0], -1), grads[1], cut(grads[2], -2),
                                    cut(n.saved(0), -1), s, cut(n.saved(2), -2))};
      });
  return {out.u, out.s, out.vh};
}

// The method of cuSOLVER is chosen here, for every device.
void check_driver(const char* op, const Tensor& a, std::optional<std::string_view> driver) {
  if (!driver) return;
  check(
      a.operand(op, "A").is_cuda(), op,
      ": keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend; leave "
      "it out");
  check(*driver == "gesvd" || *driver == "gesvdj" || *driver == "gesvda", op, ": driver is \"",
        *driver, "\", expected \"gesvd\", \"gesvdj\" or \"gesvda\"");
}

}  // namespace

TensorTriple linalg_svd(const Tensor& A, bool full_matrices,
                        std::optional<std::string_view> driver) {
  check_driver("linalg.svd", A, driver);
  const Singular out = decompose_singular("linalg.svd", A, full_matrices, true);
  return {out.u, out.s, out.vh};
}
Tensor linalg_svdvals(const Tensor& A, std::optional<std::string_view> driver) {
  check_driver("linalg.svdvals", A, driver);
  return decompose_singular("linalg.svdvals", A, false, false).s;
}
TensorTriple svd(const Tensor& self, bool some, bool compute_uv) {
  const Singular out = decompose_singular("svd", self, !some && compute_uv, compute_uv);
  if (compute_uv) return {out.u, out.s, out.vh.mT()};
  const auto zero_square = [&](int64_t size) {
    Dims sizes(self.sizes().data(), self.sizes().size());
    sizes[self.dim() - 2] = sizes[self.dim() - 1] = size;
    return zeros(sizes, TensorOptions(self.dtype()).device(self.device()));
  };
  return {zero_square(self.size(-2)), out.s, zero_square(self.size(-1))};
}

}  // namespace gradus
