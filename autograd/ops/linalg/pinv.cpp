// Functions of singular values: pinv, lstsq, matrix_rank, cond.
#include <limits>

#include "gradus/autograd/engine/one_node.h"
#include "gradus/autograd/functions.h"
#include "gradus/autograd/ops/linalg/matrices.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

namespace {

// Up to which size a singular value counts as 0: max(atol, rtol * the largest one).
struct Tolerance {
  Tensor atol, rtol;

  // rtol is the larger size times epsilon where neither is given, and 0 beside a positive atol.
  Tolerance(const char* op, const Tensor& a, const std::optional<Tensor>& at,
            const std::optional<Tensor>& rt) {
    const TensorOptions options = TensorOptions(a.dtype()).device(a.device());
    const double epsilon = a.dtype() == kFloat ? 0x1p-23 : 0x1p-52;
    for (const std::optional<Tensor>* each : {&at, &rt})
      if (*each)
        check<TypeError>(isFloatingType((**each).operand(op, "a tolerance").dtype()), op,
                         ": a tolerance has dtype ", (**each).dtype(),
                         ", expected a floating point "
                         "type; convert it with .to(kFloat)");
    atol = at ? at->to(options) : zeros({}, options);
    const Tensor usual =
        full({}, epsilon * static_cast<double>(std::max(a.size(-2), a.size(-1))), options);
    rtol = rt ? rt->to(options) : at ? where(atol > 0, 0, usual) : usual;
  }
  // (..., 1), for values whose largest one is (..., 1). A tolerance has a number for each matrix.
  Tensor of(const Tensor& largest) const {
    return atol.unsqueeze(-1).maximum(rtol.unsqueeze(-1) * largest);
  }
};
std::optional<Tensor> as_tensor(std::optional<double> number, const Tensor& like) {
  if (!number) return std::nullopt;
  return full({}, *number, TensorOptions(kDouble).device(like.device()));
}

Tensor largest_of(const Tensor& values) {
  return values.size(-1) == 0 ? values.sum(-1, true) : values.amax(-1, true);
}

Tensor inverse_values(const Tensor& values, const Tensor& sizes, const Tolerance& tolerance) {
  return where(sizes > tolerance.of(largest_of(sizes)), values.reciprocal(), 0);
}

Tensor pinv_value(const Tensor& a, const Tolerance& tolerance, bool hermitian) {
  if (hermitian) {
    const auto [values, vectors] = linalg_eigh(a);
    const Tensor inverse = inverse_values(values, values.abs(), tolerance);
    return vectors.matmul(inverse.unsqueeze(-1) * vectors.mT());
  }
  const auto [u, s, vh] = linalg_svd(a, false);
  return vh.mT().matmul(inverse_values(s, s, tolerance).unsqueeze(-1) * u.mT());
}

// Golub and Pereyra 1973, The differentiation of pseudo-inverses and nonlinear least squares
// problems whose variables separate. The rank is constant. Each product is grouped so that its
// result has the smaller of the two sizes.
Tensor pinv_gradient(const Tensor& grad, const Tensor& a, const Tensor& p) {
  const Tensor turned = p.mT(), g = grad.mT();
  // (I - A P) g P P^T and P^T P g (I - P A)
  const Tensor left = g.matmul(p).matmul(turned), right = turned.matmul(p.matmul(g));
  return -turned.matmul(grad).matmul(turned) + left - a.matmul(p.matmul(left)) + right -
         right.matmul(p).matmul(a);
}

Tensor pinv_named(const Called& op, const Tensor& a, const std::optional<Tensor>& atol,
                  const std::optional<Tensor>& rtol, bool hermitian) {
  hermitian ? matrices::checked_square(op, a) : matrices::checked(op, a);
  const Tolerance tolerance(op, a, atol, rtol);
  const Tensor out = without_graph([&] { return pinv_value(a, tolerance, hermitian); });
  if (recording(a))
    record("LinalgPinvBackward0", out, {a}, {a, out}, [](Node& n, const Tensor& grad) {
      return Tensors{pinv_gradient(grad, n.saved(0), n.saved(1))};
    });
  return out;
}

Tensor rank_of(const Called& op, const Tensor& a, const std::optional<Tensor>& atol,
               const std::optional<Tensor>& rtol, bool hermitian) {
  const NoGradGuard guard;
  hermitian ? matrices::checked_square(op, a) : matrices::checked(op, a);
  const Tolerance tolerance(op, a, atol, rtol);
  const Tensor sizes = hermitian ? linalg_eigvalsh(a).abs() : linalg_svdvals(a);
  return (sizes > tolerance.of(largest_of(sizes))).sum(-1, false, kLong);
}

// The X of the least |a X - b|, by QR. A wide a has many, and |X| is the least. REQUIRES: full
// rank.
Tensor full_rank_solution(const Tensor& a, const Tensor& b) {
  if (a.size(-2) >= a.size(-1)) {
    const auto [q, r] = linalg_qr(a);
    return linalg_solve_triangular(r, q.mT().matmul(b), true);
  }
  const auto [q, r] = linalg_qr(a.mT());
  return q.matmul(linalg_solve_triangular(r.mT(), b, false));
}

}  // namespace

Tensor linalg_pinv(const Tensor& self, const std::optional<Tensor>& atol,
                   const std::optional<Tensor>& rtol, bool hermitian) {
  return pinv_named("linalg.pinv", self, atol, rtol, hermitian);
}
Tensor linalg_pinv(const Tensor& self, std::optional<double> atol, std::optional<double> rtol,
                   bool hermitian) {
  const Called op("linalg.pinv");
  const Tensor& a = matrices::checked(op, self);
  return linalg_pinv(self, as_tensor(atol, a), as_tensor(rtol, a), hermitian);
}
Tensor linalg_pinv(const Tensor& self, double rcond, bool hermitian) {
  return linalg_pinv(self, std::optional<double>(0), std::optional<double>(rcond), hermitian);
}
Tensor pinverse(const Tensor& self, double rcond) {
  const Called op("pinverse");
  return linalg_pinv(self, rcond);
}

Tensor linalg_matrix_rank(const Tensor& input, const std::optional<Tensor>& atol,
                          const std::optional<Tensor>& rtol, bool hermitian) {
  return rank_of("linalg.matrix_rank", input, atol, rtol, hermitian);
}
Tensor linalg_matrix_rank(const Tensor& self, std::optional<double> atol,
                          std::optional<double> rtol, bool hermitian) {
  const Called op("linalg.matrix_rank");
  const Tensor& a = matrices::checked(op, self);
  return rank_of(op, self, as_tensor(atol, a), as_tensor(rtol, a), hermitian);
}
Tensor linalg_matrix_rank(const Tensor& self, double tol, bool hermitian) {
  return linalg_matrix_rank(self, std::optional<double>(tol), std::optional<double>(0), hermitian);
}

TensorQuadruple linalg_lstsq(const Tensor& self, const Tensor& b, std::optional<double> rcond,
                             std::optional<std::string_view> driver) {
  const Called op("linalg.lstsq");
  matrices::checked(op, self, "input");
  matrices::check_alike(op, self, "input", b.operand(op, "other"), "other");
  // PyTorch's defaults.
  const std::string_view method = driver.value_or(self.is_cuda() ? "gels" : "gelsy");
  check(method == "gels" || method == "gelsy" || method == "gelsd" || method == "gelss", op,
        ": driver is \"", method, "\", expected \"gels\", \"gelsy\", \"gelsd\" or \"gelss\"");
  const bool vectors =
      b.dim() == self.dim() - 1 && b.sizes() == self.sizes().slice(0, b.sizes().size());
  const Tensor right = vectors ? b.unsqueeze(-1) : matrices::checked(op, b, "other");
  check(right.size(-2) == self.size(-2), op,
        ": input.size(-2) should match other.size(-2): input has "
        "shape ",
        self.sizes(), ", other ", b.sizes(), "; transpose one of them?");
  const auto both = matrices::with_one_batch(op, self, right);
  const Tensor &a = std::get<0>(both), &y = std::get<1>(both);
  const int64_t rows = a.size(-2), columns = a.size(-1);
  const bool full_rank = method == "gels";
  const Tensor rank = full_rank ? empty({0}, TensorOptions(kLong).device(a.device()))
                                : linalg_matrix_rank(a, std::nullopt, as_tensor(rcond, a));
  const Tensor x = without_graph([&] {
    return full_rank ? full_rank_solution(a, y)
                     : linalg_pinv(a, std::nullopt, as_tensor(rcond, a)).matmul(y);
  });
  if (recording(a, y))
    record(
        "LinalgLstsqBackward0", x, {a, y}, {a, y}, [full_rank, rcond](Node& n, const Tensor& grad) {
          const Tensor matrix = n.saved(0);
          const Tensor p = full_rank ? linalg_pinv(matrix, 0.0)
                                     : linalg_pinv(matrix, std::nullopt, as_tensor(rcond, matrix));
          return Tensors{pinv_gradient(grad.matmul(n.saved(1).mT()), matrix, p),
                         p.mT().matmul(grad)};
        });
  // Residuals exist where every matrix has full rank, and as in PyTorch not by gelsy.
  const bool has_residuals = rows > columns && method != "gelsy" &&
                             (full_rank || rank.is_meta() || (rank == columns).all().item<bool>());
  const Tensor none = empty({0}, TensorOptions(a.dtype()).device(a.device()));
  const Tensor residuals = has_residuals ? (a.matmul(x) - y).square().sum(-2) : none;
  return {vectors ? x.squeeze(-1) : x, residuals, rank, none};
}

// --- Condition numbers
namespace {
// norm is that of one matrix or a batch. A matrix of zeros is singular, too.
template <class Norm>
Tensor cond_by_inverse(const Called& op, const Tensor& a, Norm norm) {
  const auto [inverse, info] = linalg_inv_ex(matrices::checked_square(op, a));
  const double infinity = std::numeric_limits<double>::infinity();
  const Tensor of_inverse = norm(where((info != 0).unsqueeze(-1).unsqueeze(-1), infinity, inverse));
  const Tensor own = norm(a);
  return where(own == 0, infinity, own * of_inverse);
}
}  // namespace

Tensor linalg_cond(const Tensor& self, const std::optional<Scalar>& p) {
  const Called op("linalg.cond");
  matrices::checked(op, self);
  const double order = p ? p->toDouble() : 2;
  check(std::abs(order) == 1 || std::abs(order) == 2 || std::isinf(order), op, ": p is ", order,
        "; expected 1, -1, 2, -2, inf, -inf, \"fro\" or \"nuc\"");
  if (self.numel() == 0)
    return zeros(self.sizes().slice(0, self.sizes().size() - 2),
                 TensorOptions(self.dtype()).device(self.device()));
  if (std::abs(order) != 2)
    return cond_by_inverse(op, self, [&](const Tensor& a) { return linalg_matrix_norm(a, order); });
  const Tensor s = linalg_svdvals(self), first = s.select(-1, 0), last = s.select(-1, -1);
  return order > 0 ? first / last : last / first;
}
Tensor linalg_cond(const Tensor& self, std::string_view p) {
  const Called op("linalg.cond");
  matrices::checked_square(op, self);
  check(p == "fro" || p == "nuc", op, ": p is \"", p,
        "\"; expected 1, -1, 2, -2, inf, -inf, \"fro\" or \"nuc\"");
  if (p == "fro")
    return cond_by_inverse(op, self, [&](const Tensor& a) { return linalg_matrix_norm(a, p); });
  // Singular values of what is not finite do not exist.
  const auto [inverse, info] = linalg_inv_ex(self);
  const Tensor singular = info != 0;
  const Tensor finite = where(singular.unsqueeze(-1).unsqueeze(-1), 0, inverse);
  return where(singular, std::numeric_limits<double>::infinity(),
               linalg_matrix_norm(self, p) * linalg_matrix_norm(finite, p));
}

}  // namespace gradus
