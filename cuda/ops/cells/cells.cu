// Recurrent cells.
#include "gradus/cuda/kernels/cells.cuh"

#include "gradus/cuda/backend.h"
#include "gradus/cuda/ops/cells/cells_clusters.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

namespace {

template <class T>
T* at(const Tensor& x) {
  return x.defined() ? static_cast<T*>(x.data_ptr()) : nullptr;
}

}  // namespace

void CudaBackend::lstm_cell(const Tensor& x, const Tensor& s, const Tensor& c_prev,
                            const Tensor& gates, const Tensor& c, const Tensor& h) {
  const Context context(c);
  visit_floating("lstm_cell", c.dtype(), [&]<class T>(TypeTag<T>) {
    launch_pdl(lstm_kernel<T>, linear_launch(context, c.numel()), c.numel(), c.size(1), at<T>(x),
               at<T>(s), at<T>(c_prev), at<T>(gates), at<T>(c), at<T>(h));
  });
}

void CudaBackend::lstm_cell_grad(const Tensor& grad, const Tensor& c_prev, const Tensor& gates,
                                 const Tensor& c, const Tensor& grad_h, const Tensor& grad_c,
                                 const Tensor& grad_x) {
  const Context context(c);
  visit_floating("lstm_cell", c.dtype(), [&]<class T>(TypeTag<T>) {
    launch_pdl(lstm_grad_kernel<T>, linear_launch(context, c.numel()), c.numel(), c.size(1),
               at<T>(grad), at<T>(c_prev), at<T>(gates), at<T>(c), at<T>(grad_h), at<T>(grad_c),
               at<T>(grad_x));
  });
}

bool CudaBackend::takes_lstm_steps(Device device, ScalarType dtype, int64_t units) {
  const DeviceGuard guard(device);
  return has_lstm_clusters(dtype, units);
}

void CudaBackend::lstm_steps(bool reverse, const Tensor& x, const Tensor& h, const Tensor& c,
                             const Tensor& weight, const Tensor& bias, const Tensor& gates,
                             const Tensor& cells, const Tensor& states) {
  if (!takes_lstm_steps(x.device(), x.scalar_type(), h.size(1)))
    return Backend::lstm_steps(reverse, x, h, c, weight, bias, gates, cells, states);
  lstm_by_clusters(reverse, x, h, c, weight, bias, gates, cells, states);
}

void CudaBackend::lstm_steps_grad(bool reverse, const Tensor& grad_states, const Tensor& grad_cells,
                                  const Tensor& c, const Tensor& weight, const Tensor& gates,
                                  const Tensor& cells, const Tensor& grad_x, const Tensor& grad_h,
                                  const Tensor& grad_c) {
  if (!takes_lstm_steps(c.device(), c.scalar_type(), c.size(1)))
    return Backend::lstm_steps_grad(reverse, grad_states, grad_cells, c, weight, gates, cells,
                                    grad_x, grad_h, grad_c);
  lstm_grad_by_clusters(reverse, grad_states, grad_cells, c, weight, gates, cells, grad_x, grad_h,
                        grad_c);
}

void CudaBackend::gru_cell(const Tensor& x, const Tensor& s, const Tensor& h_prev,
                           const Tensor& gates, const Tensor& h) {
  const Context context(h);
  visit_floating("gru_cell", h.dtype(), [&]<class T>(TypeTag<T>) {
    launch_pdl(gru_kernel<T>, linear_launch(context, h.numel()), h.numel(), h.size(1), at<T>(x),
               at<T>(s), at<T>(h_prev), at<T>(gates), at<T>(h));
  });
}

void CudaBackend::gru_cell_grad(const Tensor& grad, const Tensor& h_prev, const Tensor& s,
                                const Tensor& gates, const Tensor& grad_h, const Tensor& grad_x,
                                const Tensor& grad_s) {
  const Context context(h_prev);
  visit_floating("gru_cell", h_prev.dtype(), [&]<class T>(TypeTag<T>) {
    launch_pdl(gru_grad_kernel<T>, linear_launch(context, h_prev.numel()), h_prev.numel(),
               h_prev.size(1), at<T>(grad), at<T>(h_prev), at<T>(s), at<T>(gates), at<T>(grad_h),
               at<T>(grad_x), at<T>(grad_s));
  });
}

}  // namespace gradus::cuda
