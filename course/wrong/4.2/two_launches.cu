// LOSES: one launch
// The gradient has a kernel of its own, which loads everything again.
#include "core/launch.h"
#include "core/training.h"

namespace course::gpu {

constexpr int kThreads = 256;

__global__ void loss_kernel(float* loss, const float* y, const float* target, long n) {
  __shared__ float sums[kThreads];
  const int thread = threadIdx.x;
  float sum = 0;
  for (long i = thread; i < n; i += kThreads) sum += (y[i] - target[i]) * (y[i] - target[i]);
  sums[thread] = sum;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (thread < half) sums[thread] += sums[thread + half];
    __syncthreads();
  }
  if (thread == 0) *loss = sums[0] / n;
}

__global__ void gradient_kernel(float* gradient, const float* y, const float* target, long n) {
  const long i = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) gradient[i] = 2 * (y[i] - target[i]) / n;
}

void mse(float* loss, float* gradient, const float* y, const float* target, long n) {
  launch(loss_kernel, {1, kThreads}, loss, y, target, n);
  if (gradient != nullptr) launch(gradient_kernel, {ceil_div(n, kThreads), kThreads}, gradient, y, target, n);
}

}  // namespace course::gpu
