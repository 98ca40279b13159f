// LOSES: loads
// The first dimension changes fastest: neighbouring threads are a row apart.
#include "core/cuda.h"
#include "core/launch.h"

namespace course::gpu {

__global__ void zip_strided_kernel(Op2 op, float* out, Layout out_layout, const float* x, Layout x_layout,
                                   const float* y, Layout y_layout, long n) {
  const long i = blockIdx.x * long{kBlock} + threadIdx.x;
  if (i >= n) return;
  long rest = i, to = 0, left = 0, right = 0;
  for (int d = 0; d < out_layout.rank; ++d) {
    const long at = rest % out_layout.sizes[d];
    rest /= out_layout.sizes[d];
    to += at * out_layout.strides[d];
    if (x_layout.sizes[d] != 1) left += at * x_layout.strides[d];
    if (y_layout.sizes[d] != 1) right += at * y_layout.strides[d];
  }
  out[to] = apply(op, x[left], y[right]);
}

void zip_strided(Op2 op, float* out, const Layout& out_layout, const float* x, const Layout& x_layout,
                 const float* y, const Layout& y_layout) {
  const long n = out_layout.count();
  launch(zip_strided_kernel, {ceil_div(n, kBlock), kBlock}, op, out, out_layout, x, x_layout, y, y_layout, n);
}

}  // namespace course::gpu
