// The derivatives of activations, with the sums of their columns, by which a layer before them gets
// the gradient of its bias.
#include "gradus/cuda/kernels/formulas/half_gelu.cuh"
#include "gradus/cuda/kernels/map.cuh"

#include "gradus/cuda/backend.h"
#include "gradus/cuda/ops/matmul/column_sums.cuh"
#include "gradus/cuda/ops/row_function.cuh"
#include "gradus/tensor/raw/raw.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

namespace {
// Whether the kernel takes x, of these columns.
bool lies(const Tensor& x, int64_t columns) {
  return x.is_contiguous() && columns % kSumsWidth == 0 &&
         reinterpret_cast<uintptr_t>(x.data_ptr()) % 16 == 0;
}

// f(grad times the derivative), of an op for which raw::sums_beside() is true.
template <class F>
void with_derivative(UnaryOp op, const F& f) {
  switch (op) {
    case UnaryOp::relu:
      return f(MapGrad<UnaryOp::relu>{});
    case UnaryOp::silu:
      return f(MapGrad<UnaryOp::silu>{});
    default:
      return f(GeluGradOfHalf{});
  }
}
}  // namespace

void CudaBackend::map_grad_sums(UnaryOp op, const Tensor& grad, const Tensor& x, const Tensor& y,
                                const Tensor& out, const Tensor& sums) {
  const int64_t columns = sums.numel(), rows = out.numel() / columns;
  const Tensor& read = x.defined() ? x : y;
  const ScalarType dtype = out.scalar_type();
  const bool is_half = dtype == kHalf || dtype == kBFloat16;
  if (!raw::sums_beside(op) || !is_half || !lies(grad, columns) || !lies(read, columns) ||
      !lies(out, columns))
    return Backend::map_grad_sums(op, grad, x, y, out, sums);
  with_derivative(op, [&](auto derivative) {
    const auto f = row_function<float, float, float>(derivative);
    const auto run = [&]<class T>(TypeTag<T>) {
      with_summed_columns(Context(out), rows, columns, columns,
                          [&](const LaunchConfig& config, const SummedColumns& of) {
                            launch_pdl(half_results_and_sums<std::remove_const_t<decltype(f)>, T>,
                                       config, f, of, static_cast<const T*>(grad.data_ptr()),
                                       static_cast<const T*>(read.data_ptr()),
                                       static_cast<T*>(out.data_ptr()), sums.data_ptr<float>());
                          });
    };
    dtype == kHalf ? run(TypeTag<Half>{}) : run(TypeTag<BFloat16>{});
  });
}

}  // namespace gradus::cuda
