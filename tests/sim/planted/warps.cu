// Shuffles whose lanes do not agree on who takes part. On a GPU these kernels end: lanes that have
// returned are not waited for.
#include "tests/sim/planted/planted.h"

namespace gradus::planted {
namespace {

constexpr unsigned kAllLanes = 0xffffffffu;

// 40 threads: the second warp has 8 lanes.
__global__ void shuffle_with_absent_lanes(const float* x, float* out) {
  float sum = x[threadIdx.x];
  for (unsigned reach = 16; reach > 0; reach /= 2)
    sum += __shfl_down_sync(kAllLanes, sum, reach);  // BUG shuffle_with_absent_lanes
  if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = sum;
}
const Plant shuffle_with_absent_lanes_bug("shuffle_with_absent_lanes", "warp", [] {
  const Buffer<float> x(40, 1.f), out(2);
  launch(shuffle_with_absent_lanes, {1, 40}, x, out);
  cudaDeviceSynchronize();
});

// The lanes that are read do not take part. All lanes must shuffle, and half of them then store.
__global__ void shuffle_in_a_branch(const float* x, float* out) {
  const unsigned lane = threadIdx.x % 32;
  float sum = x[threadIdx.x];
  if (lane < 16) {
    sum += __shfl_down_sync(kAllLanes, sum, 16);  // BUG shuffle_in_a_branch
    out[threadIdx.x] = sum;
  }
}
const Plant shuffle_in_a_branch_bug("shuffle_in_a_branch", "warp", [] {
  const Buffer<float> x(64, 1.f), out(64);
  launch(shuffle_in_a_branch, {1, 64}, x, out);
  cudaDeviceSynchronize();
});

// Each half of a warp names all lanes, and makes a call of its own.
__global__ void two_shuffles_meet(const float* x, float* out) {
  float neighbour = x[threadIdx.x];
  if (threadIdx.x % 32 < 16)
    neighbour = __shfl_down_sync(kAllLanes, neighbour, 1);  // BUG two_shuffles_meet
  else
    neighbour = __shfl_up_sync(kAllLanes, neighbour, 1);  // BUG two_shuffles_meet
  out[threadIdx.x] = neighbour;
}
const Plant two_shuffles_meet_bug("two_shuffles_meet", "warp", [] {
  const Buffer<float> x(64, 1.f), out(64);
  launch(two_shuffles_meet, {1, 64}, x, out);
  cudaDeviceSynchronize();
});

// Odd lanes wait for even ones, which know of even lanes alone.
__global__ void masks_differ(const float* x, float* out) {
  const unsigned mask = threadIdx.x % 2 == 0 ? 0x55555555u : kAllLanes;
  const float neighbour = __shfl_xor_sync(mask, x[threadIdx.x], 2);  // BUG masks_differ
  out[threadIdx.x] = neighbour;
}
const Plant masks_differ_bug("masks_differ", "warp", [] {
  const Buffer<float> x(32, 1.f), out(32);
  launch(masks_differ, {1, 32}, x, out);
  cudaDeviceSynchronize();
});

// All 32 lanes call, 16 are named.
__global__ void not_in_its_own_mask(const float* x, float* out) {
  const float first = __shfl_sync(0x0000ffffu, x[threadIdx.x], 0);  // BUG not_in_its_own_mask
  out[threadIdx.x] = first;
}
const Plant not_in_its_own_mask_bug("not_in_its_own_mask", "warp", [] {
  const Buffer<float> x(32, 1.f), out(32);
  launch(not_in_its_own_mask, {1, 32}, x, out);
  cudaDeviceSynchronize();
});

// Some lanes make calls of their own before all of them meet.
__global__ void some_lanes_then_all(const int* x, int* out) {
  int value = x[threadIdx.x];
  const unsigned even = __ballot_sync(kAllLanes, value % 2 == 0);
  if (value % 2 == 0) value += __shfl_sync(even, value, __ffs(static_cast<int>(even)) - 1);
  __syncwarp();
  const unsigned alike = __match_any_sync(kAllLanes, value);
  if (threadIdx.x % 3 == 0) value += __popc(__ballot_sync(0x49249249u, alike & 1));
  out[threadIdx.x] = __shfl_xor_sync(kAllLanes, value, 1);
}
const Plant some_lanes_then_all_plant("some_lanes_then_all", "", [] {
  std::vector<int> values(32);
  for (int i = 0; i < 32; ++i) values[static_cast<size_t>(i)] = i * 7 % 5;
  const Buffer<int> x(values), out(32);
  launch(some_lanes_then_all, {1, 32}, x, out);
  cudaDeviceSynchronize();
});

__global__ void many_syncwarps(const int* x, int* out, int rounds) {
  __shared__ int values[32];
  values[threadIdx.x] = x[threadIdx.x];
  __syncwarp();
  for (int i = 1; i <= rounds; ++i) {
    const int next = values[(threadIdx.x + 1) % 32];
    __syncwarp();
    values[threadIdx.x] = next;
    __syncwarp();
  }
  out[threadIdx.x] = values[threadIdx.x];
}
const Plant many_syncwarps_plant("many_syncwarps", "", [] {
  const Buffer<int> x(32, 1), out(32);
  launch(many_syncwarps, {1, 32}, x, out, 400);
  cudaDeviceSynchronize();
});

// Two of the lanes that write have met; the one that reads has not met them.
__global__ void half_a_syncwarp(int* out) {
  __shared__ int values[32];
  const unsigned lane = threadIdx.x;
  values[lane] = static_cast<int>(lane);  // BUG half_a_syncwarp
  if (lane < 16) __syncwarp(0x0000ffffu);
  out[lane] = values[(lane + 16) % 32];  // BUG half_a_syncwarp
}
const Plant half_a_syncwarp_bug("half_a_syncwarp", "race", [] {
  const Buffer<int> out(32);
  launch(half_a_syncwarp, {1, 32}, out);
  cudaDeviceSynchronize();
});

// __syncwarp orders the lanes of the warp that writes, not those of the other that reads.
__global__ void another_warp_still_reads(int* x, int* out) {
  out[threadIdx.x] = x[0];  // BUG another_warp_still_reads
  __syncwarp();
  if (threadIdx.x == 5) x[0] = 1;  // BUG another_warp_still_reads
}
const Plant another_warp_still_reads_bug("another_warp_still_reads", "race", [] {
  const Buffer<int> x(1, 0), out(64);
  launch(another_warp_still_reads, {1, 64}, x, out);
  cudaDeviceSynchronize();
});

}  // namespace
}  // namespace gradus::planted
