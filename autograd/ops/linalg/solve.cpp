// Equations and inverses: solve, solve_triangular, inv, tensorsolve, tensorinv. Derivatives: Giles
// 2008, An extended collection of matrix derivative results.
#include "gradus/autograd/functions.h"
#include "gradus/autograd/ops/linalg/matrices.h"

namespace gradus {

namespace {

void check_equation(const char* op, const Tensor& a, const Tensor& b, bool left) {
  check(b.size(left ? -2 : -1) == a.size(-1), op,
        ": Incompatible shapes of A and B for the equation ", left ? "AX = B" : "XA = B", " (",
        a.size(-2), "x", a.size(-1), " and ", b.size(-2), "x", b.size(-1), "); transpose B?");
}

// X of a X = b. REQUIRES: one batch, dtype and device; shapes that fit.
TensorPair solve_matrices(const Tensor& a, const Tensor& b) {
  const raw::Lu factors = raw::lu(a);
  const Tensor x = raw::lu_solve(factors.lu, factors.pivots, b, false, /*has_info=*/true);
  if (recording(a, b))
    record("LinalgSolveExBackward0", x, {a, b}, {a, x, factors.lu, factors.pivots},
           [](Node& n, const Tensor& grad) {
             // The factors are there; where the gradient is part of a graph, a is what it reads.
             const Tensor grad_b =
                 GradMode::is_enabled()
                     ? std::get<0>(linalg_solve_ex(n.saved(0).mT(), grad))
                     : linalg_lu_solve(n.saved(2), n.saved(3), grad, true, /*adjoint=*/true);
             return Tensors{-grad_b.matmul(n.saved(1).mT()), grad_b};
           });
  return {x, factors.info};
}

TensorPair solve_any(const Called& op, const Tensor& A, const Tensor& B, bool left) {
  matrices::checked_square(op, A);
  matrices::check_alike(op, A, "A", B.operand(op, "B"), "B");
  const bool vectors = B.dim() == 1 || (B.dim() == A.dim() - 1 &&
                                        B.sizes() == A.sizes().slice(0, A.sizes().size() - 1));
  const Tensor b = vectors ? B.unsqueeze(-1) : matrices::checked(op, B, "B");
  check(left || !vectors, op,
        ": Vector broadcasting of the left hand side is not supported for left=False; B has shape ",
        B.sizes(), ", transpose A instead");
  check_equation(op, A, b, left);
  const auto [one, other] = matrices::with_one_batch(op, A, b);
  if (!left) {
    const auto [x, info] = solve_matrices(one.mT(), other.mT());
    return {x.mT(), info};
  }
  const auto [x, info] = solve_matrices(one, other);
  return {vectors ? x.squeeze(-1) : x, info};
}

TensorPair inverse_ex(const Called& op, const Tensor& a) {
  const raw::Lu factors = raw::lu(matrices::checked_square(op, a));
  const Tensor x = raw::lu_solve(factors.lu, factors.pivots, matrices::identity_like(a), false, /*has_info=*/true);
  if (recording(a))
    record("LinalgInvExBackward0", x, {a}, {x}, [](Node& n, const Tensor& grad) {
      const Tensor turned = n.saved(0).mT();
      return Tensors{-turned.matmul(grad).matmul(turned)};
    });
  return {x, factors.info};
}
Tensor inverse_checked(const Called& op, const Tensor& a) {
  const auto [x, info] = inverse_ex(op, a);
  matrices::check_info(op, info, matrices::singular_inverse);
  return x;
}

// X of a X = b for the triangle of a. REQUIRES: one batch; shapes that fit.
Tensor solve_left(const Tensor& a, const Tensor& b, bool upper, bool unit) {
  const Tensor x = raw::triangular_solve(a, b, upper, false, unit);
  if (recording(a, b))
    record("LinalgSolveTriangularBackward0", x, {a, b}, {a, x},
           [upper, unit](Node& n, const Tensor& grad) {
             const Tensor grad_b =
                 linalg_solve_triangular(n.saved(0).mT(), grad, !upper, true, unit);
             const Tensor grad_a = -grad_b.matmul(n.saved(1).mT());
             return Tensors{upper ? grad_a.triu(unit) : grad_a.tril(-int64_t{unit}), grad_b};
           });
  return x;
}

}  // namespace

Tensor linalg_solve(const Tensor& A, const Tensor& B, bool left) {
  const auto [x, info] = solve_any("linalg.solve", A, B, left);
  matrices::check_info("linalg.solve", info, matrices::singular_solve);
  return x;
}
TensorPair linalg_solve_ex(const Tensor& A, const Tensor& B, bool left, bool check_errors) {
  TensorPair out = solve_any("linalg.solve_ex", A, B, left);
  if (check_errors)
    matrices::check_info("linalg.solve_ex", std::get<1>(out), matrices::singular_solve);
  return out;
}

Tensor linalg_inv(const Tensor& A) { return inverse_checked("linalg.inv", A); }
Tensor inverse(const Tensor& self) { return inverse_checked("inverse", self); }
TensorPair linalg_inv_ex(const Tensor& A, bool check_errors) {
  TensorPair out = inverse_ex("linalg.inv_ex", A);
  if (check_errors)
    matrices::check_info("linalg.inv_ex", std::get<1>(out), matrices::singular_inverse);
  return out;
}

Tensor linalg_solve_triangular(const Tensor& self, const Tensor& B, bool upper, bool left,
                               bool unitriangular) {
  const Called op("linalg.solve_triangular");
  matrices::checked_square(op, self);
  matrices::check_alike(op, self, "A", matrices::checked(op, B, "B"), "B");
  check_equation(op, self, B, left);
  const auto [a, b] = matrices::with_one_batch(op, self, B);
  // x a = b is a^T x^T = b^T.
  return left ? solve_left(a, b, upper, unitriangular)
              : solve_left(a.mT(), b.mT(), !upper, unitriangular).mT();
}

TensorPair triangular_solve(const Tensor& self, const Tensor& A, bool upper, bool transpose,
                            bool unitriangular) {
  const Called op("triangular_solve");
  matrices::checked_square(op, A);
  const Tensor a = transpose ? A.mT() : A;
  return {linalg_solve_triangular(a, self, upper != transpose, true, unitriangular), A.clone()};
}

Tensor linalg_tensorinv(const Tensor& self, int64_t ind) {
  const Called op("linalg.tensorinv");
  check(ind > 0, op, ": ind is ", ind, ", expected a strictly positive integer");
  check(self.operand(op).dim() >= ind, op, ": self has shape ", self.sizes(),
        "; expected at least ind = ", ind, " dimensions; give a smaller ind");
  const size_t cut = static_cast<size_t>(ind);
  const IntArrayRef first = self.sizes().slice(0, cut),
                    last = self.sizes().slice(cut, self.sizes().size() - cut);
  const int64_t rows = numel_of(first), columns = numel_of(last);
  check(rows == columns, op,
        ": Expected self to satisfy the requirement prod(self.shape[ind:]) == "
        "prod(self.shape[:ind]), but got ",
        columns, " != ", rows, " for shape ", self.sizes(), "; give another ind");
  Dims sizes;
  for (int64_t size : last) sizes.push_back(size);
  for (int64_t size : first) sizes.push_back(size);
  return inverse_checked(op, self.reshape({rows, columns})).reshape(sizes);
}

Tensor linalg_tensorsolve(const Tensor& self, const Tensor& other, OptionalIntArrayRef dims) {
  const Called op("linalg.tensorsolve");
  Tensor a = self.operand(op);
  if (dims.has_value()) {
    std::vector<int64_t> ends;
    const int64_t count = static_cast<int64_t>(dims.value().size());
    for (int64_t i = 0; i < count; ++i) ends.push_back(self.dim() - count + i);
    a = self.movedim(dims.value(), ends);
  }
  const size_t cut = other.operand(op, "other").sizes().size();
  check(cut <= a.sizes().size(), op, ": other has ", cut, " dimensions and self ", a.dim(),
        "; expected at most as many");
  const IntArrayRef sizes = a.sizes().slice(cut, a.sizes().size() - cut);
  const int64_t rows = other.numel(), columns = numel_of(sizes);
  check(rows * columns == a.numel() && rows == columns, op,
        ": Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
        "prod(self.shape[:other.ndim]), but got ",
        columns, " != ", rows, " for self of shape ", a.sizes(), " and other of shape ",
        other.sizes(), "; list dims that make it square");
  const auto [x, info] = solve_any(op, a.reshape({rows, columns}), other.flatten(), true);
  matrices::check_info(op, info, matrices::singular_solve);
  return x.reshape(sizes);
}

}  // namespace gradus
