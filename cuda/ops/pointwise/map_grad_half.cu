// The derivatives of elementwise functions in half types.
#include "gradus/cuda/ops/pointwise/map.cuh"

namespace gradus::cuda {
template void map_grad_in<Half>(UnaryOp, const Tensor&, const Tensor&, const Tensor&,
                                const Tensor&);
}  // namespace gradus::cuda
