// Determinants, by the LU factorization: det, slogdet, logdet. Derivatives: Giles 2008.
#include <cmath>
#include <limits>

#include "gradus/autograd/engine/one_node.h"
#include "gradus/autograd/functions.h"
#include "gradus/autograd/ops/linalg/matrices.h"
#include "gradus/tensor/factories.h"

namespace gradus {

namespace {

// 1 or -1: each pivot that names another row is one exchange.
Tensor sign_of_exchanges(const raw::Lu& factors) {
  const Tensor& pivots = factors.pivots;
  const Tensor exchanged = pivots != arange(1, pivots.size(-1) + 1, pivots.options());
  return (1 - exchanged.sum(-1, false, kLong).remainder(2) * 2).to(factors.lu.dtype());
}
Tensor diagonal_of(const raw::Lu& factors) { return factors.lu.diagonal(0, -2, -1); }

// The gradient of the determinant is the adjugate's transpose, det(A) A^-T for invertible matrices.
// A diagonal of U that is 0 to rounding is first moved away from 0: this is A + E with a constant
// E. E is larger where the gradient is part of a graph, since second derivatives divide by the
// diagonal twice.
Tensor det_gradient(const Tensor& grad, const Tensor& a) {
  if (a.numel() == 0) return zeros_like(a);
  const double epsilon = a.dtype() == kFloat ? 0x1p-23 : 0x1p-52;
  const double least =
      GradMode::is_enabled() ? std::sqrt(epsilon) : 8 * epsilon * static_cast<double>(a.size(-1));
  const Tensor near =
      a + without_graph([&] {
        const raw::Lu factors = raw::lu(a);
        const Tensor diagonal = diagonal_of(factors);
        const Tensor away = a.abs().amax({-2, -1}).clamp_min(1e-30).unsqueeze(-1) * least;
        const Tensor change = where(diagonal.abs() < away, away, 0);
        const auto [p, l, u] = lu_unpack(factors.lu, factors.pivots);
        return p.matmul(l * change.unsqueeze(-2));
      });
  const Tensor scale = (grad * linalg_det(near)).unsqueeze(-1).unsqueeze(-1);
  return scale * std::get<0>(linalg_inv_ex(near)).mT();
}

TensorPair signed_logarithm(const Called& op, const Tensor& a) {
  const raw::Lu factors = raw::lu(matrices::checked_square(op, a));
  const Tensor diagonal = diagonal_of(factors);
  const Tensor sign =
      without_graph([&] { return diagonal.sign().prod(-1) * sign_of_exchanges(factors); });
  const Tensor size = without_graph([&] { return diagonal.abs().log().sum(-1); });
  if (recording(a))
    record("LinalgSlogdetBackward0", size, {a}, {a}, [](Node& n, const Tensor& grad) {
      const Tensor inverse = std::get<0>(linalg_inv_ex(n.saved(0)));
      return Tensors{grad.unsqueeze(-1).unsqueeze(-1) * inverse.mT()};
    });
  return {sign, size};
}

}  // namespace

Tensor linalg_det(const Tensor& A) {
  const Called op("linalg.det");
  const Tensor out = without_graph([&] {
    const raw::Lu factors = raw::lu(matrices::checked_square(op, A));
    return diagonal_of(factors).prod(-1) * sign_of_exchanges(factors);
  });
  if (recording(A))
    record("LinalgDetBackward0", out, {A}, {A},
           [](Node& n, const Tensor& grad) { return Tensors{det_gradient(grad, n.saved(0))}; });
  return out;
}
Tensor det(const Tensor& self) {
  const Called op("det");
  return linalg_det(self);
}

TensorPair linalg_slogdet(const Tensor& A) { return signed_logarithm("linalg.slogdet", A); }
TensorPair slogdet(const Tensor& self) { return signed_logarithm("slogdet", self); }

Tensor logdet(const Tensor& self) {
  const auto [sign, size] = signed_logarithm("logdet", self);
  return where(sign == -1, std::numeric_limits<double>::quiet_NaN(), size);
}

}  // namespace gradus
