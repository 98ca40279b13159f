// The exponential of matrices.
#include <cmath>

#include "gradus/autograd/engine/one_node.h"
#include "gradus/autograd/functions.h"
#include "gradus/autograd/ops/linalg/matrices.h"
#include "gradus/tensor/factories.h"

namespace gradus {

namespace {

// The Pade approximant of order 13, exact to rounding up to this 1-norm in float64: Higham 2005,
// The scaling and squaring method for the matrix exponential revisited.
constexpr double kPadeNorm = 5.371920351148152;
constexpr double kPade[] = {64764752532480000.,
                            32382376266240000.,
                            7771770303897600.,
                            1187353796428800.,
                            129060195264000.,
                            10559470521600.,
                            670442572800.,
                            33522128640.,
                            1323241920.,
                            40840800.,
                            960960.,
                            16380.,
                            182.,
                            1.};

Tensor pade(const Tensor& a) {
  const Tensor one = matrices::identity_like(a), a2 = a.matmul(a), a4 = a2.matmul(a2),
               a6 = a4.matmul(a2);
  // Divided by the first coefficient, they do not overflow in float32.
  const auto sum = [&](int from) {
    const auto c = [&](int i) { return kPade[from + i] / kPade[0]; };
    const Tensor high = a6 * c(12) + a4 * c(10) + a2 * c(8);
    return a6.matmul(high) + a6 * c(6) + a4 * c(4) + a2 * c(2) + one * c(0);
  };
  const Tensor odd = a.matmul(sum(1)), even = sum(0);
  return std::get<0>(linalg_solve_ex(even - odd, even + odd));
}

// e^A = (e^(A / 2^s))^(2^s), where s makes the norm of each matrix small enough. Waits for a GPU.
Tensor exp_value(const Tensor& a) {
  if (a.numel() == 0 || a.is_meta()) return a.clone();
  if (a.size(-1) == 1) return a.exp();
  const Tensor norms = a.abs().sum(-2).amax(-1);
  const Tensor squarings = (norms / kPadeNorm).log2().ceil().clamp(0, 1100).nan_to_num();
  const Tensor counts = squarings.unsqueeze(-1).unsqueeze(-1);
  Tensor out = pade(a * (-counts).exp2());
  const auto most = static_cast<int>(squarings.max().item<double>());
  for (int i = 0; i < most; ++i) out = where(counts > i, out.matmul(out), out);
  return out;
}

}  // namespace

// Higham 2008, Functions of matrices, 10.6: the gradient is the upper right block of the
// exponential of [[A^T, g], [0, A^T]].
Tensor linalg_matrix_exp(const Tensor& self) {
  const Called op("linalg.matrix_exp");
  return one_node("LinalgMatrixExpBackward0", matrices::checked_square(op, self), exp_value,
                  [](const Tensor& grad, const Tensor& a) {
                    const int64_t n = a.size(-1);
                    const Tensor turned = a.mT();
                    const Tensor block =
                        cat({cat({turned, grad}, -1), cat({zeros_like(turned), turned}, -1)}, -2);
                    return linalg_matrix_exp(block).narrow(-2, 0, n).narrow(-1, n, n);
                  });
}
Tensor matrix_exp(const Tensor& self) {
  const Called op("matrix_exp");
  return linalg_matrix_exp(self);
}

}  // namespace gradus
