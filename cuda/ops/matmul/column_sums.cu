// The gradient of a bias of a half type: sums of the columns of a matrix.
#include "gradus/cuda/ops/matmul/column_sums.h"

#include <algorithm>

#include "gradus/cuda/kernels/rows/half_column_sums.cuh"
#include "gradus/cuda/runtime/context.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/cuda/runtime/launch.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

bool sums_columns(const Tensor& a) {
  constexpr int64_t kMostColumns = int64_t{1} << 30;
  const int64_t columns = a.sizes()[1];
  return a.sizes()[0] == 1 && a.strides()[1] == 1 && columns % kSumsWidth == 0 &&
         columns <= kMostColumns && a.strides()[2] >= columns && a.strides()[2] % kSumsWidth == 0 &&
         reinterpret_cast<uintptr_t>(a.data_ptr()) % 16 == 0;
}

void sum_columns(const Tensor& a, const Tensor& sums) {
  const Context context(a);
  const int64_t columns = a.sizes()[1], rows = a.sizes()[2];
  const int64_t across = ceil_div(columns, int64_t{kSumsColumns});
  // A few blocks of a multiprocessor, with some rows for each thread.
  constexpr int64_t kBlocks = 4, kLeastRows = 4 * kSumsDown;
  const int64_t wanted = std::clamp<int64_t>(context.multiprocessors * kBlocks / across, 1,
                                             ceil_div(rows, kLeastRows));
  const int64_t share = ceil_div(rows, wanted), lines = ceil_div(rows, share);
  const Scratch table(static_cast<size_t>(lines * columns) * sizeof(float));
  const auto run = [&]<class T>(TypeTag<T>) {
    launch_pdl(half_column_sums<T>,
               {dim3(static_cast<unsigned>(across), static_cast<unsigned>(lines)), kSumsThreads, 0,
                context.stream},
               static_cast<const T*>(a.data_ptr()), rows, static_cast<int>(columns), a.strides()[2],
               share, table.as<float>());
    const auto totals = [&]<class Out>(TypeTag<Out>) {
      launch_pdl(half_column_totals<Out>,
                 {dim3(static_cast<unsigned>(ceil_div(columns, int64_t{kTotalsAcross}))),
                  kTotalsAcross * kTotalsDown, 0, context.stream},
                 static_cast<const float*>(table.as<float>()), static_cast<int>(lines),
                 static_cast<int>(columns), static_cast<Out*>(sums.data_ptr()));
    };
    sums.dtype() == kFloat ? totals(TypeTag<float>{}) : totals(TypeTag<T>{});
  };
  a.dtype() == kHalf ? run(TypeTag<Half>{}) : run(TypeTag<BFloat16>{});
}

}  // namespace gradus::cuda
