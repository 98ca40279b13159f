// Elementwise functions of two operands in float64.
#include "gradus/cuda/ops/pointwise/zip.cuh"

namespace gradus::cuda {
template void zip_in<double>(BinaryOp, const Operand&, const Operand&, const Tensor&);
}  // namespace gradus::cuda
