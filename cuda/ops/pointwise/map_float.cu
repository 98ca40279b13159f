// Elementwise functions of one operand in float32.
#include "gradus/cuda/ops/pointwise/map.cuh"

namespace gradus::cuda {
template void map_in<float>(UnaryOp, const Tensor&, const Tensor&);
}  // namespace gradus::cuda
