// Random tensors, and maps of tensors by random numbers.
#include "gradus/cuda/kernels/random.cuh"

#include "gradus/cuda/backend.h"
#include "gradus/cuda/runtime/grid.h"

namespace gradus::cuda {

namespace {

// Whether what is computed in T becomes elements of type S: counts do that come in double.
template <class Formula, class T, class S>
inline constexpr bool gives = dtype_of<T> == computed_type(dtype_of<S>) ||
                              (std::is_same_v<Formula, draw::Geometric<double>> &&
                               std::is_integral_v<S>);

template <template <class> class Formula, class T, class... X>
void draw_into(const Tensor& out, PhiloxState state, const Formula<T>& formula, const X&... x) {
  const Context context(out);
  check_draw(state);
  visit(out.scalar_type(), [&]<class S>(TypeTag<S>) {
    if constexpr (gives<Formula<T>, T, S>) {
      const auto blocks = static_cast<unsigned>(ceil_div(out.numel(), kDrawnTile));
      launch_pdl(random_kernel<T, Formula<T>, S, std::conditional_t<true, S, X>...>,
                 {dim3(blocks), kRandomThreads, 0, context.stream}, formula, state, out.numel(),
                 static_cast<S*>(out.data_ptr()), static_cast<const S*>(x.data_ptr())...);
    }
  });
}

}  // namespace

void CudaBackend::random(Distribution kind, const Scalar& a, const Scalar& b, PhiloxState state,
                         const Tensor& out) {
  draw::visit(kind, a, b, out.scalar_type(),
              [&](const auto& formula) { draw_into(out, state, formula); });
}

void CudaBackend::random_map(RandomMap op, double number, PhiloxState state, const Tensor& x,
                             const Tensor& out) {
  draw::visit(op, number, out.scalar_type(),
              [&](const auto& formula) { draw_into(out, state, formula, x); });
}

}  // namespace gradus::cuda
