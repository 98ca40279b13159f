// A program compiled without -g, with a kernel that writes out of bounds and memory that leaks.
#include <cuda_runtime_api.h>

#include "gradus/cuda/runtime/launch.h"

__global__ void write_kernel(int* out) { out[threadIdx.x] = 1; }

int main() {
  int* lost = nullptr;
  cudaMalloc(&lost, 124);
  gradus::cuda::launch(write_kernel, {1, 32}, lost);
  cudaDeviceSynchronize();
}
