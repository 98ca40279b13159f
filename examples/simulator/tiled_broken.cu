// c = a b for matrices of n x n floats, by tiles in shared memory. It has three mistakes:
// docs/simulator.md finds them one after the other, and tiled.cu is what becomes of it.
#include <cstdlib>
#include <exception>
#include <iostream>

#include "gradus/cuda/runtime/launch.h"
#include "gradus/gradus.h"

constexpr int kTile = 32;

__global__ void tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
  const int y = threadIdx.x, x = threadIdx.y;
  const int row = blockIdx.y * kTile + y, col = blockIdx.x * kTile + x;
  float sum = 0;
  for (int k = 0; k < n; k += kTile) {
    a_tile[y][x] = a[row * n + k + x];
    b_tile[y][x] = b[(k + y) * n + col];
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += a_tile[y][i] * b_tile[i][x];
  }
  c[row * n + col] = sum;
}

int main(int argc, char** argv) try {
  const int n = argc > 1 ? std::atoi(argv[1]) : 100;
  const auto a = gradus::rand({n, n}), b = gradus::rand({n, n}), expected = a.mm(b);
  const auto on_gpu_a = a.to(gradus::kCUDA), on_gpu_b = b.to(gradus::kCUDA);
  const unsigned tiles = (n + kTile - 1) / kTile;
  const auto c = gradus::empty({n, n}, gradus::kCUDA);
  gradus::cuda::launch(tiled, {dim3(tiles, tiles), dim3(kTile, kTile)}, on_gpu_a.data_ptr<float>(),
                       on_gpu_b.data_ptr<float>(), c.data_ptr<float>(), n);
  const float error = (c.to(gradus::kCPU) - expected).abs().max().item<float>();
  std::cout << "largest error " << error << '\n';
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
