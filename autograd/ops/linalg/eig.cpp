// Eigenvalues and eigenvectors of any square matrices, which are complex.
#include "gradus/autograd/functions.h"
#include "gradus/autograd/ops/linalg/matrices.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/level.h"

namespace gradus {

namespace {

// x of a x = b for complex numbers, by their parts.
Tensor solve_complex(const Tensor& a, const Tensor& b) {
  const Tensor re = real(a), im = imag(a);
  const Tensor parts = cat({cat({re, -im}, -1), cat({im, re}, -1)}, -2);
  const Tensor x = linalg_solve(parts, cat({real(b), imag(b)}, -2));
  const int64_t n = a.size(-1);
  return complex(x.narrow(-2, 0, n), x.narrow(-2, n, n));
}

// An eigenvector times a number of size 1 is another one. The gradient of a loss that does not
// change then has a real part alone on the diagonal of V^H gV.
void check_phase(const Tensor& diagonal) {
  if (diagonal.is_meta()) return;
  const NoGradGuard guard;
  const Tensor turning = batching::over_all(imag(diagonal)).abs();
  check<Error>((turning <= 1e-2).all().item<bool>(),
               "linalg.eig: backward: The eigenvectors in the complex case are specified up to "
               "multiplication by e^{i phi}. The specified loss function depends on this quantity, "
               "so it is ill-defined; use what does not depend on it, as abs() of the vectors");
}

// Giles 2008, and Boeddeker and others 2017 for vectors of length 1. The gradient is
// V^-H (diag(gL) + (V^H gV - V^H V diag(Re(V^H gV))) / conj(E)) V^H with E[i, j] = L[j] - L[i],
// where the fraction has no diagonal. One of the gradients may be undefined.
Tensor eig_gradient(const Tensor& grad_values, const Tensor& grad_vectors, const Tensor& values,
                    const Tensor& vectors) {
  const Tensor turned = vectors.mH();
  Tensor inner;
  if (grad_vectors.defined()) {
    const Tensor along = turned.matmul(grad_vectors), diagonal = along.diagonal(0, -2, -1);
    check_phase(diagonal);
    const Tensor one = eye(values.size(-1), values.options());
    const Tensor gaps = (values.unsqueeze(-2) - values.unsqueeze(-1)).conj() + one;
    const Tensor across = along - turned.matmul(vectors * real(diagonal).unsqueeze(-2));
    inner = across * (1 - one) / gaps;
    if (grad_values.defined()) inner = inner + grad_values.diag_embed();
    inner = inner.matmul(turned);
  } else {
    inner = grad_values.unsqueeze(-1) * turned;
  }
  return solve_complex(turned, inner);
}

// The complex numbers of the packed ones (factorizations.h).
TensorPair unpacked(const raw::Eig& packed) {
  const Tensor re = packed.values.select(-2, 0), im = packed.values.select(-2, 1);
  if (!packed.vectors.defined()) return {complex(re, im), {}};
  const Tensor sign = im.unsqueeze(-2), zero = zeros_like(im).unsqueeze(-2);
  const Tensor &own = packed.vectors, last = own.roll(1, -1), next = own.roll(-1, -1);
  return {complex(re, im),
          complex(where(sign < 0, last, own), where(sign > 0, next, where(sign < 0, -own, zero)))};
}

// The vectors where they are asked for, or where a gradient needs them.
TensorPair decompose_general(const Called& op, const Tensor& self, bool vectors) {
  if (self.operand(op, "A").is_complex())
    matrices::check_square(op, self);
  else
    matrices::checked_square(op, self);
  if (!self.is_meta())
    check<Error>(batching::over_all(isfinite(self)).all().item<bool>(), op,
                 ": input tensor should not contain infs or NaNs; replace them by nan_to_num()");
  const bool records = recording(self);
  TensorPair out;
  {
    const NoGradGuard guard;
    const raw::Eig found = raw::eig(self, vectors || records);
    matrices::check_info(op, found.info, matrices::no_eigenvalues);
    out = self.is_complex() ? TensorPair(found.values, found.vectors) : unpacked(found);
  }
  const auto& [values, columns] = out;
  if (records)
    matrices::record_results(
        "LinalgEigBackward0", {values, columns}, self, {values, columns},
        [](Node& n, const Tensors& grads) {
          return Tensors{eig_gradient(grads[0], grads[1], n.saved(0), n.saved(1))};
        });
  return out;
}

}  // namespace

TensorPair linalg_eig(const Tensor& self) { return decompose_general("linalg.eig", self, true); }
Tensor linalg_eigvals(const Tensor& self) {
  return std::get<0>(decompose_general("linalg.eigvals", self, false));
}

}  // namespace gradus
