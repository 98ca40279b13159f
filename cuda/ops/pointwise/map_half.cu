// Elementwise functions of one operand in half types.
#include "gradus/cuda/ops/pointwise/map.cuh"

namespace gradus::cuda {
template void map_in<Half>(UnaryOp, const Tensor&, const Tensor&);
}  // namespace gradus::cuda
