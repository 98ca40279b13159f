// The LU factorization with row exchanges, A = P L U: lu, lu_factor, lu_unpack. lu_solve solves
// equations by it.
#include <numeric>

#include "gradus/autograd/functions.h"
#include "gradus/autograd/ops/linalg/matrices.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/level.h"

namespace gradus {

namespace {

Tensor unit_lower(const Tensor& lu) {
  const int64_t k = std::min(lu.size(-2), lu.size(-1));
  const Tensor lower = lu.narrow(-1, 0, k).tril(-1);
  return lower + eye(lu.size(-2), k, lower.options());
}
Tensor upper_of(const Tensor& lu) {
  return lu.narrow(-2, 0, std::min(lu.size(-2), lu.size(-1))).triu();
}

// The rows of the identity in the order that the exchanges leave, transposed: P of A = P L U. The
// exchanges follow one another, so they are done on the CPU.
Tensor permutation_of(const Tensor& pivots, int64_t rows, const TensorOptions& options) {
  Dims sizes(pivots.sizes().data(), pivots.sizes().size());
  sizes[pivots.dim() - 1] = rows;
  if (pivots.is_meta()) {
    sizes.push_back(rows);
    return empty(sizes, options);
  }
  const Tensor exchanges = pivots.to(kCPU).contiguous(), order = empty(sizes, kLong);
  const int64_t count = pivots.size(-1), batch = rows > 0 ? order.numel() / rows : 0;
  for (int64_t i = 0; i < batch; ++i) {
    const int* const swaps = exchanges.data_ptr<int>() + i * count;
    int64_t* const list = order.data_ptr<int64_t>() + i * rows;
    std::iota(list, list + rows, int64_t{0});
    for (int64_t k = 0; k < count; ++k) std::swap(list[k], list[swaps[k] - 1]);
  }
  // Column k of P has its 1 in the row that came to place k.
  const Tensor places = order.to(pivots.device());
  return (places.unsqueeze(-2) == arange(rows, places.options()).unsqueeze(-1)).to(options);
}
Tensor permutation(const Tensor& pivots, int64_t rows, const TensorOptions& options) {
  return batching::for_all(pivots,
                           [&](const Tensor& all) { return permutation_of(all, rows, options); });
}
TensorOptions options_of(const Tensor& x) { return TensorOptions(x.dtype()).device(x.device()); }

// De Hoog, Anderssen and Lukas 2011, Differentiation of matrix functionals using triangular
// factorization. A tall A has L = [L1; L2], a wide one U = [U1, U2]. The first rows and columns are
// A1 = P L1 U1, with the formula of square matrices. The rest of A makes L2 or U2, which read U1 or
// L1 as well.
Tensor lu_gradient(const Tensor& grad, const Tensor& lu, const Tensor& pivots) {
  const int64_t m = lu.size(-2), n = lu.size(-1), k = std::min(m, n);
  const Tensor l = unit_lower(lu), u = upper_of(lu);
  const Tensor grad_l = grad.narrow(-1, 0, k).tril(-1), grad_u = grad.narrow(-2, 0, k).triu();
  const Tensor l1 = l.narrow(-2, 0, k), u1 = u.narrow(-1, 0, k);
  Tensor of_l = l1.mT().matmul(grad_l.narrow(-2, 0, k));
  Tensor of_u = grad_u.narrow(-1, 0, k).matmul(u1.mT());
  Tensor rest;
  if (m < n) {
    const Tensor grad_u2 = grad_u.narrow(-1, k, n - k);
    of_l = of_l - grad_u2.matmul(u.narrow(-1, k, n - k).mT());
    rest = linalg_solve_triangular(l1.mT(), grad_u2, true, true, true);
  } else if (m > n) {
    const Tensor grad_l2 = grad_l.narrow(-2, k, m - k);
    of_u = of_u - l.narrow(-2, k, m - k).mT().matmul(grad_l2);
    rest = linalg_solve_triangular(u1.mT(), grad_l2, false, false);
  }
  const Tensor left =
      linalg_solve_triangular(l1.mT(), of_l.tril(-1) + of_u.triu(), true, true, true);
  Tensor out = linalg_solve_triangular(u1.mT(), left, false, false);
  if (rest.defined()) out = cat({out, rest}, m < n ? -1 : -2);
  return permutation(pivots, m, options_of(lu)).matmul(out);
}

TensorTriple lu_factors(const Called& op, const Tensor& A, bool pivot) {
  const raw::Lu out = raw::lu(matrices::checked(op, A));
  matrices::check_pivot(op, pivot);
  if (recording(A))
    record("LinalgLuFactorExBackward0", out.lu, {A}, {out.lu, out.pivots},
           [](Node& n, const Tensor& grad) {
             return Tensors{lu_gradient(grad, n.saved(0), n.saved(1))};
           });
  return {out.lu, out.pivots, out.info};
}

void check_pivots(const char* op, const Tensor& lu, const Tensor& pivots) {
  check<TypeError>(pivots.operand(op, "pivots").dtype() == kInt, op,
                   ": pivots should be a Tensor of scalar type torch.int32, and are of ",
                   pivots.dtype(), "; pass those of linalg_lu_factor");
  const size_t batch = lu.sizes().size() - 2;
  check(pivots.dim() == lu.dim() - 1 && pivots.size(-1) == std::min(lu.size(-2), lu.size(-1)) &&
            pivots.sizes().slice(0, batch) == lu.sizes().slice(0, batch),
        op, ": pivots of shape ", pivots.sizes(), " do not fit LU of shape ", lu.sizes(),
        "; pass those of the same linalg_lu_factor");
}

// X of A X = b, or of A^T X = b where transposed. REQUIRES: one batch.
Tensor solve_by_lu(const Tensor& lu, const Tensor& pivots, const Tensor& b, bool transposed) {
  const Tensor x = raw::lu_solve(lu, pivots, b, transposed);
  if (!recording(lu, b)) return x;
  record("LinalgLuSolveBackward0", x, {lu, b}, {lu, pivots, x},
         [transposed](Node& n, const Tensor& grad) {
           const Tensor factors = n.saved(0), y = n.saved(2);
           const Tensor p = permutation(n.saved(1), factors.size(-1), options_of(factors));
           const Tensor u = upper_of(factors), l = unit_lower(factors);
           if (!transposed) {  // x = U^-1 L^-1 P^T b
             const Tensor z = linalg_solve_triangular(u.mT(), grad, false);
             const Tensor w = linalg_solve_triangular(l.mT(), z, true, true, true);
             const Tensor of_l = w.matmul(u.matmul(y).mT()).tril(-1);
             return Tensors{-(of_l + z.matmul(y.mT()).triu()), p.matmul(w)};
           }
           // x = P L^-T U^-T b
           const Tensor inner = p.mT().matmul(y);
           const Tensor z = linalg_solve_triangular(l, p.mT().matmul(grad), false, true, true);
           const Tensor w = linalg_solve_triangular(u, z, true);
           const Tensor of_u = l.mT().matmul(inner).matmul(w.mT()).triu();
           return Tensors{-(inner.matmul(z.mT()).tril(-1) + of_u), w};
         });
  return x;
}

}  // namespace

TensorPair linalg_lu_factor(const Tensor& A, bool pivot) {
  const auto [lu, pivots, info] = lu_factors("linalg.lu_factor", A, pivot);
  matrices::check_info("linalg.lu_factor", info, matrices::zero_in_u);
  return {lu, pivots};
}
TensorTriple linalg_lu_factor_ex(const Tensor& A, bool pivot, bool check_errors) {
  TensorTriple out = lu_factors("linalg.lu_factor_ex", A, pivot);
  if (check_errors)
    matrices::check_info("linalg.lu_factor_ex", std::get<2>(out), matrices::zero_in_u);
  return out;
}
TensorTriple linalg_lu(const Tensor& A, bool pivot) {
  const auto [lu, pivots, info] = lu_factors("linalg.lu", A, pivot);
  return {permutation(pivots, A.size(-2), options_of(A)), unit_lower(lu), upper_of(lu)};
}

TensorTriple lu_unpack(const Tensor& LU_data, const Tensor& LU_pivots, bool unpack_data,
                       bool unpack_pivots) {
  check_pivots("lu_unpack", matrices::checked("lu_unpack", LU_data, "LU_data"), LU_pivots);
  const TensorOptions options = options_of(LU_data);
  const Tensor none = empty({0}, options);
  return {unpack_pivots ? permutation(LU_pivots, LU_data.size(-2), options) : none,
          unpack_data ? unit_lower(LU_data) : none, unpack_data ? upper_of(LU_data) : none};
}

Tensor linalg_lu_solve(const Tensor& LU, const Tensor& pivots, const Tensor& B, bool left,
                       bool adjoint) {
  const Called op("linalg.lu_solve");
  matrices::checked_square(op, LU, "LU");
  check_pivots(op, LU, pivots);
  matrices::check_alike(op, LU, "LU", matrices::checked(op, B, "B"), "B");
  if (!left) return linalg_lu_solve(LU, pivots, B.mT(), true, !adjoint).mT();
  check(B.size(-2) == LU.size(-1), op, ": Incompatible shapes of A and B for the equation AX = B (",
        LU.size(-2), "x", LU.size(-1), " and ", B.size(-2), "x", B.size(-1), "); transpose B?");
  const auto [lu, b] = matrices::with_one_batch(op, LU, B);
  const auto [places, same] = matrices::with_one_batch(op, pivots.unsqueeze(-1), lu);
  return solve_by_lu(lu, places.squeeze(-1), b, adjoint);
}
Tensor lu_solve(const Tensor& self, const Tensor& LU_data, const Tensor& LU_pivots) {
  const Called op("lu_solve");
  return linalg_lu_solve(LU_data, LU_pivots, self, true, false);
}

}  // namespace gradus
