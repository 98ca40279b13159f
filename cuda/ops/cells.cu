// Recurrent cells.
#include "gradus/cuda/kernels/cells.cuh"

#include "gradus/cuda/backend.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

namespace {

template <class T>
T* at(const Tensor& x) {
  return static_cast<T*>(x.data_ptr());
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

void CudaBackend::lstm_cell_grad(const Tensor& grad_h, const Tensor& c_prev, const Tensor& gates,
                                 const Tensor& c, const Tensor& grad_c, const Tensor& grad_x) {
  const Context context(c);
  visit_floating("lstm_cell", c.dtype(), [&]<class T>(TypeTag<T>) {
    launch_pdl(lstm_grad_kernel<T>, linear_launch(context, c.numel()), c.numel(), c.size(1),
               at<T>(grad_h), at<T>(c_prev), at<T>(gates), at<T>(c), at<T>(grad_c), at<T>(grad_x));
  });
}

void CudaBackend::gru_cell(const Tensor& x, const Tensor& s, const Tensor& h_prev,
                           const Tensor& gates, const Tensor& h) {
  const Context context(h);
  visit_floating("gru_cell", h.dtype(), [&]<class T>(TypeTag<T>) {
    launch_pdl(gru_kernel<T>, linear_launch(context, h.numel()), h.numel(), h.size(1), at<T>(x),
               at<T>(s), at<T>(h_prev), at<T>(gates), at<T>(h));
  });
}

void CudaBackend::gru_cell_grad(const Tensor& h_prev, const Tensor& s, const Tensor& gates,
                                const Tensor& grad_h, const Tensor& grad_x, const Tensor& grad_s) {
  const Context context(h_prev);
  visit_floating("gru_cell", h_prev.dtype(), [&]<class T>(TypeTag<T>) {
    launch_pdl(gru_grad_kernel<T>, linear_launch(context, h_prev.numel()), h_prev.numel(),
               h_prev.size(1), at<T>(h_prev), at<T>(s), at<T>(gates), at<T>(grad_h), at<T>(grad_x),
               at<T>(grad_s));
  });
}

}  // namespace gradus::cuda
