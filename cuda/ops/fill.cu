// fill, arange and linspace.
#include "gradus/cuda/kernels/fill.cuh"

#include "gradus/cuda/backend.h"
#include "gradus/cuda/ops/elementwise.cuh"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

void CudaBackend::fill(const Tensor& out, const Scalar& value) {
  visit(out.dtype(),
        [&]<class T>(TypeTag<T>) { elementwise<T, T>(FillValue<T>{value.cast<T>()}, out); });
}

void CudaBackend::arange(const Tensor& out, const Scalar& start, const Scalar& step) {
  const Context context(out);
  visit_numbers("arange", out.dtype(), [&]<class T>(TypeTag<T>) {
    using Wide = std::conditional_t<std::is_floating_point_v<T>, double, T>;
    launch_pdl(arange_kernel<T, Wide>, linear_launch(context, out.numel()), start.cast<Wide>(),
               step.cast<Wide>(), out.numel(), static_cast<T*>(out.data_ptr()));
  });
}

void CudaBackend::linspace(double first, double last, std::optional<double> base,
                           const Tensor& out) {
  const Context context(out);
  const int64_t n = out.numel();
  const double step = n > 1 ? (last - first) / static_cast<double>(n - 1) : 0;
  visit(out.dtype(), [&]<class T>(TypeTag<T>) {
    launch_pdl(base ? linspace_kernel<true, T> : linspace_kernel<false, T>,
               linear_launch(context, n), first, last, step, base.value_or(0), n,
               static_cast<T*>(out.data_ptr()));
  });
}

}  // namespace gradus::cuda
