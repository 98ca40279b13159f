#include "gradus/cuda/kernels/random.cuh"

#include "gradus/cuda/backend.h"
#include "gradus/cuda/grid.h"
#include "gradus/tensor/dispatch.h"

namespace gradus::cuda {

namespace {
template <class T, class Draw>
void draw(const Draw& element, PhiloxState state, const Tensor& out) {
  const Context context(out);
  const int64_t pairs = ceil_div(out.numel(), int64_t{philox::kElementsPerBlock});
  launch(random_kernel<Draw, T>, linear_launch(context, pairs), element, state, out.numel(),
         static_cast<T*>(out.data_ptr()));
}
}  // namespace

void CudaBackend::random(Distribution kind, const Scalar& a, const Scalar& b, PhiloxState state,
                         const Tensor& out) {
  switch (kind) {
    case Distribution::uniform:
      return visit_floating("uniform", out.dtype(), [&]<class T>(TypeTag<T>) {
        draw<T>(Uniform<T>{a.cast<T>(), b.cast<T>()}, state, out);
      });
    case Distribution::normal:
      return visit_floating("normal", out.dtype(), [&]<class T>(TypeTag<T>) {
        draw<T>(Normal<T>{a.cast<T>(), b.cast<T>()}, state, out);
      });
    case Distribution::randint:
      return visit_numbers("randint", out.dtype(), [&]<class T>(TypeTag<T>) {
        draw<T>(RandomInteger<T>{a.cast<int64_t>(), b.cast<int64_t>()}, state, out);
      });
  }
}

}  // namespace gradus::cuda
