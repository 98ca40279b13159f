// Task 3.5, another way: variables of the kernel have the names of functions of std, and the host sorts a vector.
#include <algorithm>
#include <vector>
#include "core/cuda.h"
#include "core/launch.h"
namespace course::gpu {
__global__ void reduce_kernel(Op2 op, float start, float* out, const float* x, long n) {
  __shared__ float words[kBlock];
  const float* row = x + (long)blockIdx.x * n;
  float v = start;
  const long begin = (long)blockIdx.y * blockDim.x + threadIdx.x, end = n;
  for (long i = begin; i < end; i += (long)gridDim.y * blockDim.x) v = apply(op, v, row[i]);
  words[threadIdx.x] = v;
  __syncthreads();
  for (int half = kBlock / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) words[threadIdx.x] = apply(op, words[threadIdx.x], words[threadIdx.x + half]);
    __syncthreads();
  }
  if (threadIdx.x == 0) out[(long)blockIdx.x * gridDim.y + blockIdx.y] = words[0];
}
void reduce(Op2 op, float start, float* out, const float* x, long rows, long n, float* scratch) {
  std::vector<long> choices = {(n + kBlock - 1) / kBlock, 1L, (long)kParts};
  std::sort(choices.begin(), choices.end());
  const long parts = choices[1];
  if (parts == 1) {
    launch(reduce_kernel, {dim3((unsigned)rows, 1), kBlock}, op, start, out, x, n);
    return;
  }
  launch(reduce_kernel, {dim3((unsigned)rows, (unsigned)parts), kBlock}, op, start, scratch, x, n);
  launch(reduce_kernel, {dim3((unsigned)rows, 1), kBlock}, op, start, out, scratch, parts);
}
}
