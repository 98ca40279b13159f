// Correct kernels whose patterns look like mistakes: nothing may be found in them.
#include "tests/sim/planted/planted.h"

namespace gradus::planted {
namespace {

constexpr unsigned kAllLanes = 0xffffffffu;

__device__ int global_index() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

// One barrier a step: the tile that is written is not the one that was read before the barrier.
__global__ void double_buffer(const float* x, float* out, int steps) {
  __shared__ float tile[2][128];
  const int t = static_cast<int>(threadIdx.x);
  float sum = 0;
  for (int step = 0; step < steps; ++step) {
    tile[step % 2][t] = x[step * 128 + t];
    __syncthreads();
    sum += tile[step % 2][127 - t] * tile[step % 2][t ^ 1];
  }
  out[t] = sum;
}
const Plant double_buffer_plant("double_buffer", "", [] {
  const Buffer<float> x(6 * 128, 1.f), out(128);
  launch(double_buffer, {1, 128}, x, out, 6);
  cudaDeviceSynchronize();
});

// Each warp by shuffles, then the first warp. Returns after the last barrier are free.
__global__ void block_sum(const float* x, float* out) {
  __shared__ float of_warp[4];
  const unsigned lane = threadIdx.x % 32;
  float sum = x[global_index()];
  for (unsigned reach = 16; reach > 0; reach /= 2) sum += __shfl_down_sync(kAllLanes, sum, reach);
  if (lane == 0) of_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  sum = lane < 4 ? of_warp[lane] : 0;
  for (unsigned reach = 2; reach > 0; reach /= 2) sum += __shfl_down_sync(kAllLanes, sum, reach);
  if (lane == 0) out[blockIdx.x] = sum;
}
const Plant block_sum_plant("block_sum", "", [] {
  const Buffer<float> x(1024, 1.f), out(8);
  launch(block_sum, {8, 128}, x, out);
  cudaDeviceSynchronize();
});

// In shared memory without a barrier of the block: each warp has its own 32 words.
__global__ void warp_sums(const float* x, float* out) {
  __shared__ float sums[128];
  const unsigned t = threadIdx.x, lane = t % 32;
  sums[t] = x[t];
  __syncwarp();
  for (unsigned reach = 16; reach > 0; reach /= 2) {
    if (lane < reach) sums[t] += sums[t + reach];
    __syncwarp();
  }
  out[t] = sums[t - lane];
}
const Plant warp_sums_plant("warp_sums", "", [] {
  const Buffer<float> x(128, 1.f), out(128);
  launch(warp_sums, {1, 128}, x, out);
  cudaDeviceSynchronize();
});

// A step of a scan reads, waits, writes, waits.
__global__ void scan_with_two_barriers(const float* x, float* out) {
  __shared__ float sums[256];
  const unsigned t = threadIdx.x;
  sums[t] = x[t];
  __syncthreads();
  for (unsigned reach = 1; reach < 256; reach *= 2) {
    const float left = t >= reach ? sums[t - reach] : 0;
    __syncthreads();
    sums[t] += left;
    __syncthreads();
  }
  out[t] = sums[t];
}
const Plant scan_with_two_barriers_plant("scan_with_two_barriers", "", [] {
  const Buffer<float> x(256, 1.f), out(256);
  launch(scan_with_two_barriers, {1, 256}, x, out);
  cudaDeviceSynchronize();
});

// Atomics on shared bins, then on those of all blocks.
__global__ void histogram(const int* x, int* bins) {
  __shared__ int mine[16];
  if (threadIdx.x < 16) mine[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&mine[x[global_index()] % 16], 1);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}
const Plant histogram_plant("histogram", "", [] {
  const Buffer<int> x(1024, 19), bins(16, 0);
  launch(histogram, {8, 128}, x, bins);
  cudaDeviceSynchronize();
});

// Threads without an element come to the barrier too; neighbours write to one row in place.
__global__ void guarded_rotation(float* x, int n) {
  __shared__ float part[128];
  const int t = static_cast<int>(threadIdx.x);
  const int i = global_index(), count = min(128, n - static_cast<int>(blockIdx.x) * 128);
  if (i < n) part[t] = x[i];
  __syncthreads();
  if (i >= n) return;
  x[i] = part[t + 1 < count ? t + 1 : 0];
}
const Plant guarded_rotation_plant("guarded_rotation", "", [] {
  const Buffer<float> x(1000, 1.f);
  launch(guarded_rotation, {8, 128}, x, 1000);
  cudaDeviceSynchronize();
});

// Vectors of four, and the last two elements one by one.
__global__ void vectors_and_tail(const float* x, float* out, int n) {
  const int i = global_index();
  if (i < n / 4) {
    const float4 v = reinterpret_cast<const float4*>(x)[i];
    reinterpret_cast<float4*>(out)[i] = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
  }
  if (i < n % 4) out[n - 1 - i] = 2 * x[n - 1 - i];
}
const Plant vectors_and_tail_plant("vectors_and_tail", "", [] {
  const Buffer<float> x(1002, 1.f), out(1002);
  launch(vectors_and_tail, {2, 128}, x, out, 1002);
  cudaDeviceSynchronize();
});

// All threads read one word at once, of shared and of global memory.
__global__ void broadcast(const float* x, float* out) {
  __shared__ float scale;
  if (threadIdx.x == 0) scale = x[0];
  __syncthreads();
  out[threadIdx.x] = scale * x[1];
}
const Plant broadcast_plant("broadcast", "", [] {
  const Buffer<float> x(2, 3.f), out(256);
  launch(broadcast, {1, 256}, x, out);
  cudaDeviceSynchronize();
});

__global__ void padded_transpose(const float* x, float* out, int rows, int cols) {
  __shared__ float tile[32][32 + 1];
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  const int row0 = static_cast<int>(blockIdx.y) * 32, col0 = static_cast<int>(blockIdx.x) * 32;
  for (int y = ty; y < 32; y += 8)
    if (row0 + y < rows && col0 + tx < cols) tile[y][tx] = x[(row0 + y) * cols + col0 + tx];
  __syncthreads();
  for (int y = ty; y < 32; y += 8)
    if (col0 + y < cols && row0 + tx < rows) out[(col0 + y) * rows + row0 + tx] = tile[tx][y];
}
const Plant padded_transpose_plant("padded_transpose", "", [] {
  const Buffer<float> x(50 * 70, 1.f), out(50 * 70);
  launch(padded_transpose, {dim3(3, 2), dim3(32, 8)}, x, out, 50, 70);
  cudaDeviceSynchronize();
});

// Four threads write the four bytes of one word, in shared and in global memory.
__global__ void neighbouring_bytes(const unsigned char* x, unsigned char* out) {
  __shared__ unsigned char bytes[128];
  const unsigned t = threadIdx.x;
  bytes[t] = x[t];
  __syncthreads();
  out[t] = bytes[127 - t];
}
const Plant neighbouring_bytes_plant("neighbouring_bytes", "", [] {
  const Buffer<unsigned char> x(128, 1), out(128);
  launch(neighbouring_bytes, {1, 128}, x, out);
  cudaDeviceSynchronize();
});

// Doubles first: they want the larger alignment.
__global__ void two_arrays_in_one(const float* x, double* out, int n) {
  extern __shared__ double shared[];
  double* squares = shared;
  auto* values = reinterpret_cast<float*>(squares + n);
  const int t = static_cast<int>(threadIdx.x);
  values[t] = x[t];
  squares[t] = double{x[t]} * double{x[t]};
  __syncthreads();
  out[t] = squares[n - 1 - t] - double{values[n - 1 - t]};
}
const Plant two_arrays_in_one_plant("two_arrays_in_one", "", [] {
  const Buffer<float> x(100, 2.f);
  const Buffer<double> out(100);
  launch(two_arrays_in_one, {1, 100, 100 * (sizeof(double) + sizeof(float))}, x, out, 100);
  cudaDeviceSynchronize();
});

// A barrier that counts takes the place of one that does not.
__global__ void count_and_vote(const float* x, int* out) {
  __shared__ int votes[4];
  const float value = x[threadIdx.x];
  const unsigned ballot = __ballot_sync(kAllLanes, value > 1);
  if (threadIdx.x % 32 == 0) votes[threadIdx.x / 32] = __popc(ballot);
  const int count = __syncthreads_count(value > 1);
  if (threadIdx.x == 0) *out = count - votes[0] - votes[1] - votes[2] - votes[3];
}
const Plant count_and_vote_plant("count_and_vote", "", [] {
  const Buffer<float> x(128, 2.f);
  const Buffer<int> out(1);
  launch(count_and_vote, {1, 128}, x, out);
  cudaDeviceSynchronize();
});

// Some lanes alone, with a mask that names them and no others.
__global__ void shuffle_of_some(const float* x, float* out) {
  const unsigned lane = threadIdx.x % 32;
  float sum = x[threadIdx.x];
  const unsigned mask = __ballot_sync(kAllLanes, lane < 24);
  if (lane < 24) sum += __shfl_xor_sync(mask, sum, 4);
  __syncwarp();
  out[threadIdx.x] = sum;
}
const Plant shuffle_of_some_plant("shuffle_of_some", "", [] {
  const Buffer<float> x(64, 1.f), out(64);
  launch(shuffle_of_some, {1, 64}, x, out);
  cudaDeviceSynchronize();
});

// Lanes that have returned are not missed: the second warp goes on with 8.
__global__ void vote_of_those_who_are_left(const float* x, unsigned* out, unsigned n) {
  const unsigned t = threadIdx.x;
  if (t >= n) return;
  out[t] = __ballot_sync(kAllLanes, x[t] > 0);
}
const Plant vote_of_those_who_are_left_plant("vote_of_those_who_are_left", "", [] {
  const Buffer<float> x(40, 1.f);
  const Buffer<unsigned> out(40);
  launch(vote_of_those_who_are_left, {1, 64}, x, out, 40u);
  cudaDeviceSynchronize();
});

// What one launch writes the next may read, and a temporary may be the next one's memory.
__global__ void twice(const float* x, float* out) { out[threadIdx.x] = 2 * x[127 - threadIdx.x]; }
const Plant launches_in_order_plant("launches_in_order", "", [] {
  const Buffer<float> x(128, 1.f), between(128), out(128);
  launch(twice, {1, 128}, x, between);
  launch(twice, {1, 128}, between, out);
  launch(twice, {1, 128}, out, x);
  cudaDeviceSynchronize();
});

// A struct moves with the bytes between its members.
struct Best {
  double value;
  int index;
};
__global__ void best_in_reverse(const Best* x, Best* out) {
  __shared__ Best best[64];
  best[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = best[63 - threadIdx.x];
}
__global__ void number(Best* out) {
  out[blockIdx.x].value = 1;
  out[blockIdx.x].index = static_cast<int>(blockIdx.x);
}
const Plant best_in_reverse_plant("best_in_reverse", "", [] {
  const Buffer<Best> x(64), out(64);
  launch(number, {64, 1}, x);
  launch(best_in_reverse, {1, 64}, x, out);
  cudaDeviceSynchronize();
});

// One thread copies for all, and all wait.
__global__ void copied_by_one_in_time(const float* x, float* out) {
  __shared__ float tile[64];
  if (threadIdx.x == 0) memcpy(tile, x, sizeof tile);
  __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x];
}
const Plant copied_by_one_in_time_plant("copied_by_one_in_time", "", [] {
  const Buffer<float> x(64, 1.f), out(64);
  launch(copied_by_one_in_time, {1, 64}, x, out);
  cudaDeviceSynchronize();
});

}  // namespace
}  // namespace gradus::planted
