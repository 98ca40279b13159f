// Searches in sorted lists, and histc.
#include "gradus/cuda/kernels/order/searchsorted.cuh"

#include "gradus/cuda/backend.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

void CudaBackend::searchsorted(bool right, const Tensor& list, const Tensor& values,
                               const Tensor& out) {
  const Context context(out);
  const int64_t per_list = list.dim() == 1 ? values.numel() : values.size(-1);
  visit_numbers("searchsorted", list.dtype(), [&]<class T>(TypeTag<T>) {
    launch_pdl(searchsorted_kernel<T>, linear_launch(context, values.numel()), right,
               values.numel(), per_list, list.size(-1), static_cast<const T*>(list.data_ptr()),
               static_cast<const T*>(values.data_ptr()), out.data_ptr<int64_t>());
  });
}

void CudaBackend::histc(bool all, double low, double high, const Tensor& x, const Tensor& out) {
  fill(out, 0);
  const int64_t n = x.numel(), bins = out.numel();
  if (n == 0) return;
  if (bins > INT32_MAX / 2) return Backend::histc(all, low, high, x, out);
  const Context context(out);
  // Each block adds all its counts to those of others in the end, which must be little of its work.
  const int64_t share = std::max(4 * bins, int64_t{kHistcBatch * kHistcThreads});
  const int64_t blocks = std::min(ceil_div(n, share), int64_t{4} * context.multiprocessors);
  visit_floating("histc", x.dtype(), [&]<class T>(TypeTag<T>) {
    launch_pdl(histc_kernel<T>,
               {dim3(static_cast<unsigned>(blocks)), kHistcThreads, 0, context.stream},
               static_cast<T>(low), static_cast<T>(high), static_cast<T>(high - low), n,
               static_cast<int>(bins), static_cast<const T*>(x.data_ptr()),
               reinterpret_cast<HistcCount*>(out.data_ptr<int64_t>()));
  });
}

}  // namespace gradus::cuda
