// torch::linalg: libtorch's second names of the linear algebra functions.
#pragma once

#include "gradus/autograd/functions.h"

namespace gradus::linalg {

inline Tensor matmul(const Tensor& self, const Tensor& other) { return linalg_matmul(self, other); }
inline Tensor diagonal(const Tensor& A, int64_t offset, int64_t dim1, int64_t dim2) {
  return linalg_diagonal(A, offset, dim1, dim2);
}
inline Tensor matrix_power(const Tensor& self, int64_t n) { return linalg_matrix_power(self, n); }
inline Tensor multi_dot(ArrayRef<Tensor> tensors) { return linalg_multi_dot(tensors); }
inline Tensor norm(const Tensor& self, const std::optional<Scalar>& ord, OptionalIntArrayRef dim,
                   bool keepdim, std::optional<ScalarType> dtype) {
  return linalg_norm(self, ord, dim, keepdim, dtype);
}
inline Tensor norm(const Tensor& self, std::string_view ord, OptionalIntArrayRef dim, bool keepdim,
                   std::optional<ScalarType> dtype) {
  return linalg_norm(self, ord, dim, keepdim, dtype);
}
inline Tensor vector_norm(const Tensor& self, const Scalar& ord, OptionalIntArrayRef dim,
                          bool keepdim, std::optional<ScalarType> dtype) {
  return linalg_vector_norm(self, ord, dim, keepdim, dtype);
}
inline Tensor matrix_norm(const Tensor& self, const Scalar& ord, IntArrayRef dim, bool keepdim,
                          std::optional<ScalarType> dtype) {
  return linalg_matrix_norm(self, ord, dim, keepdim, dtype);
}
inline Tensor matrix_norm(const Tensor& self, std::string_view ord, IntArrayRef dim, bool keepdim,
                          std::optional<ScalarType> dtype) {
  return linalg_matrix_norm(self, ord, dim, keepdim, dtype);
}

}  // namespace gradus::linalg
