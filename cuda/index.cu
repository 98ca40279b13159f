#include "gradus/cuda/kernels/index.cuh"

#include "gradus/cuda/backend.h"
#include "gradus/cuda/grid.h"
#include "gradus/tensor/dispatch.h"

namespace gradus::cuda {

namespace {
IndexedDim indexed(const Tensor& x, int64_t dim) {
  return {static_cast<int>(dim), x.sizes()[dim], x.strides()[dim]};
}
}  // namespace

void CudaBackend::gather(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& out) {
  const Context context(out);
  Dims fixed = x.impl().strides;
  fixed[dim] = 0;
  const auto walk = collapse<3>(out.sizes(), {out.strides(), index.strides(), fixed});
  visit_bits(out.element_size(), [&]<class T>(TypeTag<T>) {
    launch(gather_kernel<T>, linear_launch(context, walk.numel), walk, indexed(x, dim),
           device_fault(), static_cast<T*>(out.data_ptr()),
           static_cast<const int64_t*>(index.data_ptr()), static_cast<const T*>(x.data_ptr()));
  });
}

void CudaBackend::scatter_add(int64_t dim, const Tensor& index, const Tensor& src,
                              const Tensor& out) {
  const Context context(out);
  Dims sizes = index.impl().sizes;
  const ScatterRun run{sizes[dim], index.strides()[dim], src.strides()[dim]};
  sizes[dim] = 1;
  const auto walk = collapse<3>(sizes, {out.strides(), index.strides(), src.strides()});
  visit_numbers("scatter_add", out.dtype(), [&]<class T>(TypeTag<T>) {
    launch(scatter_add_kernel<T>, linear_launch(context, walk.numel), walk, indexed(out, dim), run,
           device_fault(), static_cast<T*>(out.data_ptr()),
           static_cast<const int64_t*>(index.data_ptr()), static_cast<const T*>(src.data_ptr()));
  });
}

}  // namespace gradus::cuda
