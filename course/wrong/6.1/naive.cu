// LOSES: tiles, weights
// Each product loads its pixel and its weight from global memory.
#include "core/extra.h"
#include "core/launch.h"

namespace course::gpu {

__global__ void conv2d_kernel(float* out, const float* x, const float* weight, Conv s) {
  const int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x, o = blockIdx.z;
  if (i >= s.out_height() || j >= s.out_width()) return;
  float sum = 0;
  for (int c = 0; c < s.channels; ++c)
    for (int di = 0; di < s.window_h; ++di)
      for (int dj = 0; dj < s.window_w; ++dj) {
        const int row = i + di - s.padding, column = j + dj - s.padding;
        if (row >= 0 && row < s.height && column >= 0 && column < s.width)
          sum += x[(c * s.height + row) * s.width + column] *
                 weight[((o * s.channels + c) * s.window_h + di) * s.window_w + dj];
      }
  out[(o * s.out_height() + i) * s.out_width() + j] = sum;
}

void conv2d(float* out, const float* x, const float* weight, Conv sizes) {
  launch(conv2d_kernel, {dim3(ceil_div(sizes.out_width(), 16), ceil_div(sizes.out_height(), 16), sizes.outputs), dim3(16, 16)},
         out, x, weight, sizes);
}

}  // namespace course::gpu
