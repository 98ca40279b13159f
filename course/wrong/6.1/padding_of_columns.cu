// LOSES: padding
// The padding is used for columns alone.
#include "core/extra.h"
#include "core/launch.h"

namespace course::gpu {

constexpr int kSide = 16;                             // a block makes kSide x kSide elements of one output channel
constexpr int kWithHalo = kSide + kLargestWindow - 1;  // and reads at most so many rows and columns for them

__global__ void conv2d_kernel(float* out, const float* x, const float* weight, Conv s) {
  __shared__ float tile[kWithHalo][kWithHalo];
  __shared__ float window[kLargestWindow * kLargestWindow];
  const int thread = threadIdx.y * kSide + threadIdx.x, threads = kSide * kSide;
  const int top = blockIdx.y * kSide, left = blockIdx.x * kSide, o = blockIdx.z;
  const int tile_h = kSide + s.window_h - 1, tile_w = kSide + s.window_w - 1, area = s.window_h * s.window_w;
  float sum = 0;
  for (int c = 0; c < s.channels; ++c) {
    for (int i = thread; i < tile_h * tile_w; i += threads) {
      const int row = top + i / tile_w, column = left + i % tile_w - s.padding;
      const bool inside = row >= 0 && row < s.height && column >= 0 && column < s.width;
      tile[i / tile_w][i % tile_w] = inside ? x[(c * s.height + row) * s.width + column] : 0;
    }
    if (thread < area) window[thread] = weight[(o * s.channels + c) * area + thread];
    __syncthreads();
    for (int di = 0; di < s.window_h; ++di)
      for (int dj = 0; dj < s.window_w; ++dj)
        sum += tile[threadIdx.y + di][threadIdx.x + dj] * window[di * s.window_w + dj];
    __syncthreads();
  }
  const int row = top + threadIdx.y, column = left + threadIdx.x;
  if (row < s.out_height() && column < s.out_width()) out[(o * s.out_height() + row) * s.out_width() + column] = sum;
}

void conv2d(float* out, const float* x, const float* weight, Conv sizes) {
  const dim3 blocks(ceil_div(sizes.out_width(), kSide), ceil_div(sizes.out_height(), kSide), sizes.outputs);
  launch(conv2d_kernel, {blocks, dim3(kSide, kSide)}, out, x, weight, sizes);
}

}  // namespace course::gpu
