#include "gradus/cuda/kernels/arg_reduce.cuh"

#include "gradus/cuda/backend.h"
#include "gradus/cuda/division.h"
#include "gradus/tensor/dispatch.h"

namespace gradus::cuda {

void CudaBackend::arg_reduce(bool largest, const Tensor& x, int64_t dim, const Tensor& values,
                             const Tensor& indices) {
  const Context context(values);
  // x is walked over the outputs, whose size in dim is 1, so that its stride there does not matter.
  const auto kept = collapse<3>(values.sizes(), {values.strides(), indices.strides(), x.strides()});
  const int64_t n = x.sizes()[dim], stride = x.strides()[dim];
  const int64_t next = kept.dims > 0 ? kept.stride[2][kept.dims - 1] : 0;
  const Division division = divide_block(kept.numel, next, n, stride);
  const auto blocks = static_cast<unsigned>(ceil_div(kept.numel, int64_t{division.kept}));
  const auto threads = static_cast<unsigned>(division.kept * division.reduced);
  visit_numbers(largest ? "max" : "min", x.dtype(), [&]<class T>(TypeTag<T>) {
    launch(arg_reduce_kernel<T>, {dim3(blocks), threads, 0, context.stream}, largest, kept, n,
           stride, division, static_cast<const T*>(x.data_ptr()),
           static_cast<T*>(values.data_ptr()), static_cast<int64_t*>(indices.data_ptr()));
  });
}

}  // namespace gradus::cuda
