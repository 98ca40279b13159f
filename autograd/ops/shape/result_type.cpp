// result_type: the dtype that an operation on several operands computes in.
#include "gradus/autograd/functions.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

ScalarType result_type(const Tensor& tensor, const Tensor& other) {
  return raw::result_type(tensor, other);
}
ScalarType result_type(const Tensor& tensor, const Scalar& other) {
  return raw::result_type(tensor, other);
}
ScalarType result_type(const Scalar& scalar, const Tensor& tensor) {
  return raw::result_type(scalar, tensor);
}
ScalarType result_type(const Scalar& scalar1, const Scalar& scalar2) {
  return raw::result_type(scalar1, scalar2);
}

}  // namespace gradus
