// Starts products of few rows of half types.
#include "gradus/cuda/ops/matmul/rows.h"

#include <span>
#include <type_traits>

#include "gradus/cuda/kernels/decoding/matmul_rows.cuh"
#include "gradus/cuda/ops/matmul/merge.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/cuda/runtime/launch.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

namespace {

constexpr int64_t kMostRows = 16, kLeastColumns = 64;
// cuBLAS reads weights as large in 0.93 of the time, where its kernels take them.
constexpr int64_t kLargeWeight = 48 << 20;

// x (1, ., .), whose terms are the dimension `depth`, in units of 16 bytes.
bool lies_along_terms(const Tensor& x, int outer, int depth) {
  return x.strides()[depth] == 1 && x.sizes()[depth] % 8 == 0 &&
         (x.sizes()[outer] == 1 || (x.strides()[outer] >= 0 && x.strides()[outer] % 8 == 0)) &&
         reinterpret_cast<uintptr_t>(x.data_ptr()) % 16 == 0;
}

template <class T, class Out>
void run(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out) {
  const MatmulArgs<T, Out> args = {
      {static_cast<const T*>(a.data_ptr()), 0, a.strides()[1], 1, false, true},
      {static_cast<const T*>(b.data_ptr()), 0, b.strides()[2], 1, false, true},
      bias.defined() ? static_cast<const Out*>(bias.data_ptr()) : nullptr,
      bias.defined() ? bias.strides()[0] : 0,
      static_cast<Out*>(out.data_ptr()),
      a.sizes()[1],
      b.sizes()[2],
      a.sizes()[2]};
  const auto start = [&]<class Shape>(Shape) {
    const auto blocks = static_cast<unsigned>(ceil_div(args.n, int64_t{Shape::kCols}));
    const LaunchConfig config{dim3(blocks), Shape::kThreads};
    const auto by = [&](const void* kernel) -> ProductOfRows {
      return {kernel, config, std::as_bytes(std::span(&args, 1)), a, b, bias, out};
    };
    if constexpr (std::is_same_v<T, Out> && Shape::kDown == 1)
      if (args.m == 1 && blocks <= kFewBlocks &&
          merge_norm(by(detail::handle(matmul_normalized_row<T, Shape>))))
        return;
    launch_pdl(matmul_rows<T, Out, Shape>, config, args, {});
    if constexpr (std::is_same_v<T, Out>)
      note_product(by(detail::handle(matmul_rows<T, Out, Shape>)));
  };
  // Blocks read all rows: with many, they are wider.
  args.m <= 8 ? start(RowsShape<1, 1>{}) : start(RowsShape<2, 2>{});
}

}  // namespace

bool few_rows_matmul(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out) {
  if (out.sizes()[0] != 1 || out.sizes()[1] > kMostRows || out.sizes()[2] < kLeastColumns ||
      a.sizes()[2] == 0 || (b.numel() > kLargeWeight && b.sizes()[2] % 8 == 0) ||
      !lies_along_terms(a, 1, 2) || !lies_along_terms(b, 2, 1))
    return false;
  const auto start = [&]<class T>(TypeTag<T>) {
    out.dtype() == kFloat ? run<T, float>(a, b, bias, out) : run<T, T>(a, b, bias, out);
  };
  a.dtype() == kHalf ? start(TypeTag<Half>{}) : start(TypeTag<BFloat16>{});
  return true;
}

}  // namespace gradus::cuda
