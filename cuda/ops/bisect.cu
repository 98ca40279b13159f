// Searches in sorted lists.
#include "gradus/cuda/kernels/bisect.cuh"

#include "gradus/cuda/backend.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

void CudaBackend::bisect(bool right, const Tensor& list, const Tensor& values, const Tensor& out) {
  const Context context(out);
  const int64_t per_list = list.dim() == 1 ? values.numel() : values.size(-1);
  visit_numbers("searchsorted", list.dtype(), [&]<class T>(TypeTag<T>) {
    launch(bisect_kernel<T>, linear_launch(context, values.numel()), right, values.numel(),
           per_list, list.size(-1), static_cast<const T*>(list.data_ptr()),
           static_cast<const T*>(values.data_ptr()), out.data_ptr<int64_t>());
  });
}

}  // namespace gradus::cuda
