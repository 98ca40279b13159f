// c = a b for matrices of n x n floats, naively and by tiles in shared memory: what becomes of
// tiled_broken.cu in docs/simulator.md.
#include <cstdlib>
#include <exception>
#include <iostream>

#include "gradus/cuda/runtime/launch.h"
#include "gradus/gradus.h"

constexpr int kTile = 32;

__global__ void naive(const float* a, const float* b, float* c, int n) {
  const int row = blockIdx.y * kTile + threadIdx.y, col = blockIdx.x * kTile + threadIdx.x;
  if (row >= n || col >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + col];
  c[row * n + col] = sum;
}

__global__ void tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
  const int y = threadIdx.y, x = threadIdx.x;
  const int row = blockIdx.y * kTile + y, col = blockIdx.x * kTile + x;
  float sum = 0;
  for (int k = 0; k < n; k += kTile) {
    a_tile[y][x] = row < n && k + x < n ? a[row * n + k + x] : 0;
    b_tile[y][x] = k + y < n && col < n ? b[(k + y) * n + col] : 0;
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += a_tile[y][i] * b_tile[i][x];
    __syncthreads();
  }
  if (row < n && col < n) c[row * n + col] = sum;
}

int main(int argc, char** argv) try {
  const int n = argc > 1 ? std::atoi(argv[1]) : 100;
  const auto a = gradus::rand({n, n}), b = gradus::rand({n, n}), expected = a.mm(b);
  const auto on_gpu_a = a.to(gradus::kCUDA), on_gpu_b = b.to(gradus::kCUDA);
  const unsigned tiles = (n + kTile - 1) / kTile;
  for (auto kernel : {naive, tiled}) {
    const auto c = gradus::empty({n, n}, gradus::kCUDA);
    gradus::cuda::launch(kernel, {dim3(tiles, tiles), dim3(kTile, kTile)},
                         on_gpu_a.data_ptr<float>(), on_gpu_b.data_ptr<float>(),
                         c.data_ptr<float>(), n);
    const float error = (c.to(gradus::kCPU) - expected).abs().max().item<float>();
    std::cout << (kernel == naive ? "naive" : "tiled") << ": largest error " << error << '\n';
  }
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
