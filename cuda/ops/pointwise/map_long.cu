// Elementwise functions of one operand in int64.
#include "gradus/cuda/ops/pointwise/map.cuh"

namespace gradus::cuda {
template void map_in<int64_t>(UnaryOp, const Tensor&, const Tensor&);
}  // namespace gradus::cuda
