// torch::linalg: libtorch's second names of the linear algebra functions, with Python's defaults.
// docs/linalg.md is the guide.
#pragma once

#include "gradus/autograd/functions.h"

namespace gradus::linalg {

// --- Factorizations
inline Tensor cholesky(const Tensor& self, bool upper = false) {
  return linalg_cholesky(self, upper);
}
inline TensorPair cholesky_ex(const Tensor& self, bool upper = false, bool check_errors = false) {
  return linalg_cholesky_ex(self, upper, check_errors);
}
inline TensorTriple lu(const Tensor& input, bool pivot = true) { return linalg_lu(input, pivot); }
inline TensorPair lu_factor(const Tensor& input, bool pivot = true) {
  return linalg_lu_factor(input, pivot);
}
inline TensorTriple lu_factor_ex(const Tensor& input, bool pivot = true,
                                 bool check_errors = false) {
  return linalg_lu_factor_ex(input, pivot, check_errors);
}
inline TensorPair qr(const Tensor& input, std::string_view mode = "reduced") {
  return linalg_qr(input, mode);
}
inline TensorPair eigh(const Tensor& self, std::string_view uplo = "L") {
  return linalg_eigh(self, uplo);
}
inline Tensor eigvalsh(const Tensor& self, std::string_view uplo = "L") {
  return linalg_eigvalsh(self, uplo);
}
inline TensorPair eig(const Tensor& self) { return linalg_eig(self); }
inline Tensor eigvals(const Tensor& self) { return linalg_eigvals(self); }
inline TensorTriple svd(const Tensor& input, bool full_matrices = true,
                        std::optional<std::string_view> driver = std::nullopt) {
  return linalg_svd(input, full_matrices, driver);
}
inline Tensor svdvals(const Tensor& input, std::optional<std::string_view> driver = std::nullopt) {
  return linalg_svdvals(input, driver);
}

// --- Equations
inline Tensor solve(const Tensor& input, const Tensor& other, bool left = true) {
  return linalg_solve(input, other, left);
}
inline TensorPair solve_ex(const Tensor& input, const Tensor& other, bool left = true,
                           bool check_errors = false) {
  return linalg_solve_ex(input, other, left, check_errors);
}
inline Tensor solve_triangular(const Tensor& input, const Tensor& other, bool upper,
                               bool left = true, bool unitriangular = false) {
  return linalg_solve_triangular(input, other, upper, left, unitriangular);
}
inline Tensor lu_solve(const Tensor& LU, const Tensor& pivots, const Tensor& B, bool left = true,
                       bool adjoint = false) {
  return linalg_lu_solve(LU, pivots, B, left, adjoint);
}
inline Tensor inv(const Tensor& input) { return linalg_inv(input); }
inline TensorPair inv_ex(const Tensor& input, bool check_errors = false) {
  return linalg_inv_ex(input, check_errors);
}
inline TensorQuadruple lstsq(const Tensor& self, const Tensor& b,
                             std::optional<double> cond = std::nullopt,
                             std::optional<std::string_view> driver = std::nullopt) {
  return linalg_lstsq(self, b, cond, driver);
}
inline Tensor pinv(const Tensor& input, double rcond = 1e-15, bool hermitian = false) {
  return linalg_pinv(input, rcond, hermitian);
}
inline Tensor tensorinv(const Tensor& self, int64_t ind = 2) { return linalg_tensorinv(self, ind); }
inline Tensor tensorsolve(const Tensor& self, const Tensor& other,
                          OptionalIntArrayRef dims = std::nullopt) {
  return linalg_tensorsolve(self, other, dims);
}

// --- Numbers of a matrix
inline Tensor det(const Tensor& self) { return linalg_det(self); }
inline TensorPair slogdet(const Tensor& input) { return linalg_slogdet(input); }
inline Tensor matrix_rank(const Tensor& input, const std::optional<Tensor>& atol = std::nullopt,
                          const std::optional<Tensor>& rtol = std::nullopt,
                          bool hermitian = false) {
  return linalg_matrix_rank(input, atol, rtol, hermitian);
}
inline Tensor matrix_rank(const Tensor& input, std::optional<double> atol,
                          std::optional<double> rtol, bool hermitian = false) {
  return linalg_matrix_rank(input, atol, rtol, hermitian);
}
inline Tensor matrix_rank(const Tensor& input, double tol, bool hermitian = false) {
  return linalg_matrix_rank(input, tol, hermitian);
}
inline Tensor cond(const Tensor& self, const std::optional<Scalar>& p = std::nullopt) {
  return linalg_cond(self, p);
}
inline Tensor cond(const Tensor& self, std::string_view p) { return linalg_cond(self, p); }
inline Tensor norm(const Tensor& self, const std::optional<Scalar>& ord = std::nullopt,
                   OptionalIntArrayRef dim = std::nullopt, bool keepdim = false,
                   std::optional<ScalarType> dtype = std::nullopt) {
  return linalg_norm(self, ord, dim, keepdim, dtype);
}
inline Tensor norm(const Tensor& self, std::string_view ord, OptionalIntArrayRef dim = std::nullopt,
                   bool keepdim = false, std::optional<ScalarType> dtype = std::nullopt) {
  return linalg_norm(self, ord, dim, keepdim, dtype);
}
inline Tensor vector_norm(const Tensor& self, const Scalar& ord = 2,
                          OptionalIntArrayRef dim = std::nullopt, bool keepdim = false,
                          std::optional<ScalarType> dtype = std::nullopt) {
  return linalg_vector_norm(self, ord, dim, keepdim, dtype);
}
inline Tensor matrix_norm(const Tensor& self, const Scalar& ord, IntArrayRef dim = {-2, -1},
                          bool keepdim = false, std::optional<ScalarType> dtype = std::nullopt) {
  return linalg_matrix_norm(self, ord, dim, keepdim, dtype);
}
inline Tensor matrix_norm(const Tensor& self, std::string_view ord = "fro",
                          IntArrayRef dim = {-2, -1}, bool keepdim = false,
                          std::optional<ScalarType> dtype = std::nullopt) {
  return linalg_matrix_norm(self, ord, dim, keepdim, dtype);
}

// --- Products
inline Tensor matmul(const Tensor& self, const Tensor& other) { return linalg_matmul(self, other); }
inline Tensor matrix_exp(const Tensor& self) { return linalg_matrix_exp(self); }
inline Tensor matrix_power(const Tensor& self, int64_t n) { return linalg_matrix_power(self, n); }
inline Tensor multi_dot(ArrayRef<Tensor> tensors) { return linalg_multi_dot(tensors); }
inline Tensor cross(const Tensor& self, const Tensor& other, int64_t dim = -1) {
  return linalg_cross(self, other, dim);
}
inline Tensor vecdot(const Tensor& x, const Tensor& y, int64_t dim = -1) {
  return linalg_vecdot(x, y, dim);
}
inline Tensor diagonal(const Tensor& A, int64_t offset = 0, int64_t dim1 = -2, int64_t dim2 = -1) {
  return linalg_diagonal(A, offset, dim1, dim2);
}

}  // namespace gradus::linalg
