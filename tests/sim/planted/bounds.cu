// Accesses outside of an array.
#include "tests/sim/planted/planted.h"

namespace gradus::planted {
namespace {

__device__ int global_index() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

// 1024 threads, 1000 elements.
__global__ void missing_guard(const float* x, float* out) {
  const int i = global_index();
  const float value = x[i];  // BUG missing_guard
  out[i] = 2 * value;        // BUG missing_guard
}
const Plant missing_guard_bug("missing_guard", "out_of_bounds", [] {
  const Buffer<float> x(1000, 1.f), out(1000);
  launch(missing_guard, {8, 128}, x, out);
  cudaDeviceSynchronize();
});

__global__ void guard_off_by_one(float* out, int n) {
  const int i = global_index();
  if (i <= n) out[i] = 1;  // BUG guard_off_by_one
}
const Plant guard_off_by_one_bug("guard_off_by_one", "out_of_bounds", [] {
  const Buffer<float> out(1000);
  launch(guard_off_by_one, {8, 128}, out, 1000);
  cudaDeviceSynchronize();
});

// Moves all elements one place down: the first has none below.
__global__ void before_the_beginning(const float* x, float* out, int n) {
  const int i = global_index();
  if (i < n) out[i - 1] = x[i];  // BUG before_the_beginning
}
const Plant before_the_beginning_bug("before_the_beginning", "out_of_bounds", [] {
  const Buffer<float> x(256, 1.f), out(256);
  launch(before_the_beginning, {2, 128}, x, out, 256);
  cudaDeviceSynchronize();
});

// 0u - 1 is 4294967295: 16 GiB away.
__global__ void unsigned_underflow(const float* x, float* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float left = x[i - 1];  // BUG unsigned_underflow
  out[i] = x[i] - left;
}
const Plant unsigned_underflow_bug("unsigned_underflow", "out_of_bounds", [] {
  const Buffer<float> x(256, 1.f), out(256);
  launch(unsigned_underflow, {2, 128}, x, out, 256u);
  cudaDeviceSynchronize();
});

// The number of rows in place of the number of columns.
__global__ void wrong_dimension(const float* x, float* out, int rows, int cols) {
  const int row = static_cast<int>(blockIdx.x), col = static_cast<int>(threadIdx.x);
  const float value = x[row * rows + col];  // BUG wrong_dimension
  out[row * cols + col] = 2 * value;
}
const Plant wrong_dimension_bug("wrong_dimension", "out_of_bounds", [] {
  const Buffer<float> x(96 * 64, 1.f), out(96 * 64);
  launch(wrong_dimension, {96, 64}, x, out, 96, 64);
  cudaDeviceSynchronize();
});

// A row of the result has `rows` elements.
__global__ void transpose_stride(const float* x, float* out, int cols) {
  const int row = static_cast<int>(blockIdx.x), col = static_cast<int>(threadIdx.x);
  const float value = x[row * cols + col];
  out[col * cols + row] = value;  // BUG transpose_stride
}
const Plant transpose_stride_bug("transpose_stride", "out_of_bounds", [] {
  const Buffer<float> x(32 * 96, 1.f), out(32 * 96);
  launch(transpose_stride, {32, 96}, x, out, 96);
  cudaDeviceSynchronize();
});

// 1002 elements make 251 vectors of four, and the last is half outside.
__global__ void vector_tail(const float4* x, float* out, int n) {
  const int i = global_index();
  if (i >= (n + 3) / 4) return;
  const float4 four = x[i];  // BUG vector_tail
  out[i] = four.x + four.y + four.z + four.w;
}
const Plant vector_tail_bug("vector_tail", "out_of_bounds", [] {
  const Buffer<float> x(1002, 1.f), out(251);
  launch(vector_tail, {2, 128}, reinterpret_cast<const float4*>(static_cast<float*>(x)), out, 1002);
  cudaDeviceSynchronize();
});

// Labels 1 to 10 where the table has rows 0 to 9.
__global__ void label_out_of_range(const float* logits, const int* labels, float* out) {
  const int i = global_index();
  out[i] = -logits[labels[i] * 64 + i];  // BUG label_out_of_range
}
const Plant label_out_of_range_bug("label_out_of_range", "out_of_bounds", [] {
  const Buffer<float> logits(10 * 64, 0.1f), out(64);
  std::vector<int> one_to_ten(64);
  for (int i = 0; i < 64; ++i) one_to_ten[static_cast<size_t>(i)] = 1 + i % 10;
  const Buffer<int> labels(one_to_ten);
  launch(label_out_of_range, {1, 64}, logits, labels, out);
  cudaDeviceSynchronize();
});

// The value 1 falls into the bin past the last.
__global__ void bin_past_the_last(const float* x, int* bins, int count) {
  const int i = global_index();
  const int bin = static_cast<int>(x[i] * static_cast<float>(count));
  atomicAdd(&bins[bin], 1);  // BUG bin_past_the_last
}
const Plant bin_past_the_last_bug("bin_past_the_last", "out_of_bounds", [] {
  const Buffer<float> x(64, 1.f);
  const Buffer<int> bins(16, 1);
  launch(bin_past_the_last, {1, 64}, x, bins, 16);
  cudaDeviceSynchronize();
});

// The last element has index blockDim.x - 1.
__global__ void reverse_in_shared(const float* x, float* out) {
  extern __shared__ float shared[];
  shared[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = shared[blockDim.x - threadIdx.x];  // BUG reverse_in_shared
}
const Plant reverse_in_shared_bug("reverse_in_shared", "out_of_bounds", [] {
  const Buffer<float> x(256, 1.f), out(256);
  launch(reverse_in_shared, {1, 256, 256 * sizeof(float)}, x, out);
  cudaDeviceSynchronize();
});

// The neighbour of the last column is the first column of the next row.
__global__ void past_the_inner_dimension(const float* x, float* out) {
  __shared__ float tile[8][32];
  const unsigned row = threadIdx.y, col = threadIdx.x;
  tile[row][col] = x[row * 32 + col];
  __syncthreads();
  out[row * 32 + col] = tile[row][col + 1] - tile[row][col];  // BUG past_the_inner_dimension
}
const Plant past_the_inner_dimension_bug("past_the_inner_dimension", "out_of_bounds", [] {
  const Buffer<float> x(256, 1.f), out(256);
  launch(past_the_inner_dimension, {1, dim3(32, 8)}, x, out);
  cudaDeviceSynchronize();
});

// The number of elements in place of that of bytes, of an array of bytes.
__global__ void cleared_too_far(unsigned char* flags, int n) {
  if (threadIdx.x == 0) memset(flags, 0, n * sizeof(int));  // BUG cleared_too_far
}
const Plant cleared_too_far_bug("cleared_too_far", "out_of_bounds", [] {
  const Buffer<unsigned char> flags(128, 1);
  launch(cleared_too_far, {1, 32}, flags, 128);
  cudaDeviceSynchronize();
});

}  // namespace
}  // namespace gradus::planted
