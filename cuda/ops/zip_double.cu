#include "gradus/cuda/ops/zip.cuh"

namespace gradus::cuda {
template void zip_of<double>(BinaryOp, const Operand&, const Operand&, const Tensor&);
}  // namespace gradus::cuda
