// LOSES: sectors
// The first dimension changes fastest: neighbouring threads are a row apart.
#include "core/cuda.h"
#include "core/launch.h"

namespace course::gpu {

__global__ void map_strided_kernel(Op1 op, float* out, Layout out_layout, const float* x, Layout x_layout, long n) {
  const long threads = long{gridDim.x} * kBlock;
  for (long i = blockIdx.x * long{kBlock} + threadIdx.x; i < n; i += threads) {
    long rest = i, to = 0, from = 0;
    for (int d = 0; d < out_layout.rank; ++d) {
      const long at = rest % out_layout.sizes[d];
      rest /= out_layout.sizes[d];
      to += at * out_layout.strides[d];
      if (x_layout.sizes[d] != 1) from += at * x_layout.strides[d];
    }
    out[to] = apply(op, x[from]);
  }
}

void map_strided(Op1 op, float* out, const Layout& out_layout, const float* x, const Layout& x_layout, int blocks) {
  launch(map_strided_kernel, {static_cast<unsigned>(blocks), kBlock}, op, out, out_layout, x, x_layout,
         out_layout.count());
}

}  // namespace course::gpu
