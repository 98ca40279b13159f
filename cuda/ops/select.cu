// The first elements of the order along a dimension.
#include "gradus/cuda/kernels/select.cuh"

#include "gradus/cuda/backend.h"
#include "gradus/cuda/ops/rows.cuh"
#include "gradus/cuda/ops/sort.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

namespace {

// Few rows keep few blocks busy, which long rows are too much for.
constexpr int64_t kManyRows = 16, kLongRow = 1 << 17;

}  // namespace

void CudaBackend::select(const Tensor& x, int64_t dim, bool descending, int64_t first,
                         const Tensor& values, const Tensor& indices) {
  const int64_t n = x.sizes()[dim], count = values.sizes()[dim];
  const bool few_long = x.numel() / n < kManyRows && n > kLongRow;
  if (first + count > kMostSelected || few_long || n <= kShortRow || n > kLongestRow)
    return Backend::select(x, dim, descending, first, values, indices);
  const Context context(x);
  with_rows(x, dim, values, indices,
            [&](const Tensor& from, const Tensor& to, const Tensor& places) {
              visit_numbers("select", x.dtype(), [&]<class T>(TypeTag<T>) {
                const auto rows = rows_of<T>(from, descending, to, places);
                launch(select_in_rows<T>,
                       {dim3(static_cast<unsigned>(rows.count)), kSelectThreads, 0, context.stream},
                       rows, static_cast<int>(first), static_cast<int>(count));
              });
            });
}

}  // namespace gradus::cuda
