// The sums that a product's gradient of a bias is made of, as the host sees them.
#pragma once

#include "gradus/tensor/tensor.h"

namespace gradus::cuda {

// Whether sum_columns() does these: a of a half type is the transpose of a matrix whose rows are
// contiguous and begin at multiples of 16 bytes.
bool sums_columns(const Tensor& a);
// sums (M) = the sums of the rows of a (1, M, K), in float32; of a's type or Float. REQUIRES:
// sums_columns(a); the device of a is current.
void sum_columns(const Tensor& a, const Tensor& sums);
// sums (N), Float = the sums of the columns of x (..., N), which is contiguous and of a half type.
void sum_columns_of(const Tensor& x, const Tensor& sums);

}  // namespace gradus::cuda
