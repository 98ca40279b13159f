// The gradient of a bias of a half type: sums of the columns of a matrix.
#include "gradus/cuda/ops/matmul/column_sums.h"

#include "gradus/cuda/ops/matmul/column_sums.cuh"
#include "gradus/tensor/raw/raw.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

bool sums_columns(const Tensor& a) {
  constexpr int64_t kMostColumns = int64_t{1} << 30;
  const int64_t columns = a.sizes()[1], leading = a.strides()[2];
  return a.sizes()[0] == 1 && a.strides()[1] == 1 && columns <= kMostColumns &&
         leading >= columns && leading % kSumsWidth == 0 &&
         reinterpret_cast<uintptr_t>(a.data_ptr()) % 16 == 0;
}

void sum_columns(const Tensor& a, const Tensor& sums) {
  with_summed_columns(
      Context(a), a.sizes()[2], a.sizes()[1], a.strides()[2],
      [&](const LaunchConfig& config, const SummedColumns& of) {
        const auto run = [&]<class T, class Out>(TypeTag<T>, TypeTag<Out>) {
          launch_pdl(half_column_sums<T, Out>, config, of, static_cast<const T*>(a.data_ptr()),
                     static_cast<Out*>(sums.data_ptr()));
        };
        const auto of_type = [&]<class T>(TypeTag<T> type) {
          sums.dtype() == kFloat ? run(type, TypeTag<float>{}) : run(type, type);
        };
        a.dtype() == kHalf ? of_type(TypeTag<Half>{}) : of_type(TypeTag<BFloat16>{});
      });
}

void sum_columns_of(const Tensor& x, const Tensor& sums) {
  const int64_t n = sums.numel(), rows = x.numel() / n;
  const Tensor turned = raw::alias(x, {1, n, rows}, {0, 1, n});
  if (sums_columns(turned)) return sum_columns(turned, sums);
  const Tensor of_rows = raw::reduce(ReduceOp::sum, turned, IntArrayRef{2}, kFloat);
  raw::copy_(sums, raw::alias(of_rows, {n}, {1}));
}

}  // namespace gradus::cuda
