// The kernel: it reverses an array by way of shared memory.
#include "reverse.h"

__global__ void reverse(int* data, bool forgetful) {
  __shared__ int copy[kCount];
  const int i = static_cast<int>(threadIdx.x);
  copy[i] = data[i];
  __syncthreads();
  const int other = copy[kCount - 1 - i];
  if (!forgetful) __syncthreads();
  copy[i] = other;
  data[i] = copy[i];
}

void reverse_on_device(int* data, bool forgetful) {
  void* args[] = {&data, &forgetful};
  cudaLaunchKernel(gradus::cuda::sim::handle(reverse), 1, kCount, args, 0, nullptr);
}
