// Copies to shared memory that are read, written or left before they are done (cp.async).
#include "gradus/cuda/kernels/tensor_core.cuh"
#include "tests/sim/planted/planted.h"

namespace gradus::planted {
namespace {

using cuda::copy_later, cuda::end_copy_group, cuda::wait_for_copies;

// wait_for_copies<0>() must stand before the read.
__global__ void copy_without_wait(const float* x, float* out) {
  __shared__ float tile[128];
  const unsigned t = threadIdx.x;
  copy_later<4>(&tile[t], x + t, 4);  // BUG copy_without_wait
  end_copy_group();
  out[t] = 2 * tile[t];  // BUG copy_without_wait
}
const Plant copy_without_wait_bug("copy_without_wait", "under_way", [] {
  const Buffer<float> x(128, 1.f), out(128);
  launch(copy_without_wait, {1, 128}, x, out);
  cudaDeviceSynchronize();
});

// A barrier waits for threads, not for their copies.
__global__ void barrier_for_a_wait(const float* x, float* out) {
  __shared__ float tile[128];
  const unsigned t = threadIdx.x;
  copy_later<4>(&tile[t], x + t, 4);  // BUG barrier_for_a_wait
  end_copy_group();
  __syncthreads();
  out[t] = tile[127 - t];  // BUG barrier_for_a_wait
}
const Plant barrier_for_a_wait_bug("barrier_for_a_wait", "under_way", [] {
  const Buffer<float> x(128, 1.f), out(128);
  launch(barrier_for_a_wait, {1, 128}, x, out);
  cudaDeviceSynchronize();
});

// Nobody has ended the group, so the wait has nothing to wait for.
__global__ void copy_without_commit(const float* x, float* out) {
  __shared__ float tile[128];
  const unsigned t = threadIdx.x;
  copy_later<4>(&tile[t], x + t, 4);  // BUG copy_without_commit
  wait_for_copies<0>();
  __syncthreads();
  out[t] = tile[127 - t];  // BUG copy_without_commit
}
const Plant copy_without_commit_bug("copy_without_commit", "under_way", [] {
  const Buffer<float> x(128, 1.f), out(128);
  launch(copy_without_commit, {1, 128}, x, out);
  cudaDeviceSynchronize();
});

// The last tile is copied for nobody, and its group was never ended.
__global__ void group_left_open(const float* x, float* out) {
  __shared__ float tile[2][128];
  const unsigned t = threadIdx.x;
  copy_later<4>(&tile[0][t], x + t, 4);
  end_copy_group();
  copy_later<4>(&tile[1][t], x + 128 + t, 4);  // BUG group_left_open
  wait_for_copies<0>();
  out[t] = tile[0][t];
}
const Plant group_left_open_bug("group_left_open", "under_way", [] {
  const Buffer<float> x(256, 1.f), out(128);
  launch(group_left_open, {1, 128}, x, out);
  cudaDeviceSynchronize();
});

// Of two tiles under way the older one is read, so one may stay under way, not two.
__global__ void wait_for_too_few(const float* x, float* out, int tiles) {
  __shared__ float tile[3][128];
  const unsigned t = threadIdx.x;
  const auto copy = [&](int i) {
    if (i < tiles) copy_later<4>(&tile[i % 3][t], x + i * 128 + t, 4);  // BUG wait_for_too_few
    end_copy_group();
  };
  copy(0), copy(1);
  float sum = 0;
  for (int i = 0; i < tiles; ++i) {
    wait_for_copies<2>();
    __syncthreads();
    sum += tile[i % 3][127 - t];  // BUG wait_for_too_few
    copy(i + 2);
  }
  out[t] = sum;
}
const Plant wait_for_too_few_bug("wait_for_too_few", "under_way", [] {
  const Buffer<float> x(128 * 6, 1.f), out(128);
  launch(wait_for_too_few, {1, 128}, x, out, 6);
  cudaDeviceSynchronize();
});

// Each thread has waited for its own copies, not for those of the others.
__global__ void wait_without_barrier(const float* x, float* out) {
  __shared__ float tile[128];
  const unsigned t = threadIdx.x;
  copy_later<4>(&tile[t], x + t, 4);  // BUG wait_without_barrier
  end_copy_group();
  wait_for_copies<0>();
  out[t] = tile[t ^ 32];  // BUG wait_without_barrier
}
const Plant wait_without_barrier_bug("wait_without_barrier", "race", [] {
  const Buffer<float> x(128, 1.f), out(128);
  launch(wait_without_barrier, {1, 128}, x, out);
  cudaDeviceSynchronize();
});

// A stage may be filled again once all have read it: the barrier belongs before the copy.
__global__ void stage_filled_too_early(const float* x, float* out, int tiles) {
  __shared__ float tile[2][128];
  const unsigned t = threadIdx.x;
  const auto copy = [&](int i) {
    if (i < tiles)
      copy_later<4>(&tile[i % 2][t], x + i * 128 + t, 4);  // BUG stage_filled_too_early
    end_copy_group();
  };
  copy(0), copy(1);
  float sum = 0;
  for (int i = 0; i < tiles; ++i) {
    wait_for_copies<1>();
    __syncthreads();
    sum += tile[i % 2][127 - t];  // BUG stage_filled_too_early
    copy(i + 2);
  }
  out[t] = sum;
}
const Plant stage_filled_too_early_bug("stage_filled_too_early", "race", [] {
  const Buffer<float> x(128 * 4, 1.f), out(128);
  launch(stage_filled_too_early, {1, 128}, x, out, 4);
  cudaDeviceSynchronize();
});

// In place: the copy may read the element before or after the new one is written.
__global__ void source_changed(float* x) {
  __shared__ float tile[128];
  const unsigned t = threadIdx.x;
  copy_later<4>(&tile[t], x + t, 4);  // BUG source_changed
  end_copy_group();
  x[t] = 0;  // BUG source_changed
  wait_for_copies<0>();
  x[t] = 2 * tile[t];
}
const Plant source_changed_bug("source_changed", "under_way", [] {
  const Buffer<float> x(128, 1.f);
  launch(source_changed, {1, 128}, x);
  cudaDeviceSynchronize();
});

// The padding is zero only if the copy comes first.
__global__ void target_cleared_too_early(const float* x, float* out, unsigned n) {
  __shared__ float4 tile[32];
  const unsigned t = threadIdx.x;
  copy_later<16>(&tile[t], x + 4 * t, 16);  // BUG target_cleared_too_early
  end_copy_group();
  if (4 * t >= n) tile[t] = make_float4(0, 0, 0, 0);  // BUG target_cleared_too_early
  wait_for_copies<0>();
  out[t] = tile[t].x;
}
const Plant target_cleared_too_early_bug("target_cleared_too_early", "under_way", [] {
  const Buffer<float> x(128, 1.f), out(32);
  launch(target_cleared_too_early, {1, 32}, x, out, 100u);
  cudaDeviceSynchronize();
});

// Two copies to one place are done in any order.
__global__ void copied_twice(const float* x, const float* bias, float* out) {
  __shared__ float tile[64];
  const unsigned t = threadIdx.x;
  copy_later<4>(&tile[t], x + t, 4);  // BUG copied_twice
  end_copy_group();
  copy_later<4>(&tile[t], bias + t, 4);  // BUG copied_twice
  end_copy_group();
  wait_for_copies<0>();
  out[t] = tile[t];
}
const Plant copied_twice_bug("copied_twice", "under_way", [] {
  const Buffer<float> x(64, 1.f), bias(64, 2.f), out(64);
  launch(copied_twice, {1, 64}, x, bias, out);
  cudaDeviceSynchronize();
});

// Copies of 16 bytes want rows of a multiple of 4 floats.
__global__ void copy_of_odd_rows(const float* x, float* out, int width) {
  __shared__ float4 tile[32];
  const unsigned t = threadIdx.x;
  copy_later<16>(&tile[t], x + t * width, 16);  // BUG copy_of_odd_rows
  end_copy_group();
  wait_for_copies<0>();
  out[t] = tile[t].x;
}
const Plant copy_of_odd_rows_bug("copy_of_odd_rows", "misaligned", [] {
  const Buffer<float> x(32 * 7, 1.f), out(32);
  launch(copy_of_odd_rows, {1, 32}, x, out, 7);
  cudaDeviceSynchronize();
});

// The unit at the edge reaches past the matrix: fewer bytes must be asked for there.
__global__ void copy_past_the_end(const float* x, float* out) {
  __shared__ float4 tile[32];
  const unsigned t = threadIdx.x;
  copy_later<16>(&tile[t], x + 4 * t, 16);  // BUG copy_past_the_end
  end_copy_group();
  wait_for_copies<0>();
  out[t] = tile[t].x;
}
const Plant copy_past_the_end_bug("copy_past_the_end", "out_of_bounds", [] {
  const Buffer<float> x(4 * 31 + 2, 1.f), out(32);
  launch(copy_past_the_end, {1, 32}, x, out);
  cudaDeviceSynchronize();
});

// --- Correct: a ring of three stages, of which two are under way; zeros past the end; the copies
// after the last tile are waited for by nobody.
__global__ void ring_of_copies(const float* x, float* out, int n) {
  __shared__ float4 tile[3][64];
  const int t = static_cast<int>(threadIdx.x);
  const auto copy = [&](int step) {
    const int from = 256 * step + 4 * t, left = n - from;
    const int bytes = 4 * (left < 0 ? 0 : left < 4 ? left : 4);
    copy_later<16>(&tile[step % 3][t], bytes > 0 ? x + from : x, bytes);
    end_copy_group();
  };
  copy(0), copy(1);
  float sum = 0;
  for (int step = 0; 256 * step < n; ++step) {
    wait_for_copies<1>();
    __syncthreads();
    copy(step + 2);
    const float4 at = tile[step % 3][63 - t];
    sum += at.x + at.y + at.z + at.w;
  }
  out[t] = sum;
}
const Plant ring_of_copies_plant("ring_of_copies", "", [] {
  const Buffer<float> x(1000, 1.f), out(64);
  launch(ring_of_copies, {1, 64}, x, out, 1000);
  cudaDeviceSynchronize();
});

// Correct: what a thread has copied it may read alone; its warp needs no more than __syncwarp. Then
// the source may be written.
__global__ void copies_of_a_warp(float* x) {
  __shared__ float tile[64];
  const unsigned t = threadIdx.x;
  copy_later<4>(&tile[t], x + t, 4);
  end_copy_group();
  wait_for_copies<0>();
  const float own = tile[t];
  __syncwarp();
  x[t] = own + tile[t ^ 1];
}
const Plant copies_of_a_warp_plant("copies_of_a_warp", "", [] {
  const Buffer<float> x(64, 1.f);
  launch(copies_of_a_warp, {1, 64}, x);
  cudaDeviceSynchronize();
});

}  // namespace
}  // namespace gradus::planted
