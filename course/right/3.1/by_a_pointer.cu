// Task 3.1, another way: functions by pointers, from an argument and from tables of the device and of constant memory.
#include <functional>
#include "core/cuda.h"
#include "core/launch.h"
namespace course::gpu {
__constant__ __attribute__((aligned(16))) float ones[4] = {1, 1, 1, 1};
static __constant__ int count;
__device__ int same(int x) { return x; }
__device__ int (*const table[2])(int) = {same, same};
__global__ void map_kernel(Op1 op, float* out, const float* x, long n, int (*f)(int)) {
  const long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = ones[f(i % 4)] * apply(op, x[i]) + count * table[i & 1](0);
}
void map(Op1 op, float* out, const float* x, long n) { std::function<long(long)> g = [&](long i) { return i + n; }; launch(map_kernel, {ceil_div(g(0), kBlock), kBlock}, op, out, x, n, &same); }
}
