// Elementwise functions of two operands in half types.
#include "gradus/cuda/ops/pointwise/zip.cuh"

namespace gradus::cuda {
template void zip_in<Half>(BinaryOp, const Operand&, const Operand&, const Tensor&);
}  // namespace gradus::cuda
