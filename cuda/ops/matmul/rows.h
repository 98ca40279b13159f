// Products of up to 16 rows of half types as the host sees them.
#pragma once

#include "gradus/tensor/tensor.h"

namespace gradus::cuda {

// out (1, M, N) = a (1, M, K) * b (1, K, N) + bias (N); out and bias of a's type or Float. Returns
// false and does nothing for more than 16 rows, few columns, or operands whose terms do not lie
// along memory in units of 16 bytes.
bool few_rows_matmul(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out);

}  // namespace gradus::cuda
