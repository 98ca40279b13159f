// Reads of memory that nobody has written.
#include "tests/sim/planted/planted.h"

namespace gradus::planted {
namespace {

__device__ int global_index() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

// Fresh memory is not zero.
__global__ void gradient_not_zeroed(const float* x, float* gradient) {
  const int i = global_index();
  gradient[i] += 2 * x[i];  // BUG gradient_not_zeroed
}
const Plant gradient_not_zeroed_bug("gradient_not_zeroed", "unwritten", [] {
  const Buffer<float> x(256, 1.f), gradient(256);
  launch(gradient_not_zeroed, {2, 128}, x, gradient);
  cudaDeviceSynchronize();
});

__global__ void sum_not_zeroed(const float* x, float* sum) {
  atomicAdd(sum, x[global_index()]);  // BUG sum_not_zeroed
}
const Plant sum_not_zeroed_bug("sum_not_zeroed", "unwritten", [] {
  const Buffer<float> x(256, 1.f), sum(1);
  launch(sum_not_zeroed, {2, 128}, x, sum);
  cudaDeviceSynchronize();
});

// The host copied 256 bytes in place of 256 floats.
__global__ void copied_a_quarter(const float* x, float* out) {
  const int i = global_index();
  out[i] = 2 * x[i];  // BUG copied_a_quarter
}
const Plant copied_a_quarter_bug("copied_a_quarter", "unwritten", [] {
  const std::vector<float> ones(256, 1.f);
  const Buffer<float> x(256), out(256);
  cudaMemcpy(x, ones.data(), ones.size(), cudaMemcpyHostToDevice);
  launch(copied_a_quarter, {2, 128}, x, out);
  cudaDeviceSynchronize();
});

__global__ void shared_sum_not_zeroed(const float* x, float* out) {
  __shared__ float sum;
  atomicAdd(&sum, x[threadIdx.x]);  // BUG shared_sum_not_zeroed
  __syncthreads();
  if (threadIdx.x == 0) *out = sum;
}
const Plant shared_sum_not_zeroed_bug("shared_sum_not_zeroed", "unwritten", [] {
  const Buffer<float> x(128, 1.f), out(1);
  launch(shared_sum_not_zeroed, {1, 128}, x, out);
  cudaDeviceSynchronize();
});

// A block of 128 threads has 4 warps, and 32 lanes read a sum each.
__global__ void sums_of_absent_warps(const float* x, float* out) {
  __shared__ float of_warp[32];
  const unsigned lane = threadIdx.x % 32;
  float value = x[threadIdx.x];
  for (int reach = 16; reach > 0; reach /= 2) value += __shfl_xor_sync(0xffffffffu, value, reach);
  if (lane == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  value = of_warp[lane];  // BUG sums_of_absent_warps
  for (int reach = 16; reach > 0; reach /= 2) value += __shfl_xor_sync(0xffffffffu, value, reach);
  if (lane == 0) *out = value;
}
const Plant sums_of_absent_warps_bug("sums_of_absent_warps", "unwritten", [] {
  const Buffer<float> x(128, 1.f), out(1);
  launch(sums_of_absent_warps, {1, 128}, x, out);
  cudaDeviceSynchronize();
});

// The halo of the last block lies past the end, and nobody writes a zero there.
__global__ void halo_not_zeroed(const float* x, float* out, int n) {
  __shared__ float part[128 + 1];
  const int i = global_index(), t = static_cast<int>(threadIdx.x);
  part[t] = x[i];
  if (t == 0 && i + 128 < n) part[128] = x[i + 128];
  __syncthreads();
  out[i] = part[t + 1] - part[t];  // BUG halo_not_zeroed
}
const Plant halo_not_zeroed_bug("halo_not_zeroed", "unwritten", [] {
  const Buffer<float> x(512, 1.f), out(512);
  launch(halo_not_zeroed, {4, 128}, x, out, 512);
  cudaDeviceSynchronize();
});

}  // namespace
}  // namespace gradus::planted
