// Elementwise functions of two operands in int64.
#include "gradus/cuda/ops/pointwise/zip.cuh"

namespace gradus::cuda {
template void zip_in<int64_t>(BinaryOp, const Operand&, const Operand&, const Tensor&);
}  // namespace gradus::cuda
