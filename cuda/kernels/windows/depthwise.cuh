// Convolutions whose groups have one channel and one filter each.
//
// Idea. Such a convolution is no product of matrices: each plane has a window of its own. A thread
// makes four elements of the output, one below the other, whose windows share rows of the input;
// one where windows have steps or gaps. It keeps the window's weights in registers. Neighbouring
// threads read neighbouring elements, so the first-level cache serves what windows share across.
// Cost. A window of 3 x 3 reads 18 elements for four results, one of 7 x 7 reads 70.
// The gradient of the input is the same with the window turned around. For the gradient of the
// weight each thread keeps a sum for every tap, and the block adds up the sums of its threads.
#pragma once

#include "gradus/cuda/kernels/computed.cuh"
#include "gradus/cuda/kernels/pdl.cuh"

namespace gradus::cuda {

inline constexpr int kDepthwiseThreads = 256;
// Rows of a band. plain: windows without steps or gaps.
GRADUS_HD constexpr int depthwise_rows(bool plain) { return plain ? 4 : 1; }

// Planes (samples x channels, height, width). image: that which windows go over. For the gradient
// of the weight, `grad` is that of the output.
template <class T>
struct DepthwiseArgs {
  const T *image, *weight, *bias, *grad;  // bias (channels) or null
  T* out;
  float* partial;               // of the gradient of the weight: (parts, channels, taps)
  int samples, channels;
  int part, run;  // of the gradient of the weight: samples or runs of a part, columns of a run
  int image_size[2], out_size[2], kernel[2], stride[2], padding[2], dilation[2];
  int tap_step[2], reach[2];  // of the gradient of the input: as those of Phase (implicit_gemm.cuh)
  bool turned;                // the window
};

// The elements of a band of rows that windows of K x K reach, from above: f(row, column, element).
template <int K, bool plain, class T, class F>
__device__ void for_reached(const DepthwiseArgs<T>& args, const T* plane, int y, int x,
                            const F& f) {
#pragma unroll
  for (int r = 0; r < K + depthwise_rows(plain) - 1; ++r) {
    const int row = plain ? y + r - args.padding[0]
                          : y * args.stride[0] + r * args.dilation[0] - args.padding[0];
    const bool is_row = static_cast<unsigned>(row) < static_cast<unsigned>(args.image_size[0]);
    const T* const line = plane + row * args.image_size[1];
#pragma unroll
    for (int j = 0; j < K; ++j) {
      const int at = plain ? x + j - args.padding[1]
                           : x * args.stride[1] + j * args.dilation[1] - args.padding[1];
      const bool is_there =
          is_row && static_cast<unsigned>(at) < static_cast<unsigned>(args.image_size[1]);
      f(r, j, is_there ? static_cast<float>(line[at]) : 0.f);
    }
  }
}

// Where a thread's band begins.
struct DepthwiseBand {
  int plane, y, x;

  __device__ DepthwiseBand(const int (&size)[2], int i, int rows = 1) {
    const int bands = (size[0] + rows - 1) / rows, line = i / size[1];
    x = i - line * size[1];
    plane = line / bands;
    y = (line - plane * bands) * rows;
  }
};

// The output, or the gradient of the input where args.turned, which is plain.
template <class T, int K, bool plain>
__global__ void __launch_bounds__(kDepthwiseThreads)
    depthwise(const __grid_constant__ DepthwiseArgs<T> args, int threads) {
  wait_for_earlier_kernels();
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= threads) return;
  constexpr int kRows = depthwise_rows(plain);
  const DepthwiseBand band(args.out_size, i, kRows);
  const int channel = band.plane % args.channels;
  float weight[K * K], sums[kRows];
#pragma unroll
  for (int tap = 0; tap < K * K; ++tap)
    weight[tap] = args.weight[channel * K * K + (args.turned ? K * K - 1 - tap : tap)];
#pragma unroll
  for (float& sum : sums) sum = args.bias ? static_cast<float>(args.bias[channel]) : 0.f;
  const T* const image = args.image + int64_t{band.plane} * args.image_size[0] * args.image_size[1];
  for_reached<K, plain>(args, image, band.y, band.x, [&](int r, int j, float at) {
#pragma unroll
    for (int k = 0; k < kRows; ++k)
      if (r - k >= 0 && r - k < K) sums[k] += weight[(r - k) * K + j] * at;
  });
  T* const out = args.out + int64_t{band.plane} * args.out_size[0] * args.out_size[1] + band.x;
#pragma unroll
  for (int k = 0; k < kRows; ++k)
    if (band.y + k < args.out_size[0]) out[(band.y + k) * args.out_size[1]] = T(sums[k]);
}

// The gradient of the input for steps of 2: with the padding, neighbours 2b and 2b + 1 meet the
// same places b - m, by taps 2m and 2m + 1. So a thread makes 2 x 2 results. REQUIRES: strides of
// 2, dilations of 1; `size`: such pairs of rows and columns.
template <class T, int K>
__global__ void __launch_bounds__(kDepthwiseThreads)
    depthwise_halved(const __grid_constant__ DepthwiseArgs<T> args, int threads, int2 size) {
  wait_for_earlier_kernels();
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= threads) return;
  const int sizes[2] = {size.x, size.y};
  const DepthwiseBand pair(sizes, i);
  const int channel = pair.plane % args.channels;
  float weight[K * K], sums[2][2] = {};
#pragma unroll
  for (int tap = 0; tap < K * K; ++tap) weight[tap] = args.weight[channel * K * K + tap];
  const T* const image = args.image + int64_t{pair.plane} * args.image_size[0] * args.image_size[1];
#pragma unroll
  for (int m = 0; m <= K / 2; ++m)
#pragma unroll
    for (int n = 0; n <= K / 2; ++n) {
      const int row = pair.y - m, column = pair.x - n;
      const bool is_there =
          static_cast<unsigned>(row) < static_cast<unsigned>(args.image_size[0]) &&
          static_cast<unsigned>(column) < static_cast<unsigned>(args.image_size[1]);
      const float at =
          is_there ? static_cast<float>(image[row * args.image_size[1] + column]) : 0.f;
#pragma unroll
      for (int of = 0; of < 4; ++of)
        if (const int r = 2 * m + of / 2, j = 2 * n + of % 2; r < K && j < K)
          sums[of / 2][of % 2] += weight[r * K + j] * at;
    }
  T* const out = args.out + int64_t{pair.plane} * args.out_size[0] * args.out_size[1];
#pragma unroll
  for (int of = 0; of < 4; ++of) {
    const int y = 2 * pair.y + of / 2 - args.padding[0], x = 2 * pair.x + of % 2 - args.padding[1];
    if (y >= 0 && y < args.out_size[0] && x >= 0 && x < args.out_size[1])
      out[y * args.out_size[1] + x] = T(sums[of / 2][of % 2]);
  }
}

// The same for every window, a thread for each result. of_input: the gradient of the input, where
// only the taps count that meet a place of the output.
template <class T, bool of_input>
__global__ void __launch_bounds__(kDepthwiseThreads)
    depthwise_any(const __grid_constant__ DepthwiseArgs<T> args, int threads) {
  wait_for_earlier_kernels();
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= threads) return;
  const DepthwiseBand result(args.out_size, i);
  const int channel = result.plane % args.channels;
  // f(tap, place in the image) for the taps of a dimension that meet it.
  const auto for_met = [&](int d, int place, const auto& f) {
    int tap = 0, at = place * args.stride[d] - args.padding[d];
    if (of_input) {
      const auto from = [&](int of_tap) {
        return place + args.padding[d] - of_tap * args.dilation[d];
      };
      while (tap < args.tap_step[d] && from(tap) % args.stride[d] != 0) ++tap;
      if (tap == args.tap_step[d]) return;
      at = from(tap) / args.stride[d];
    }
    for (; tap < args.kernel[d]; tap += of_input ? args.tap_step[d] : 1) {
      if (static_cast<unsigned>(at) < static_cast<unsigned>(args.image_size[d])) f(tap, at);
      at += of_input ? -args.reach[d] : args.dilation[d];
    }
  };
  const T* const image =
      args.image + int64_t{result.plane} * args.image_size[0] * args.image_size[1];
  const T* const weight = args.weight + channel * args.kernel[0] * args.kernel[1];
  float sum = args.bias ? static_cast<float>(args.bias[channel]) : 0.f;
  for_met(0, result.y, [&](int r, int row) {
    for_met(1, result.x, [&](int j, int column) {
      sum += static_cast<float>(weight[r * args.kernel[1] + j]) *
             static_cast<float>(image[row * args.image_size[1] + column]);
    });
  });
  args.out[i] = T(sum);
}

// A part of the gradient of a channel's weight: of args.part samples. The grid counts channels,
// then parts.
template <class T, int K, bool plain>
__global__ void __launch_bounds__(kDepthwiseThreads)
    depthwise_weight(const __grid_constant__ DepthwiseArgs<T> args) {
  wait_for_earlier_kernels();
  constexpr int kTaps = K * K, kWarps = kDepthwiseThreads / 32, kRows = depthwise_rows(plain);
  __shared__ float of_warps[kWarps][kTaps];
  const int channel = static_cast<int>(blockIdx.x) % args.channels;
  const int part = static_cast<int>(blockIdx.x) / args.channels, t = static_cast<int>(threadIdx.x);
  const int first = part * args.part, samples = ::min(args.part, args.samples - first);
  const int bands = (args.out_size[0] + kRows - 1) / kRows;
  float sums[kTaps] = {};
  for (int i = t; i < samples * bands * args.out_size[1]; i += kDepthwiseThreads) {
    const DepthwiseBand band(args.out_size, i, kRows);
    const int64_t plane = int64_t{first + band.plane} * args.channels + channel;
    const T* const of_grad = args.grad + plane * args.out_size[0] * args.out_size[1] + band.x;
    float grad[kRows];
#pragma unroll
    for (int k = 0; k < kRows; ++k)
      grad[k] = band.y + k < args.out_size[0]
                    ? static_cast<float>(of_grad[(band.y + k) * args.out_size[1]])
                    : 0.f;
    const T* const image = args.image + plane * args.image_size[0] * args.image_size[1];
    for_reached<K, plain>(args, image, band.y, band.x, [&](int r, int j, float at) {
#pragma unroll
      for (int k = 0; k < kRows; ++k)
        if (r - k >= 0 && r - k < K) sums[(r - k) * K + j] += grad[k] * at;
    });
  }
#pragma unroll
  for (int tap = 0; tap < kTaps; ++tap) {
    float sum = sums[tap];
    for (int reach = 16; reach > 0; reach /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, reach);
    if (t % 32 == 0) of_warps[t / 32][tap] = sum;
  }
  __syncthreads();
  if (t >= kTaps) return;
  float sum = 0;
  for (int warp = 0; warp < kWarps; ++warp) sum += of_warps[warp][t];
  args.partial[(int64_t{part} * args.channels + channel) * kTaps + t] = sum;
}

}  // namespace gradus::cuda
