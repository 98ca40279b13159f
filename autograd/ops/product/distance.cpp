// dist, cdist, pdist, pairwise_distance, cosine_similarity and renorm, composed of norms or of a
// product.
#include "gradus/autograd/engine/cast_operands.h"
#include "gradus/autograd/engine/one_node.h"
#include "gradus/autograd/functions.h"
#include "gradus/tensor/base/batch_invariant.h"
#include "gradus/tensor/factories.h"

namespace gradus {

Tensor dist(const Tensor& self, const Tensor& other, const Scalar& p) {
  GRADUS_AUTOCAST(dist, self, other, p);
  return norm(self - other, p);
}

Tensor renorm(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm) {
  GRADUS_AUTOCAST(renorm, self, p, dim, maxnorm);
  check(self.operand("renorm").dim() >= 2, "renorm: self has shape ", self.sizes(),
        ", expected at least 2 dimensions");
  check(p.toDouble() > 0, "renorm: p is ", p.toDouble(), ", expected a positive number");
  check(maxnorm.toDouble() >= 0, "renorm: maxnorm is ", maxnorm.toDouble(), ", expected 0 or more");
  const int64_t kept = wrap_dim("renorm", dim, self);
  Dims others;
  for (int64_t d = 0; d < self.dim(); ++d)
    if (d != kept) others.push_back(d);
  const Tensor x = as_computed(self);
  const Tensor norms = norm(x, p, others, true);
  return (x * where(norms > maxnorm, maxnorm / (norms + 1e-7), 1.0)).to(self.dtype());
}

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim, double eps) {
  GRADUS_AUTOCAST(cosine_similarity, x1, x2, dim, eps);
  const ScalarType common = promoteTypes(x1.dtype(), x2.dtype());
  check<TypeError>(isFloatingType(common), "cosine_similarity: dtype ", common,
                   " is not a floating point type; convert with .to(kFloat)");
  check(!(eps < 0), "cosine_similarity: eps is ", eps, "; expected 0 or more");
  const Dims shape = broadcast_shapes("cosine_similarity", x1.sizes(), x2.sizes());
  const auto direction = [&](const Tensor& x) {
    const Tensor vectors = x.to(common).expand(shape);
    return vectors / linalg_vector_norm(vectors, 2, dim, true).maximum(eps);
  };
  return (direction(x1) * direction(x2)).sum(dim);
}

Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim) {
  constexpr const char* kOp = "pairwise_distance";
  broadcast_shapes(kOp, x1.operand(kOp, "x1").sizes(), x2.operand(kOp, "x2").sizes());
  return norm(x1 - x2 + eps, p, -1, keepdim);
}

namespace {
// |a - b|^2 = |a|^2 + |b|^2 - 2 a b, for all rows by one product; it cancels where two are near.
// REQUIRES: both have the same dimensions before the last two.
Tensor euclidean_distances(const Tensor& x1, const Tensor& x2) {
  const Tensor out = without_graph([&] {
    const auto squares = [](const Tensor& x) { return (x * x).sum(-1, true); };
    const Tensor products = x1.matmul(x2.mT());
    return (squares(x1) + squares(x2).mT()).sub(products, 2).clamp_min(0).sqrt();
  });
  if (recording(x1, x2))
    record("EuclideanDistBackward0", out, {x1, x2}, {x1, x2, out}, [](Node& n, const Tensor& grad) {
      const Tensor a = n.saved(0), b = n.saved(1), distance = n.saved(2);
      const Tensor ratio = where(distance == 0, 0, grad / where(distance == 0, 1, distance));
      Tensors grads(2);
      if (n.wants(0)) grads[0] = a * ratio.sum(-1, true) - ratio.matmul(b);
      if (n.wants(1)) grads[1] = b * ratio.mT().sum(-1, true) - ratio.mT().matmul(a);
      return grads;
    });
  return out;
}

// The norms of rows of differences. Order 0 counts those that are not 0; beside NaN it is NaN, as
// in PyTorch's cdist and pdist.
Tensor distances(const Tensor& differences, double p) {
  if (p != 0) return norm(differences, p, -1);
  return differences.abs().ceil().clamp_max(1).sum(-1);
}
}  // namespace

Tensor cdist(const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t> compute_mode) {
  GRADUS_AUTOCAST(cdist, x1, x2, p, compute_mode);
  check(x1.operand("cdist", "x1").dim() >= 2 && x2.operand("cdist", "x2").dim() >= 2 &&
            x1.size(-1) == x2.size(-1),
        "cdist: x1 has shape ", x1.sizes(), ", x2 ", x2.sizes(),
        "; expected (..., m, k) and (..., n, k)");
  for (const Tensor* x : {&x1, &x2})
    check<TypeError>(x->is_floating_point(), "cdist: cdist only supports floating-point dtypes, X",
                     x == &x1 ? 1 : 2, " got: ", TypeName{x->dtype()},
                     "; convert with .to(kFloat)");
  check(p >= 0, "cdist: p is ", p, ", expected 0 or more");
  const int64_t mode = compute_mode.value_or(0);
  check(mode >= 0 && mode <= 2, "cdist: compute_mode is ", mode, ", expected 0, 1 or 2");
  constexpr int64_t kFewRows = 25;  // PyTorch's
  // Where rows may not depend on the batch, x1 is one.
  const bool many =
      x2.size(-2) > kFewRows || (x1.size(-2) > kFewRows && !detail::batch_invariant());
  if (p == 2 && (mode == 1 || (mode == 0 && many))) {
    const auto batch = [](const Tensor& x) { return x.sizes().slice(0, x.sizes().size() - 2); };
    const Dims common = broadcast_shapes("cdist", batch(x1), batch(x2));
    const auto expanded = [&](const Tensor& x) {
      Dims sizes = common;
      sizes.push_back(x.size(-2)), sizes.push_back(x.size(-1));
      return x.expand(sizes);
    };
    return euclidean_distances(expanded(x1), expanded(x2));
  }
  return distances(x1.unsqueeze(-2) - x2.unsqueeze(-3), p);
}

Tensor pdist(const Tensor& self, double p) {
  GRADUS_AUTOCAST(pdist, self, p);
  check(self.operand("pdist").dim() == 2,
        "pdist: pdist only supports 2D tensors, got: ", self.dim(), "D; use cdist() for batches");
  check<TypeError>(self.is_floating_point(),
                   "pdist: pdist only supports floating-point dtypes, got ", self.dtype(),
                   "; convert with .to(kFloat)");
  check(p >= 0, "pdist: pdist only supports non-negative p values, got ", p,
        "; give 0, a positive number or infinity");
  const int64_t n = self.size(0);
  const Tensor pairs = triu_indices(n, n, 1, TensorOptions(kLong).device(self.device()));
  return distances(self.index_select(0, pairs[0]) - self.index_select(0, pairs[1]), p);
}

Tensor norm_except_dim(const Tensor& v, int64_t pow, int64_t dim) {
  if (dim == -1) return norm(v, pow);
  const int64_t kept = wrap_dim("norm_except_dim", dim, v);
  Dims others;
  for (int64_t d = 0; d <= v.dim(); ++d)
    if (d != kept) others.push_back(d);
  // The dimension at the end is for vectors, which have no others.
  return norm(v.unsqueeze(-1), pow, others, true).squeeze(-1);
}

}  // namespace gradus
