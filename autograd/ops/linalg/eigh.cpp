// Eigenvalues and eigenvectors of symmetric matrices.
#include "gradus/autograd/functions.h"
#include "gradus/autograd/ops/linalg/matrices.h"
#include "gradus/tensor/factories.h"

namespace gradus {

namespace {

// Giles 2008: V (diag(gL) + V^T gV / E) V^T with E[i, j] = L[j] - L[i]. The diagonal of V^T gV
// changes no length of a vector, and counts as 0. One of the gradients may be undefined.
Tensor eigh_gradient(const Tensor& grad_values, const Tensor& grad_vectors, const Tensor& values,
                     const Tensor& vectors) {
  const Tensor turned = vectors.mT();
  if (!grad_vectors.defined()) return vectors.matmul(grad_values.unsqueeze(-1) * turned);
  const Tensor one = eye(values.size(-1), values.options());
  const Tensor gaps = values.unsqueeze(-2) - values.unsqueeze(-1) + one;
  Tensor inner = turned.matmul(grad_vectors) * (1 - one) / gaps;
  if (grad_values.defined()) inner = inner + grad_values.diag_embed();
  return vectors.matmul(inner).matmul(turned);
}

struct Symmetric {
  Tensor values, vectors;
};
// The vectors where they are asked for, or where a gradient needs them.
Symmetric decompose(const Called& op, const Tensor& self, std::string_view uplo, bool vectors) {
  matrices::checked_square(op, self);
  check(uplo == "L" || uplo == "U" || uplo == "l" || uplo == "u", op,
        ": Expected UPLO argument to be 'L' or 'U', but got ", uplo);
  const bool upper = uplo == "U" || uplo == "u", records = recording(self);
  const raw::Eigh out = raw::eigh(self, upper, vectors || records);
  matrices::check_info(op, out.info, matrices::no_eigenvalues);
  if (records)
    matrices::record_results(
        "LinalgEighBackward0", {out.values, out.vectors}, self, {out.values, out.vectors},
        [](Node& n, const Tensors& grads) {
          return Tensors{eigh_gradient(grads[0], grads[1], n.saved(0), n.saved(1))};
        });
  return {out.values, out.vectors};
}

}  // namespace

TensorPair linalg_eigh(const Tensor& self, std::string_view UPLO) {
  const Symmetric out = decompose("linalg.eigh", self, UPLO, true);
  return {out.values, out.vectors};
}
Tensor linalg_eigvalsh(const Tensor& self, std::string_view UPLO) {
  return decompose("linalg.eigvalsh", self, UPLO, false).values;
}

}  // namespace gradus
