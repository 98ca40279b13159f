// Launches that a chip refuses. The line at fault is the launch.
#include "tests/sim/planted/planted.h"

namespace gradus::planted {
namespace {

__global__ void block_too_large(float* out) { out[threadIdx.x] = 1; }
const Plant block_too_large_bug("block_too_large", "launch", [] {
  const Buffer<float> out(2048);
  launch(block_too_large, {1, 2048}, out);  // BUG block_too_large
  cudaDeviceSynchronize();
});

// z may be 64 at most, though 128 threads are few.
__global__ void block_too_deep(float* out) { out[threadIdx.z] = 1; }
const Plant block_too_deep_bug("block_too_deep", "launch", [] {
  const Buffer<float> out(128);
  launch(block_too_deep, {1, dim3(1, 1, 128)}, out);  // BUG block_too_deep
  cudaDeviceSynchronize();
});

// A block a row: x has room for 2^31 - 1 of them, y for 65535.
__global__ void grid_too_tall(float* out) { out[blockIdx.y] = 1; }
const Plant grid_too_tall_bug("grid_too_tall", "launch", [] {
  const Buffer<float> out(70000);
  launch(grid_too_tall, {dim3(1, 70000), 1}, out);  // BUG grid_too_tall
  cudaDeviceSynchronize();
});

// n / 256 threads a block are none for n = 100.
__global__ void empty_block(float* out) { out[threadIdx.x] = 1; }
const Plant empty_block_bug("empty_block", "launch", [] {
  const unsigned n = 100;
  const Buffer<float> out(n);
  launch(empty_block, {256, n / 256}, out);  // BUG empty_block
  cudaDeviceSynchronize();
});

__global__ void too_much_shared_memory(float* out) {
  extern __shared__ float shared[];
  shared[threadIdx.x] = 1;
  out[threadIdx.x] = shared[threadIdx.x];
}
const Plant too_much_shared_memory_bug("too_much_shared_memory", "launch", [] {
  const Buffer<float> out(128);
  launch(too_much_shared_memory, {1, 128, 1 << 20}, out);  // BUG too_much_shared_memory
  cudaDeviceSynchronize();
});

}  // namespace
}  // namespace gradus::planted
