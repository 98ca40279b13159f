// Max and average pools.
#include "gradus/cuda/kernels/windows/pool.cuh"

#include "gradus/cuda/backend.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

void CudaBackend::max_pool(const Pool& pool, const Tensor& x, const Tensor& values,
                           const Tensor& indices) {
  const Context context(values);
  const int64_t n = values.numel();
  visit_numbers("max_pool", x.dtype(), [&]<class T>(TypeTag<T>) {
    launch(max_pool_kernel<T>, linear_launch(context, n), pool, n,
           static_cast<const T*>(x.data_ptr()), values.data_ptr<T>(), indices.data_ptr<int64_t>());
  });
}

void CudaBackend::max_pool_grad(const Pool& pool, const Tensor& grad, const Tensor& indices,
                                const Tensor& out) {
  const Context context(out);
  const int64_t n = out.numel();
  visit_floating("max_pool", grad.dtype(), [&]<class T>(TypeTag<T>) {
    launch(max_pool_grad_kernel<T>, linear_launch(context, n), pool, n,
           static_cast<const T*>(grad.data_ptr()), static_cast<const int64_t*>(indices.data_ptr()),
           out.data_ptr<T>());
  });
}

void CudaBackend::average_pool(const Pool& pool, const Tensor& x, const Tensor& out) {
  const Context context(out);
  const int64_t n = out.numel();
  visit_floating("average_pool", x.dtype(), [&]<class T>(TypeTag<T>) {
    launch(average_pool_kernel<T>, linear_launch(context, n), pool, n,
           static_cast<const T*>(x.data_ptr()), out.data_ptr<T>());
  });
}

void CudaBackend::average_pool_grad(const Pool& pool, const Tensor& grad, const Tensor& out) {
  const Context context(out);
  const int64_t n = out.numel();
  visit_floating("average_pool", grad.dtype(), [&]<class T>(TypeTag<T>) {
    launch(average_pool_grad_kernel<T>, linear_launch(context, n), pool, n,
           static_cast<const T*>(grad.data_ptr()), out.data_ptr<T>());
  });
}

}  // namespace gradus::cuda
