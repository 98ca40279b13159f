// The checks of matrices.h.
#include "gradus/autograd/ops/linalg/matrices.h"

#include "gradus/tensor/factories.h"
#include "gradus/tensor/level.h"

namespace gradus::matrices {

namespace {
void check_dimensions(const char* op, const Tensor& x, const char* name) {
  check(x.dim() >= 2, op, ": The input tensor ", name,
        " must have at least 2 dimensions, and has shape ", x.sizes(), "; unsqueeze it");
}
}  // namespace

const Tensor& checked(const char* op, const Tensor& x, const char* name) {
  const ScalarType dtype = x.operand(op, name).dtype();
  check<TypeError>(isFloatingType(dtype), op,
                   ": Expected a floating point or complex tensor as input. Got ", TypeName{dtype},
                   "; convert ", name, " with .to(kFloat)");
  check<TypeError>(dtype == kFloat || dtype == kDouble, op,
                   ": Low precision dtypes not supported. Got ", TypeName{dtype}, "; convert ",
                   name, " with .to(kFloat)");
  check_dimensions(op, x, name);
  return x;
}

void check_square(const char* op, const Tensor& x, const char* name) {
  check_dimensions(op, x, name);
  check(x.size(-1) == x.size(-2), op, ": ", name,
        " must be batches of square matrices, but they are ", x.size(-2), " by ", x.size(-1),
        " matrices; linalg_lstsq and linalg_pinv take others");
}

const Tensor& checked_square(const char* op, const Tensor& x, const char* name) {
  check_square(op, checked(op, x, name), name);
  return x;
}

void check_alike(const char* op, const Tensor& a, const char* a_name, const Tensor& b,
                 const char* b_name) {
  check<TypeError>(a.dtype() == b.dtype(), op, ": Expected ", a_name, " and ", b_name,
                   " to have the same dtype, but found ", a_name, " of type ",
                   TypeName{a.scalar_type()}, " and ", b_name, " of type ",
                   TypeName{b.scalar_type()}, " instead; convert one with .to()");
  raw::check_same_device(op, a, a_name, b, b_name);
}

void check_pivot(const char* op, bool pivot) {
  check<NotImplementedError>(pivot, op,
                             ": LU without pivoting is not implemented; leave out pivot, since "
                             "pivots make the factors accurate");
}

TensorPair with_one_batch(const char* op, const Tensor& a, const Tensor& b) {
  const auto batch_of = [](const Tensor& x) { return x.sizes().slice(0, x.sizes().size() - 2); };
  if (batch_of(a) == batch_of(b)) return {a, b};
  const Dims batch = broadcast_shapes(op, batch_of(a), batch_of(b));
  const auto expanded = [&](const Tensor& x) {
    Dims sizes = batch;
    sizes.push_back(x.size(-2)), sizes.push_back(x.size(-1));
    return x.expand(sizes);
  };
  return {expanded(a), expanded(b)};
}

Tensor identity_like(const Tensor& x) {
  return eye(x.size(-1), TensorOptions(x.dtype()).device(x.device())).expand(x.sizes());
}

void check_info(const char* op, const Tensor& info, std::string (*what)(int)) {
  if (info.is_meta()) return;
  const Tensor here = batching::over_all(info).to(kCPU).contiguous();
  const int* const numbers = here.data_ptr<int>();
  for (int64_t i = 0; i < here.numel(); ++i) {
    if (numbers[i] == 0) continue;
    check<LinAlgError>(info.dim() > 0, op, ": ", what(numbers[i]));
    fail<LinAlgError>(op, ": (Batch element ", i, "): ", what(numbers[i]));
  }
}

std::string singular_inverse(int info) {
  return "The diagonal element " + std::to_string(info) +
         " is zero, the inversion could not be completed because the input matrix is singular; "
         "use linalg_pinv, or linalg_inv_ex, which does not throw";
}
std::string singular_solve(int) {
  return "The solver failed because the input matrix is singular; use linalg_lstsq, or "
         "linalg_solve_ex, which does not throw";
}
std::string not_positive_definite(int info) {
  return "The factorization could not be completed because the input is not positive-definite (the "
         "leading minor of order " +
         std::to_string(info) +
         " is not positive-definite); add a multiple of the identity, or use linalg_cholesky_ex, "
         "which does not throw";
}
std::string no_eigenvalues(int info) {
  return "The algorithm failed to converge because the input matrix is ill-conditioned or has too "
         "many repeated eigenvalues (error code: " +
         std::to_string(info) + "); are all its elements finite?";
}
std::string no_singular_values(int info) {
  if (info < 0)
    return "The algorithm failed to converge because the input matrix contained non-finite values; "
           "replace them by nan_to_num()";
  return "The algorithm failed to converge because the input matrix is ill-conditioned or has too "
         "many repeated singular values (error code: " +
         std::to_string(info) + "); are all its elements finite?";
}
std::string zero_in_u(int info) {
  const std::string place = std::to_string(info);
  return "U[" + place + "," + place +
         "] is zero and using it on lu_solve would result in a division by zero. If you still want "
         "to perform the factorization, consider calling linalg.lu(A, pivot) or "
         "linalg.lu_factor_ex(A, pivot)";
}

}  // namespace gradus::matrices
