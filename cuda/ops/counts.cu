// Random counts (CountOp).
#include "gradus/cuda/kernels/counts.cuh"

#include "gradus/cuda/backend.h"
#include "gradus/cuda/runtime/grid.h"

namespace gradus::cuda {

void CudaBackend::count(CountOp op, PhiloxState state, const Tensor& x, const Tensor& y,
                        const Tensor& out) {
  const Context context(out);
  check_draw(state);
  const LaunchConfig config = linear_launch(context, out.numel());
  constexpr IndexRule kWrongRate{
      "poisson: invalid Poisson rate, expected rate to be non-negative and finite; clamp the "
      "rates, and leave out NaN and infinities",
      0, -1};
  Fault* const fault = device_fault();
  visit(out.scalar_type(), [&]<class S>(TypeTag<S>) {
    if constexpr (isFloatingType(dtype_of<S>)) {
      S* const to = static_cast<S*>(out.data_ptr());
      const S* const numbers = static_cast<const S*>(x.data_ptr());
      if (op == CountOp::poisson)
        launch_pdl(count_kernel<CountOp::poisson, S, S>, config, state, out.numel(), kWrongRate,
                   fault, to, numbers);
      else
        launch_pdl(count_kernel<CountOp::binomial, S, S, S>, config, state, out.numel(), kWrongRate,
                   fault, to, numbers, static_cast<const S*>(y.data_ptr()));
    }
  });
}

}  // namespace gradus::cuda
