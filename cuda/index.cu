#include "gradus/cuda/kernels/index.cuh"

#include "gradus/cuda/backend.h"
#include "gradus/cuda/elementwise.cuh"
#include "gradus/tensor/dispatch.h"

namespace gradus::cuda {

void CudaBackend::gather(const IndexRule& rule, const Tensor& x, int64_t dim, const Tensor& index,
                         const Tensor& out) {
  const Context context(out);
  Dims fixed = x.impl().strides;
  fixed[dim] = 0;
  const auto walk = collapse<3>(out.sizes(), {out.strides(), index.strides(), fixed});
  visit_bits(out.element_size(), [&]<class T>(TypeTag<T>) {
    launch(gather_kernel<T>, linear_launch(context, walk.numel), walk, rule, x.strides()[dim],
           device_fault(), static_cast<T*>(out.data_ptr()),
           static_cast<const int64_t*>(index.data_ptr()), static_cast<const T*>(x.data_ptr()));
  });
}

void CudaBackend::add_offsets(const IndexRule& rule, int64_t stride, const Tensor& index,
                              const Tensor& out) {
  const Context context(out);  // whose device the record is of
  elementwise<int64_t, int64_t>(AddOffset{rule, stride, device_fault()}, out, out, index);
}

void CudaBackend::where(const Tensor& condition, const Tensor& x, const Tensor& y,
                        const Tensor& out) {
  if (out.numel() == 0) return;
  const Context context(out);
  const auto walk =
      collapse<4>(out.sizes(), {out.strides(), condition.strides(), x.strides(), y.strides()});
  visit_bits(out.element_size(), [&]<class T>(TypeTag<T>) {
    launch_elementwise(context, Where{}, walk, static_cast<T*>(out.data_ptr()),
                       static_cast<const bool*>(condition.data_ptr()),
                       static_cast<const T*>(x.data_ptr()), static_cast<const T*>(y.data_ptr()));
  });
}

}  // namespace gradus::cuda
