// Distances and similarities of vectors: composed of norms.
#include "gradus/autograd/functions.h"
#include "gradus/tensor/factories.h"

namespace gradus {

Tensor dist(const Tensor& self, const Tensor& other, const Scalar& p) {
  return norm(self - other, p);
}

Tensor renorm(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm) {
  check(self.dim() >= 2, "renorm: self has shape ", self.sizes(),
        ", expected at least 2 dimensions");
  check(p.toDouble() > 0, "renorm: p is ", p.toDouble(), ", expected a positive number");
  check(maxnorm.toDouble() >= 0, "renorm: maxnorm is ", maxnorm.toDouble(), ", expected 0 or more");
  const int64_t kept = wrap_dim("renorm", dim, self.dim());
  Dims others;
  for (int64_t d = 0; d < self.dim(); ++d)
    if (d != kept) others.push_back(d);
  const Tensor norms = norm(self, p, others, true);
  return self * where(norms > maxnorm, maxnorm / (norms + 1e-7), 1.0);
}

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim, double eps) {
  const ScalarType common = promoteTypes(x1.dtype(), x2.dtype());
  check<TypeError>(isFloatingType(common), "cosine_similarity: dtype ", common,
                   " is not a floating point type; convert with .to(kFloat)");
  const Dims shape = broadcast_shapes("cosine_similarity", x1.sizes(), x2.sizes());
  const auto direction = [&](const Tensor& x) {
    const Tensor vectors = x.to(common).expand(shape);
    return vectors / linalg_vector_norm(vectors, 2, dim, true).maximum(eps);
  };
  return (direction(x1) * direction(x2)).sum(dim);
}

Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim) {
  return norm(x1 - x2 + eps, p, -1, keepdim);
}

Tensor cdist(const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t> compute_mode) {
  check(x1.dim() >= 2 && x2.dim() >= 2 && x1.size(-1) == x2.size(-1), "cdist: x1 has shape ",
        x1.sizes(), ", x2 ", x2.sizes(), "; expected (..., m, k) and (..., n, k)");
  check(p >= 0, "cdist: p is ", p, ", expected 0 or more");
  check(compute_mode.value_or(0) >= 0 && compute_mode.value_or(0) <= 2, "cdist: compute_mode is ",
        compute_mode.value_or(0), ", expected 0, 1 or 2");
  return norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p, -1);
}

Tensor pdist(const Tensor& self, double p) {
  check(self.dim() == 2, "pdist: pdist only supports 2D tensors, got: ", self.dim(),
        "D; use cdist() for batches");
  check<TypeError>(self.is_floating_point(),
                   "pdist: pdist only supports floating-point dtypes, got ", self.dtype(),
                   "; convert with .to(kFloat)");
  check(p >= 0, "pdist: pdist only supports non-negative p values, got ", p);
  const int64_t n = self.size(0);
  const Tensor pairs = triu_indices(n, n, 1, TensorOptions(kLong).device(self.device()));
  return norm(self.index_select(0, pairs[0]) - self.index_select(0, pairs[1]), p, -1);
}

Tensor norm_except_dim(const Tensor& v, int64_t pow, int64_t dim) {
  if (dim == -1) return norm(v, pow);
  const int64_t kept = wrap_dim("norm_except_dim", dim, v.dim());
  Dims others;
  for (int64_t d = 0; d <= v.dim(); ++d)
    if (d != kept) others.push_back(d);
  // The dimension at the end is for vectors, which have no others.
  return norm(v.unsqueeze(-1), pow, others, true).squeeze(-1);
}

}  // namespace gradus
