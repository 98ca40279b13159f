// Products of 16 bits and of TF32: cuBLAS, and kernels of ours where these are faster or there is
// none.
#include <algorithm>

#include "gradus/cuda/ops/cublas.h"

#include "gradus/cuda/kernels/matmul/tiled.cuh"
#include "gradus/cuda/ops/matmul.h"
#include "gradus/cuda/ops/matmul/column_sums.h"
#include "gradus/cuda/ops/matmul/kernel.h"
#include "gradus/cuda/ops/matmul/rows.h"
#include "gradus/cuda/ops/matmul/wgmma.h"
#include "gradus/cuda/runtime/launch.h"
#include "gradus/tensor/base/batch_invariant.h"
#include "gradus/tensor/base/precision.h"
#include "gradus/tensor/raw/raw.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

namespace {
template <class T>
MatmulOperand<T> half_operand(const Tensor& x, int outer, int depth) {
  const IntArrayRef sizes = x.sizes(), strides = x.strides();
  MatmulOperand<T> out = {static_cast<const T*>(x.data_ptr()),
                          strides[0],
                          strides[outer],
                          strides[depth],
                          false,
                          false};
  // The stride of a dimension of size 1 has no meaning.
  out.along_outer =
      sizes[depth] == 1 || (sizes[outer] > 1 && std::abs(out.outer) < std::abs(out.depth));
  return out;
}

template <class T, class Out>
void multiply_half(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out) {
  MatmulArgs<T, Out> args = {half_operand<T>(a, 1, 2),
                             half_operand<T>(b, 2, 1),
                             bias.defined() ? static_cast<const Out*>(bias.data_ptr()) : nullptr,
                             bias.defined() ? bias.strides()[0] : 0,
                             static_cast<Out*>(out.data_ptr()),
                             a.sizes()[1],
                             b.sizes()[2],
                             a.sizes()[2]};
  constexpr int64_t kMostBatches = 65535;  // of one grid
  const auto tiles = static_cast<unsigned>((args.m + 31) / 32 * ((args.n + 31) / 32));
  for (int64_t batches = out.sizes()[0]; batches > 0; batches -= kMostBatches) {
    const int64_t count = std::min(batches, kMostBatches);
    launch_pdl(matmul_tiled<T, Out, float>, {dim3(tiles, 1, static_cast<unsigned>(count)), 1024},
               args);
    args.a.data += count * args.a.batch;
    args.b.data += count * args.b.batch;
    args.out += count * args.m * args.n;
  }
}

// All batches share one b: their rows make one product.
bool shares_factor(const Tensor& a, const Tensor& b) {
  return a.sizes()[0] > 1 && b.strides()[0] == 0 && a.strides()[0] == a.sizes()[1] * a.strides()[1];
}
// x (1, B rows, .) of x (B, rows, .).
Tensor in_one_batch(const Tensor& x) {
  const IntArrayRef sizes = x.sizes(), strides = x.strides();
  return raw::as_strided(x, {1, sizes[0] * sizes[1], sizes[2]},
                         {sizes[0] * strides[0], strides[1], strides[2]}, x.storage_offset());
}
// x itself where one of its last two dimensions is contiguous in whole lines, and its matrices
// begin at different multiples of 16 bytes; else a copy.
Tensor in_lines(const Tensor& x) {
  const bool rows = x.strides()[2] == 1 && x.strides()[1] == x.sizes()[2];
  const bool columns = x.strides()[1] == 1 && x.strides()[2] == x.sizes()[1];
  const bool apart = x.sizes()[0] == 1 || (x.strides()[0] != 0 && x.strides()[0] % 8 == 0);
  const bool aligned = reinterpret_cast<uintptr_t>(x.data_ptr()) % 16 == 0;
  return (rows || columns) && apart && aligned ? x : raw::clone(x);
}

// Multiplies by wgmma where n and k are whole units of 16 bytes: neither the rows nor their place
// in memory matter there. False, and nothing done, elsewhere.
bool wgmma_matmul_alike(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out) {
  if (!has_wgmma() || a.sizes()[2] % 8 != 0 || b.sizes()[2] % 8 != 0 || a.sizes()[2] == 0)
    return false;
  const Tensor rows = raw::contiguous(a);
  return wgmma_matmul_half(in_lines(rows), in_lines(b), bias, out);
}
}  // namespace

size_t wgmma_tile(int64_t m, int64_t k, int64_t n, int64_t batches, int64_t multiprocessors) {
  if (gradus::detail::batch_invariant())
    m = kPlannedRows, batches = 1, multiprocessors = kPlannedMultiprocessors;
  const auto time = [&](const WgmmaTileCost& tile) {
    const int64_t tiles = wgmma_tiles(m, n, batches, tile.height, tile.width);
    const int64_t clusters = std::max<int64_t>(1, multiprocessors / tile.blocks);
    return (tiles + clusters - 1) / clusters * ((k + 63) / 64) * tile.step + tile.start;
  };
  size_t best = 0;
  for (size_t i = 1; i < kWgmmaTiles.size(); ++i)
    if (time(kWgmmaTiles[i]) < time(kWgmmaTiles[best])) best = i;
  return best;
}

bool wgmma_suits(const Tensor& a, const Tensor& b, const Tensor& out, int64_t multiprocessors) {
  const auto is_odd = [](const Tensor& x) {
    return x.sizes()[x.strides()[2] == 1 ? 2 : 1] % 8 != 0;
  };
  const int64_t m = out.sizes()[1], n = out.sizes()[2], k = a.sizes()[2], batches = out.sizes()[0];
  if (k == 0 || std::min(m, n) < 128) return false;
  const auto tiles = [&](int64_t size) { return wgmma_tiles(m, n, batches, size, size); };
  constexpr int64_t kShort = 512;
  if (tiles(64) <= multiprocessors && k <= kShort) return true;
  return (is_odd(a) || is_odd(b) || is_odd(out)) && tiles(128) >= multiprocessors / 2;
}

void matmul_half(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out) {
  const std::string_view name = matmul_kernel();
  check_batch_invariant(name);
  const bool alike = gradus::detail::batch_invariant();
  const bool any = name == "automatic", has_terms = a.sizes()[2] > 0;
  if (any && shares_factor(a, b))
    return matmul_half(in_one_batch(a), raw::narrow(b, 0, 0, 1), bias, in_one_batch(out));
  if (any && alike && wgmma_matmul_alike(a, b, bias, out)) return;
  if (any && !alike && few_rows_matmul(a, b, bias, out)) return;
  if (any && !alike &&
      wgmma_suits(a, b, out, getDeviceProperties(current_device()).multiprocessors) &&
      wgmma_matmul_half(a, b, bias, out))
    return;
  if ((any || name == "cublas") && !alike && has_terms && has_cublas_lt() &&
      cublas_lt_matmul(a, b, bias, out))
    return;
  if (name == "wgmma" && has_terms && wgmma_matmul_half(a, b, bias, out)) return;
  check<NotImplementedError>(
      any || name == "tiled" || !has_terms, "matmul: the kernel '", name, "' multiplies no ",
      a.dtype(), name == "cublas" || name == "wgmma" ? " of these strides, or on this device" : "",
      "; pick another with set_matmul_kernel(\"automatic\")");
  const auto multiply = [&]<class T>(TypeTag<T>) {
    out.dtype() == kFloat ? multiply_half<T, float>(a, b, bias, out)
                          : multiply_half<T, T>(a, b, bias, out);
  };
  a.dtype() == kHalf ? multiply(TypeTag<Half>{}) : multiply(TypeTag<BFloat16>{});
}

void matmul_half_sums(const Tensor& a, const Tensor& b, const Tensor& out, const Tensor& sums) {
  // cuBLAS needs no launch for the sums, which take longer than what `wgmma` wins for few tiles.
  // Its sums of large matrices take 13 us on an H200, where memory allows 3 to 11.
  const bool sums_apart =
      sums_columns(a) && !gradus::detail::batch_invariant() && matmul_kernel() == "automatic";
  const int64_t multiprocessors = getDeviceProperties(current_device()).multiprocessors;
  const bool few = wgmma_tiles(a.sizes()[1], b.sizes()[2], 1, 64, 64) <= multiprocessors;
  if (matmul_kernel() == "automatic" && has_cublas_lt() && !gradus::detail::batch_invariant() &&
      (few || !wgmma_suits(a, b, out, multiprocessors)) &&
      !(sums_apart && a.numel() >= kLargeMatrix) && cublas_lt_matmul(a, b, Tensor(), out, sums))
    return;
  matmul_half(a, b, Tensor(), out);
  if (sums_apart) return sum_columns(a, sums);
  const Tensor of_rows = raw::reduce(ReduceOp::sum, a, IntArrayRef{2}, kFloat);
  raw::copy_(sums, raw::alias(*raw::try_view(of_rows, {sums.numel()})));
}

bool uses_tf32(const Tensor& a, const Tensor& out) {
  constexpr int64_t kFewTerms = 1 << 23;
  return gradus::detail::float32_matmul_precision() != Float32MatmulPrecision::HIGHEST &&
         has_cublas_lt() && matmul_kernel() == "automatic" && !gradus::detail::batch_invariant() &&
         out.numel() * a.sizes()[2] > kFewTerms;
}

bool matmul_tf32(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out) {
  return uses_tf32(a, out) && cublas_lt_matmul(a, b, bias, out);
}

}  // namespace gradus::cuda
