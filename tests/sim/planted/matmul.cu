// The tiled matrix product, out = a b with a [m, k] and b [k, n], and what goes wrong in it.
#include "tests/sim/planted/planted.h"

namespace gradus::planted {
namespace {

constexpr int kTile = 16;

__device__ int tile_row() { return static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y); }
__device__ int tile_col() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

using Matmul = void (*)(const float* a, const float* b, float* out, int m, int n, int k);

void run(Matmul kernel, int m, int n, int k) {
  const Buffer<float> a(static_cast<size_t>(m * k), 1.f), b(static_cast<size_t>(k * n), 1.f);
  const Buffer<float> out(static_cast<size_t>(m * n));
  const auto blocks = [](int size) { return static_cast<unsigned>((size + kTile - 1) / kTile); };
  launch(kernel, {dim3(blocks(n), blocks(m)), dim3(kTile, kTile)}, a, b, out, m, n, k);
  cudaDeviceSynchronize();
}

// A thread adds up before the others have loaded.
__global__ void matmul_no_first_barrier(const float* a, const float* b, float* out, int, int n,
                                        int k) {
  __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
  const int y = static_cast<int>(threadIdx.y), x = static_cast<int>(threadIdx.x);
  const int row = tile_row(), col = tile_col();
  float sum = 0;
  for (int k0 = 0; k0 < k; k0 += kTile) {
    a_tile[y][x] = a[row * k + k0 + x];    // BUG matmul_no_first_barrier
    b_tile[y][x] = b[(k0 + y) * n + col];  // BUG matmul_no_first_barrier
    for (int i = 0; i < kTile; ++i) {
      sum += a_tile[y][i] * b_tile[i][x];  // BUG matmul_no_first_barrier
    }
    __syncthreads();
  }
  out[row * n + col] = sum;
}
const Plant matmul_no_first_barrier_bug("matmul_no_first_barrier", "race",
                                        [] { run(matmul_no_first_barrier, 32, 32, 32); });

// A thread loads the next tiles while others still add up the last.
__global__ void matmul_no_second_barrier(const float* a, const float* b, float* out, int, int n,
                                         int k) {
  __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
  const int y = static_cast<int>(threadIdx.y), x = static_cast<int>(threadIdx.x);
  const int row = tile_row(), col = tile_col();
  float sum = 0;
  for (int k0 = 0; k0 < k; k0 += kTile) {
    a_tile[y][x] = a[row * k + k0 + x];    // BUG matmul_no_second_barrier
    b_tile[y][x] = b[(k0 + y) * n + col];  // BUG matmul_no_second_barrier
    __syncthreads();
    for (int i = 0; i < kTile; ++i) {
      sum += a_tile[y][i] * b_tile[i][x];  // BUG matmul_no_second_barrier
    }
  }
  out[row * n + col] = sum;
}
const Plant matmul_no_second_barrier_bug("matmul_no_second_barrier", "race",
                                         [] { run(matmul_no_second_barrier, 32, 32, 32); });

__global__ void matmul_tile_loop_too_long(const float* a, const float* b, float* out, int, int n,
                                          int k) {
  __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
  const int y = static_cast<int>(threadIdx.y), x = static_cast<int>(threadIdx.x);
  const int row = tile_row(), col = tile_col(), last = kTile;
  float sum = 0;
  for (int k0 = 0; k0 < k; k0 += kTile) {
    a_tile[y][x] = a[row * k + k0 + x];
    b_tile[y][x] = b[(k0 + y) * n + col];
    __syncthreads();
    for (int i = 0; i <= last; ++i) {
      sum += a_tile[y][i] * b_tile[i][x];  // BUG matmul_tile_loop_too_long
    }
    __syncthreads();
  }
  out[row * n + col] = sum;
}
const Plant matmul_tile_loop_too_long_bug("matmul_tile_loop_too_long", "out_of_bounds",
                                          [] { run(matmul_tile_loop_too_long, 32, 32, 32); });

// k = 8 ends within the tile, and nobody writes zeros past it.
__global__ void matmul_edge_not_zeroed(const float* a, const float* b, float* out, int, int n,
                                       int k) {
  __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
  const int y = static_cast<int>(threadIdx.y), x = static_cast<int>(threadIdx.x);
  const int row = tile_row(), col = tile_col();
  float sum = 0;
  for (int k0 = 0; k0 < k; k0 += kTile) {
    if (k0 + x < k) a_tile[y][x] = a[row * k + k0 + x];
    if (k0 + y < k) b_tile[y][x] = b[(k0 + y) * n + col];
    __syncthreads();
    for (int i = 0; i < kTile; ++i) {
      sum += a_tile[y][i] * b_tile[i][x];  // BUG matmul_edge_not_zeroed
    }
    __syncthreads();
  }
  out[row * n + col] = sum;
}
const Plant matmul_edge_not_zeroed_bug("matmul_edge_not_zeroed", "unwritten",
                                       [] { run(matmul_edge_not_zeroed, 32, 32, 8); });

// k is guarded, the rows and columns of the last block are not.
__global__ void matmul_store_without_guard(const float* a, const float* b, float* out, int m, int n,
                                           int k) {
  const int row = tile_row(), col = tile_col();
  float sum = 0;
  if (row < m && col < n)
    for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
  if (col < n) out[row * n + col] = sum;  // BUG matmul_store_without_guard
}
const Plant matmul_store_without_guard_bug("matmul_store_without_guard", "out_of_bounds",
                                           [] { run(matmul_store_without_guard, 30, 32, 32); });

// Rows of b are n long, not k.
__global__ void matmul_wrong_stride(const float* a, const float* b, float* out, int, int n, int k) {
  const int row = tile_row(), col = tile_col();
  float sum = 0;
  for (int i = 0; i < k; ++i) {
    const float weight = b[i * k + col];  // BUG matmul_wrong_stride
    sum += a[row * k + i] * weight;
  }
  out[row * n + col] = sum;
}
const Plant matmul_wrong_stride_bug("matmul_wrong_stride", "out_of_bounds",
                                    [] { run(matmul_wrong_stride, 32, 32, 64); });

// Two tiles take turns, which saves one barrier of two, not both.
__global__ void matmul_two_tiles_no_barrier(const float* a, const float* b, float* out, int, int n,
                                            int k) {
  __shared__ float a_tile[2][kTile][kTile], b_tile[2][kTile][kTile];
  const int y = static_cast<int>(threadIdx.y), x = static_cast<int>(threadIdx.x);
  const int row = tile_row(), col = tile_col();
  float sum = 0;
  for (int k0 = 0, turn = 0; k0 < k; k0 += kTile, turn ^= 1) {
    a_tile[turn][y][x] = a[row * k + k0 + x];    // BUG matmul_two_tiles_no_barrier
    b_tile[turn][y][x] = b[(k0 + y) * n + col];  // BUG matmul_two_tiles_no_barrier
    for (int i = 0; i < kTile; ++i) {
      sum += a_tile[turn][y][i] * b_tile[turn][i][x];  // BUG matmul_two_tiles_no_barrier
    }
  }
  out[row * n + col] = sum;
}
const Plant matmul_two_tiles_no_barrier_bug("matmul_two_tiles_no_barrier", "race",
                                            [] { run(matmul_two_tiles_no_barrier, 32, 32, 64); });

// Neighbouring lanes take neighbouring rows, n floats apart.
__global__ void matmul_rows_along_x(const float* a, const float* b, float* out, int, int n, int k) {
  const int row = tile_col(), col = tile_row();
  float sum = 0;
  for (int i = 0; i < k; ++i) {
    sum += a[row * k + i] * b[i * n + col];  // BUG matmul_rows_along_x
  }
  out[row * n + col] = sum;  // BUG matmul_rows_along_x
}
const Plant matmul_rows_along_x_bug("matmul_rows_along_x", "uncoalesced",
                                    [] { run(matmul_rows_along_x, 64, 64, 64); });

}  // namespace
}  // namespace gradus::planted
