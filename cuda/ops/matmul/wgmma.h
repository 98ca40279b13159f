// The rung wgmma of the matmul ladder as the host sees it: products on Hopper.
#pragma once

#include <array>
#include <string>

#include "gradus/cuda/kernels/matmul/operand.h"
#include "gradus/cuda/runtime/device.h"
#include "gradus/tensor/tensor.h"

namespace gradus::cuda {

// Whether this build has these kernels.
bool built_with_wgmma();

// Whether the current device has them, too, for products, convolutions and attention: it is of
// compute capability 9.0. A build without them warns once where it is. Never with GRADUS_WGMMA=0 in
// the environment, to compare. Simulated devices, where large tiles take long, use them only with
// GRADUS_WGMMA=1.
bool has_wgmma();

// The warning of a build without these kernels on a device; empty where the device could not run
// them.
std::string warning_without_wgmma(const DeviceProperties& device);

// The time of wgmma_matmul in the unit of MatmulKernel; infinite where it does not take the
// product.
double wgmma_cost(const MatmulArgs<float>& args, int64_t batches, int64_t multiprocessors);

// out = a b + bias, float32, as exact as by multiply-add units, on the current device and stream.
// REQUIRES: wgmma_cost() is finite; m, n, k and batches are positive.
// Errors: OutOfMemoryError for the planes of the operands, 6 bytes an element.
void wgmma_matmul(const MatmulArgs<float>& args, int64_t batches, int64_t multiprocessors);

// The tiles that a cluster of blocks makes of a product of half types, one at a time.
struct WgmmaTileCost {
  int height, width, blocks;
  int step, start;  // the times of 64 terms and of all else, in units of 2 ns on an H200
};
inline constexpr std::array<WgmmaTileCost, 5> kWgmmaTiles = {{{256, 256, 2, 304, 1900},
                                                              {256, 192, 2, 240, 1900},
                                                              {256, 128, 2, 176, 1900},
                                                              {128, 128, 2, 118, 1450},
                                                              {64, 64, 1, 98, 1200}}};

// How many tiles of height x width cover `batches` results (m, n).
inline int64_t wgmma_tiles(int64_t m, int64_t n, int64_t batches, int64_t height, int64_t width) {
  return (m + height - 1) / height * ((n + width - 1) / width) * batches;
}

// The place in kWgmmaTiles of those that give products (m, k)(k, n) the soonest. Small tiles read
// more for each output.
size_t wgmma_tile(int64_t m, int64_t k, int64_t n, int64_t batches, int64_t multiprocessors);

// Whether wgmma_matmul_half beats cuBLAS. A few small tiles with short sums are done sooner. Where
// a product fills this many multiprocessors with tiles, and has a contiguous dimension that is no
// multiple of 16 bytes, cuBLAS has slow kernels. Operands are as those of wgmma_matmul_half.
bool wgmma_suits(const Tensor& a, const Tensor& b, const Tensor& out, int64_t multiprocessors);

// out (B, M, N) = a (B, M, K) * b (B, K, N) + bias (N), all of one half type. Returns false and
// does nothing where this is no Hopper, or strides or addresses of a or b are no multiples of 16
// bytes. REQUIRES: out is contiguous; no size is 0.
bool wgmma_matmul_half(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out);

}  // namespace gradus::cuda
