// Second names of functions (divide, subtract, linalg_matmul ...): the rows of
// tensor/table/functions/alias.def.
#include "gradus/autograd/functions.h"

namespace gradus {

#define UNARY_ALIAS(name, of) \
  Tensor name(const Tensor& self) { return of(self); }
#define BINARY_ALIAS(name, of)                                                     \
  Tensor name(const Tensor& self, const Tensor& other) { return of(self, other); } \
  Tensor name(const Tensor& self, const Scalar& other) { return of(self, other); }
#define COMPARISON_ALIAS(name, of) BINARY_ALIAS(name, of)
#define OPERATOR_ALIAS(name, of) BINARY_ALIAS(name, of)
#include "gradus/tensor/table/functions/alias.def"

Tensor arctan2(const Tensor& self, const Tensor& other) { return atan2(self, other); }
Tensor subtract(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return sub(self, other, alpha);
}
Tensor subtract(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return sub(self, other, alpha);
}

Tensor divide(const Tensor& self, const Tensor& other, std::optional<std::string_view> mode) {
  return div(self, other, mode);
}
Tensor divide(const Tensor& self, const Scalar& other, std::optional<std::string_view> mode) {
  return div(self, other, mode);
}

Tensor linalg_matmul(const Tensor& self, const Tensor& other) { return matmul(self, other); }
Tensor linalg_diagonal(const Tensor& A, int64_t offset, int64_t dim1, int64_t dim2) {
  return A.diagonal(offset, dim1, dim2);
}

}  // namespace gradus
