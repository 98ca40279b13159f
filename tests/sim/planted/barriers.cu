// Barriers that not every thread of the block reaches. On a GPU these kernels end: threads that
// have returned are not waited for.
#include "tests/sim/planted/planted.h"

namespace gradus::planted {
namespace {

__global__ void barrier_in_a_branch(const float* x, float* out) {
  __shared__ float shared[128];
  const unsigned t = threadIdx.x;
  shared[t] = x[t];
  if (t < 100) {
    __syncthreads();  // BUG barrier_in_a_branch
    out[t] = shared[99 - t];
  }
}
const Plant barrier_in_a_branch_bug("barrier_in_a_branch", "barrier", [] {
  const Buffer<float> x(128, 1.f), out(128);
  launch(barrier_in_a_branch, {1, 128}, x, out);
  cudaDeviceSynchronize();
});

__global__ void return_before_a_barrier(const float* x, float* out, int n) {
  __shared__ float shared[128];
  const int t = static_cast<int>(threadIdx.x);
  const int i = static_cast<int>(blockIdx.x) * 128 + t;
  if (i >= n) return;
  shared[t] = x[i];
  __syncthreads();  // BUG return_before_a_barrier
  out[i] = shared[t ^ 1];
}
const Plant return_before_a_barrier_bug("return_before_a_barrier", "barrier", [] {
  const Buffer<float> x(1000, 1.f), out(1000);
  launch(return_before_a_barrier, {8, 128}, x, out, 1000);
  cudaDeviceSynchronize();
});

// A barrier is a place in the program: these are two.
__global__ void one_barrier_each(const float* x, float* out) {
  __shared__ float shared[128];
  const unsigned t = threadIdx.x;
  if (t % 2 == 0) {
    shared[t] = x[t];
    __syncthreads();  // BUG one_barrier_each
    out[t] = shared[t + 1];
  } else {
    shared[t] = -x[t];
    __syncthreads();  // BUG one_barrier_each
    out[t] = 2 * shared[t - 1];
  }
}
const Plant one_barrier_each_bug("one_barrier_each", "barrier", [] {
  const Buffer<float> x(128, 1.f), out(128);
  launch(one_barrier_each, {1, 128}, x, out);
  cudaDeviceSynchronize();
});

// 300 elements for 128 threads: 44 of them go round a third time.
__global__ void barrier_in_a_strided_loop(const float* x, float* out, int n) {
  __shared__ float shared[128];
  const int t = static_cast<int>(threadIdx.x);
  for (int i = t; i < n; i += 128) {
    shared[t] = x[i];
    __syncthreads();  // BUG barrier_in_a_strided_loop
    out[i] = shared[t];
  }
}
const Plant barrier_in_a_strided_loop_bug("barrier_in_a_strided_loop", "barrier", [] {
  const Buffer<float> x(300, 1.f), out(300);
  launch(barrier_in_a_strided_loop, {1, 128}, x, out, 300);
  cudaDeviceSynchronize();
});

// The barrier belongs after the branch.
__global__ void barrier_of_those_who_add(const float* x, float* out) {
  __shared__ float sums[128];
  const unsigned t = threadIdx.x;
  sums[t] = x[t];
  __syncthreads();
  for (unsigned reach = 64; reach > 0; reach /= 2)
    if (t < reach) {
      sums[t] += sums[t + reach];
      __syncthreads();  // BUG barrier_of_those_who_add
    }
  if (t == 0) *out = sums[0];
}
const Plant barrier_of_those_who_add_bug("barrier_of_those_who_add", "barrier", [] {
  const Buffer<float> x(128, 1.f), out(1);
  launch(barrier_of_those_who_add, {1, 128}, x, out);
  cudaDeviceSynchronize();
});

}  // namespace
}  // namespace gradus::planted
