// The rung wgmma of the matmul ladder as the host sees it: products on Hopper.
#pragma once

#include "gradus/cuda/kernels/matmul.h"
#include "gradus/tensor/tensor.h"

namespace gradus::cuda {

// Whether the current device has these kernels: it is of compute capability 9.0, and this build has
// code for it.
bool has_wgmma();

// The time of wgmma_matmul in the unit of MatmulKernel; infinite where it does not take the
// product.
double wgmma_cost(const MatmulArgs<float>& args, int64_t batches, int64_t multiprocessors);

// out = a b + bias, float32, as exact as by multiply-add units, on the current device and stream.
// REQUIRES: wgmma_cost() is finite; m, n, k and batches are positive.
// Errors: OutOfMemoryError for the planes of the operands, 6 bytes an element.
void wgmma_matmul(const MatmulArgs<float>& args, int64_t batches, int64_t multiprocessors);

// The columns of the tiles of 256 rows, of which each of `clusters` makes one at a time, that give
// products (m, n) the soonest. Narrow tiles read more for each output.
inline int wgmma_columns(int64_t m, int64_t n, int64_t batches, int64_t clusters) {
  constexpr int64_t kReads = 48;  // columns in whose time a tile's rows are read
  const auto time = [&](int64_t width) {
    const int64_t tiles = (m + 255) / 256 * ((n + width - 1) / width) * batches;
    return (tiles + clusters - 1) / clusters * (width + kReads);
  };
  int best = 256;
  for (const int width : {192, 128})
    if (time(width) < time(best)) best = width;
  return best;
}

// Whether a product fills this many multiprocessors with tiles, and has a contiguous dimension that
// is no multiple of 16 bytes: cuBLAS has slow kernels for these. Operands are as those of
// wgmma_matmul_half.
bool wgmma_suits(const Tensor& a, const Tensor& b, const Tensor& out, int64_t multiprocessors);

// out (B, M, N) = a (B, M, K) * b (B, K, N) + bias (N), all of one half type. Returns false and
// does nothing where this is no Hopper, or strides or addresses of a or b are no multiples of 16
// bytes. REQUIRES: out is contiguous; no size is 0.
bool wgmma_matmul_half(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out);

}  // namespace gradus::cuda
