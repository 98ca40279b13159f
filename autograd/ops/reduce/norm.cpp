// norm, linalg_norm, vector_norm and matrix_norm, with their gradients.
#include "gradus/autograd/engine/cast_operands.h"
#include "gradus/autograd/ops/reduce.h"
#include "gradus/tensor/base/called.h"

#include <cmath>

namespace gradus {

namespace {

// The p-norm over the dimensions of `mask`, which keep size 1.
struct Norm {
  double p;
  DimMask mask;

  Tensor operator()(const Tensor& self) const {
    const NoGradGuard guard;
    const Dims dims = reduced_dims(mask, self.dim());
    if (p == 1) return raw::reduce(ReduceOp::norm1, self, dims);
    if (p == 2) return raw::reduce(ReduceOp::norm2, self, dims);
    const Tensor x = widened(self);
    const auto sum = [&](const Tensor& powers) {
      return dims.empty() ? powers : powers.sum(dims, true);
    };
    if (p == 0) return sum((x != 0).to(x.dtype()));
    if (std::isinf(p)) {
      const Tensor size = x.abs();
      return dims.empty() ? size : p > 0 ? size.amax(dims, true) : size.amin(dims, true);
    }
    return raw::norm(p, x, dims);
  }

  // Zeros get no gradient, and keep the ones of others finite: they stand for 1 where it divides.
  // A norm of 0 that has other elements is of an order below 0, and does not change with them.
  Tensor backward(const Tensor& grad, const Tensor& x, const Tensor& y) const {
    if (p == 0) return {};
    if (p == 1) return grad * x.sign();
    if (std::isinf(p)) return shared_evenly(grad, x.abs(), y, mask, true) * x.sign();
    const Tensor length = where(y == 0, 1, y);
    if (p == 2) return x * where(y == 0, 0, grad / length);
    const Tensor size = where(x == 0, 1, x.abs());
    return where(x == 0, 0, x.sign() * size.pow(p - 1)) *
           where(y == 0, 0, grad * length.pow(1 - p));
  }
};

Tensor vector_norm(const char* op, const char* node, const Tensor& self, const Scalar& p,
                   OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  const Tensor x = dtype ? self.to(*dtype) : self;
  if (x.operand(op).is_complex())
    return vector_norm(op, node, x.abs(), p, dim, keepdim, std::nullopt);
  check<TypeError>(x.is_floating_point(), op, ": dtype ", x.dtype(),
                   " is not a floating point type; convert with .to(kFloat), or pass dtype");
  const Norm norm{p.toDouble(), dim_mask(op, dim, x)};
  const Tensor out = drop(raw::to(norm(x), x.dtype()), norm.mask, keepdim);
  if (recording(x))
    record(node, out, {x}, {x, out}, [norm](Node& n, const Tensor& grad) -> Tensors {
      const Tensor saved = n.saved(0);
      const Dims kept = kept_sizes(saved, norm.mask);
      return {norm.backward(grad.reshape(kept), saved, n.saved(1).reshape(kept))};
    });
  return out;
}

// A norm of no elements is 0, whatever p is.
Tensor old_norm(const char* node, const Tensor& self, const std::optional<Scalar>& p,
                OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  const Scalar order = p.value_or(2);
  return vector_norm("norm", node, self, self.numel() == 0 && order.toDouble() != 0 ? 1 : order,
                     dim, keepdim, dtype);
}

// The two dimensions of matrices.
struct Plane {
  int64_t rows, columns;

  Plane(const char* op, const Tensor& self, IntArrayRef dim) {
    check(self.operand(op).dim() >= 2, op, ": self has shape ", self.sizes(),
          "; expected 2 dimensions or more");
    check(dim.size() == 2, op, ": dim ", dim, " lists ", dim.size(), " dimensions, expected 2");
    rows = wrap_dim(op, dim[0], self);
    columns = wrap_dim(op, dim[1], self);
    check(rows != columns, op, ": dim ", dim, " lists dimension ", rows, " twice");
  }
};

// f of the singular values of the matrices in the plane, which keeps their dimension as size 1.
template <class F>
Tensor of_singular_values(const Tensor& self, const Plane& plane, bool keepdim,
                          std::optional<ScalarType> dtype, F f) {
  const Tensor x = (dtype ? self.to(*dtype) : self).movedim({plane.rows, plane.columns}, {-2, -1});
  const Tensor out = f(linalg_svdvals(x)).unsqueeze(-1);
  if (keepdim) return out.movedim({-2, -1}, {plane.rows, plane.columns});
  return out.squeeze(-1).squeeze(-1);
}

}  // namespace

Tensor norm(const Tensor& self, const std::optional<Scalar>& p, ScalarType dtype) {
  GRADUS_AUTOCAST(norm, self, p, dtype);
  return old_norm("NormBackward2", self, p, std::nullopt, false, dtype);
}
Tensor norm(const Tensor& self, const Scalar& p) {
  GRADUS_AUTOCAST(norm, self, p);
  return old_norm("NormBackward0", self, p, std::nullopt, false, std::nullopt);
}
Tensor norm(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim, bool keepdim,
            ScalarType dtype) {
  GRADUS_AUTOCAST(norm, self, p, dim, keepdim, dtype);
  return old_norm("NormBackward3", self, p, dim, keepdim, dtype);
}
Tensor norm(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim, bool keepdim) {
  GRADUS_AUTOCAST(norm, self, p, dim, keepdim);
  return old_norm("NormBackward1", self, p, dim, keepdim, std::nullopt);
}

Tensor linalg_vector_norm(const Tensor& self, const Scalar& ord, OptionalIntArrayRef dim,
                          bool keepdim, std::optional<ScalarType> dtype) {
  GRADUS_AUTOCAST(linalg_vector_norm, self, ord, dim, keepdim, dtype);
  const Called op("linalg.vector_norm");
  const double p = ord.toDouble();
  const int64_t count = reduced_count(self, dim_mask(op, dim, self));
  check(count > 0 || (p >= 0 && !std::isinf(p)), op, ": the norm of order ", p,
        " of no elements (shape ", self.sizes(), ") does not exist");
  return vector_norm(op, "LinalgVectorNormBackward0", self, ord, dim, keepdim, dtype);
}

namespace {
// The largest along dim, which stays; of none it is 0, as a norm is.
Tensor largest(const Tensor& x, int64_t dim) {
  return x.size(dim) > 0 ? x.amax(dim, true) : x.sum(dim, true);
}
}  // namespace

Tensor linalg_matrix_norm(const Tensor& self, const Scalar& ord, IntArrayRef dim, bool keepdim,
                          std::optional<ScalarType> dtype) {
  GRADUS_AUTOCAST(linalg_matrix_norm, self, ord, dim, keepdim, dtype);
  const Called op("linalg.matrix_norm");
  const Plane plane(op, self, dim);
  const auto [rows, columns] = plane;
  const double p = ord.toDouble(), order = std::abs(p);
  check(order == 1 || order == 2 || std::isinf(p), op, ": order ", p,
        " does not exist; expected 1, -1, 2, -2, inf, -inf, \"fro\" or \"nuc\"");
  if (order == 2)
    return of_singular_values(self, plane, keepdim, dtype, [p](const Tensor& s) {
      return p > 0 ? largest(s, -1) : s.amin(-1, true);
    });
  const int64_t summed = order == 1 ? rows : columns, chosen = order == 1 ? columns : rows;
  const Tensor sums = linalg_vector_norm(self, 1, summed, true, dtype);
  const Tensor kept = p > 0 ? largest(sums, chosen) : sums.amin(chosen, true);
  if (keepdim) return kept;
  return kept.squeeze(std::max(rows, columns)).squeeze(std::min(rows, columns));
}

Tensor linalg_matrix_norm(const Tensor& self, std::string_view ord, IntArrayRef dim, bool keepdim,
                          std::optional<ScalarType> dtype) {
  GRADUS_AUTOCAST(linalg_matrix_norm, self, ord, dim, keepdim, dtype);
  const Called op("linalg.matrix_norm");
  const Plane plane(op, self, dim);
  if (ord == "nuc")
    return of_singular_values(self, plane, keepdim, dtype,
                              [](const Tensor& s) { return s.sum(-1, true); });
  check(ord == "fro", op, ": ord is \"", ord, "\", expected \"fro\" or \"nuc\"");
  return linalg_vector_norm(self, 2, Dims{plane.rows, plane.columns}, keepdim, dtype);
}

namespace {
// The dimensions of matrices where none are listed.
IntArrayRef matrix_dims(const Called& op, const Tensor& self, OptionalIntArrayRef dim) {
  static constexpr std::array<int64_t, 2> last{-2, -1};
  if (dim.has_value()) return dim.value();
  check(self.operand(op).dim() == 2, op, ": self has shape ", self.sizes(),
        "; expected 1 or 2 dimensions where ord is given and dim is not");
  return last;
}
}  // namespace

Tensor linalg_norm(const Tensor& self, const std::optional<Scalar>& ord, OptionalIntArrayRef dim,
                   bool keepdim, std::optional<ScalarType> dtype) {
  const Called op("linalg.norm");
  const bool of_vectors = dim.has_value() ? dim.value().size() == 1 : self.dim() == 1;
  if (!ord || of_vectors) return linalg_vector_norm(self, ord.value_or(2), dim, keepdim, dtype);
  return linalg_matrix_norm(self, *ord, matrix_dims(op, self, dim), keepdim, dtype);
}
Tensor linalg_norm(const Tensor& self, std::string_view ord, OptionalIntArrayRef dim, bool keepdim,
                   std::optional<ScalarType> dtype) {
  const Called op("linalg.norm");
  return linalg_matrix_norm(self, ord, matrix_dims(op, self, dim), keepdim, dtype);
}

Tensor nuclear_norm(const Tensor& self, bool keepdim) {
  return nuclear_norm(self, Dims{0, 1}, keepdim);
}
Tensor nuclear_norm(const Tensor& self, IntArrayRef dim, bool keepdim) {
  const Called op("nuclear_norm");
  return linalg_matrix_norm(self, "nuc", dim, keepdim);
}

}  // namespace gradus
