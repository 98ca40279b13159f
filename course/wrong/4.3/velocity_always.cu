// LOSES: plain, weight decay, sizes, memory
// The velocity is used even where there is none, because the momentum is 0.
#include <algorithm>

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
  {
    if (!first_step) change += sgd.momentum * p.velocity[i];
    p.velocity[i] = change;
  }
  p.weight[i] = weight - sgd.lr * change;
}

void sgd_step(const Params& params, const Sgd& sgd, bool first_step) {
  long longest = 0;
  for (int i = 0; i < params.count; ++i) longest = std::max(longest, params.list[i].size);
  const auto count = static_cast<unsigned>(params.count);
  launch(sgd_kernel, {dim3(ceil_div(longest, 256), count), 256}, params, sgd, first_step);
}

}  // namespace course::gpu
