// The derivatives of elementwise functions in float64.
#include "gradus/cuda/ops/pointwise/map.cuh"

namespace gradus::cuda {
template void map_grad_in<double>(UnaryOp, const Tensor&, const Tensor&, const Tensor&,
                                  const Tensor&);
}  // namespace gradus::cuda
