// LOSES: one launch
// Every parameter has a launch of its own.

#include "core/launch.h"
#include "core/training.h"

namespace course::gpu {

// The y coordinate of a block is the number of its parameter.
__global__ void sgd_kernel(const Params params, const Sgd sgd, bool first_step) {
  const Param& p = params.list[blockIdx.y];
  const long i = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= p.size) return;
  const float weight = p.weight[i];
  float change = p.gradient[i] + sgd.weight_decay * weight;
  if (sgd.momentum != 0) {
    if (!first_step) change += sgd.momentum * p.velocity[i];
    p.velocity[i] = change;
  }
  p.weight[i] = weight - sgd.lr * change;
}

void sgd_step(const Params& params, const Sgd& sgd, bool first_step) {
  for (int i = 0; i < params.count; ++i) {
    Params one;
    one.count = 1;
    one.list[0] = params.list[i];
    launch(sgd_kernel, {ceil_div(one.list[0].size, 256), 256}, one, sgd, first_step);
  }
}

}  // namespace course::gpu
