// LOSES: sectors
// One thread of the block does all the work alone.
#include "core/launch.h"
#include "core/training.h"

namespace course::gpu {

__global__ void mse_kernel(float* loss, float* gradient, const float* y, const float* target, long n) {
  if (threadIdx.x != 0) return;
  float sum = 0;
  for (long i = 0; i < n; ++i) {
    const float difference = y[i] - target[i];
    if (gradient != nullptr) gradient[i] = 2 * difference / n;
    sum += difference * difference;
  }
  *loss = sum / n;
}

void mse(float* loss, float* gradient, const float* y, const float* target, long n) {
  launch(mse_kernel, {1, 256}, loss, gradient, y, target, n);
}

}  // namespace course::gpu
