// Convolutions whose groups have one channel and one filter each, of images whose channels lie last
// in memory: windows of 3 x 3 with steps of 1 or 2 and without gaps.
//
// Idea. A thread has four neighbouring channels of one column, and keeps the weights of their
// windows in registers. Results of a thread lie one below the other, so that windows share rows of
// the image. Neighbouring threads read neighbouring addresses; the first-level cache serves what
// windows share across. The gradient of the weight keeps 9 sums of each channel in registers, and a
// block adds up those of its threads. With steps of 2 a thread goes along a band of four
// rows there. It keeps the gradients that the next column meets, too. With steps of 1 it loads all
// of one column's windows at once.
// Cost. Seven results read 27 elements of each channel, four with steps of 2 as many. Four places
// of the gradient of the weight read four gradients and 18 elements.
#pragma once

#include <type_traits>

#include "gradus/cuda/kernels/vector.cuh"
#include "gradus/cuda/kernels/windows/depthwise.cuh"

namespace gradus::cuda {

inline constexpr int kDepthwiseUnit = 4;  // channels of a thread
inline constexpr int kDepthwiseWindow = 3, kDepthwiseTaps = 9;
// Results of a thread, one below the other, for steps of `stride`; pairs of those of the gradient
// of the input for steps of 2; rows of a band of the gradient of the weight.
GRADUS_HD constexpr int depthwise_band(int stride) { return stride == 1 ? 7 : 4; }
inline constexpr int kDepthwisePairs = 4;
inline constexpr int kDepthwiseWeightRows = 4;

using DepthwiseNumbers = Vector<float, kDepthwiseUnit>;

// A sample's image or result (height, width, channels) as a thread sees it, from its channels on.
template <class T>
struct DepthwisePlane {
  T* data;
  int height, width, channels;

  __device__ DepthwisePlane(T* all, const int (&size)[2], int channels_, int sample, int channel)
      : data(all + int64_t{sample} * size[0] * size[1] * channels_ + channel),
        height(size[0]),
        width(size[1]),
        channels(channels_) {}
  __device__ bool has(int row, int column) const {
    return static_cast<unsigned>(row) < static_cast<unsigned>(height) &&
           static_cast<unsigned>(column) < static_cast<unsigned>(width);
  }
  // The numbers at a place; zeros outside.
  __device__ DepthwiseNumbers at(int row, int column) const {
    Vector<std::remove_const_t<T>, kDepthwiseUnit> here = {};
    if (has(row, column))
      here = load_vector<kDepthwiseUnit>(data + (row * width + column) * channels);
    DepthwiseNumbers out;
#pragma unroll
    for (int v = 0; v < kDepthwiseUnit; ++v) out.at[v] = static_cast<float>(here.at[v]);
    return out;
  }
  // Nothing is set outside.
  __device__ void set(int row, int column, const DepthwiseNumbers& numbers) const {
    Vector<T, kDepthwiseUnit> out;
#pragma unroll
    for (int v = 0; v < kDepthwiseUnit; ++v) out.at[v] = T(numbers.at[v]);
    if (has(row, column)) store_vector(data + (row * width + column) * channels, out);
  }
};

// The window of a thread's channels.
struct DepthwiseWeights {
  DepthwiseNumbers of[kDepthwiseTaps];

  template <bool turned, class T>
  __device__ void load(const T* weight, int channel) {
#pragma unroll
    for (int i = 0; i < kDepthwiseTaps; ++i) {
      const auto some =
          load_vector<kDepthwiseUnit>(weight + channel * kDepthwiseTaps + i * kDepthwiseUnit);
#pragma unroll
      for (int v = 0; v < kDepthwiseUnit; ++v) {
        const int place = i * kDepthwiseUnit + v, tap = place % kDepthwiseTaps;
        of[turned ? kDepthwiseTaps - 1 - tap : tap].at[place / kDepthwiseTaps] =
            static_cast<float>(some.at[v]);
      }
    }
  }
};

// sums += a * b
__device__ inline void add_products(DepthwiseNumbers& sums, const DepthwiseNumbers& a,
                                    const DepthwiseNumbers& b) {
#pragma unroll
  for (int v = 0; v < kDepthwiseUnit; ++v) sums.at[v] += a.at[v] * b.at[v];
}

// f(k, tap, numbers) for what the windows of kRows results reach, one below the other. The
// first window begins at (top, left).
template <int kRows, int kStride, class T, class F>
__device__ void for_taps(const DepthwisePlane<const T>& image, int top, int left, const F& f) {
  constexpr int K = kDepthwiseWindow;
#pragma unroll
  for (int r = 0; r < (kRows - 1) * kStride + K; ++r)
#pragma unroll
    for (int j = 0; j < K; ++j) {
      const auto here = image.at(top + r, left + j);
#pragma unroll
      for (int k = 0; k < kRows; ++k)
        if (const int tap = r - k * kStride; tap >= 0 && tap < K) f(k, tap * K + j, here);
    }
}

// Where a thread of a grid (columns and channels, bands of rows, samples) begins.
struct DepthwiseColumn {
  int x, channel, band, sample;

  __device__ explicit DepthwiseColumn(int channels) {
    const int units = channels / kDepthwiseUnit;
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    x = i / units;
    channel = (i - x * units) * kDepthwiseUnit;
    band = static_cast<int>(blockIdx.y), sample = static_cast<int>(blockIdx.z);
  }
};

// The output, or with steps of 1 the gradient of the input, for which the window is turned around.
template <class T, int kStride, bool turned>
__global__ void __launch_bounds__(kDepthwiseThreads, 2)
    depthwise_channels_last(const __grid_constant__ DepthwiseArgs<T> args) {
  wait_for_earlier_kernels();
  constexpr int kRows = depthwise_band(kStride);
  const DepthwiseColumn first(args.channels);
  if (first.x >= args.out_size[1]) return;
  DepthwiseWeights weights;
  weights.load<turned>(args.weight, first.channel);
  DepthwiseNumbers sums[kRows] = {};
  if (args.bias) {
#pragma unroll
    for (int k = 0; k < kRows; ++k)
#pragma unroll
      for (int v = 0; v < kDepthwiseUnit; ++v)
        sums[k].at[v] = static_cast<float>(args.bias[first.channel + v]);
  }
  const DepthwisePlane<const T> image(args.image, args.image_size, args.channels, first.sample,
                                      first.channel);
  const int y = first.band * kRows, top = y * kStride - args.padding[0],
            left = first.x * kStride - args.padding[1];
  for_taps<kRows, kStride>(image, top, left, [&](int k, int tap, const DepthwiseNumbers& here) {
    add_products(sums[k], weights.of[tap], here);
  });
  const DepthwisePlane<T> out(args.out, args.out_size, args.channels, first.sample, first.channel);
#pragma unroll
  for (int k = 0; k < kRows; ++k) out.set(y + k, first.x, sums[k]);
}

// The gradient of the input for steps of 2, of `columns` pairs across: see depthwise_halved.
template <class T>
__global__ void __launch_bounds__(kDepthwiseThreads, 2)
    depthwise_channels_last_halved(const __grid_constant__ DepthwiseArgs<T> args, int columns) {
  wait_for_earlier_kernels();
  constexpr int K = kDepthwiseWindow;
  const DepthwiseColumn first(args.channels);
  if (first.x >= columns) return;
  DepthwiseWeights weights;
  weights.load<false>(args.weight, first.channel);
  const DepthwisePlane<const T> image(args.image, args.image_size, args.channels, first.sample,
                                      first.channel);
  const DepthwisePlane<T> out(args.out, args.out_size, args.channels, first.sample, first.channel);
  const int y = first.band * kDepthwisePairs;
  // Places x and x - 1, from the row above the first pair on. All are loaded before any is used.
  DepthwiseNumbers rows[kDepthwisePairs + 1][2];
#pragma unroll
  for (int k = 0; k <= kDepthwisePairs; ++k)
#pragma unroll
    for (int n = 0; n < 2; ++n) rows[k][n] = image.at(y - 1 + k, first.x - n);
#pragma unroll
  for (int pair = 0; pair < kDepthwisePairs; ++pair) {
    DepthwiseNumbers sums[2][2] = {};
#pragma unroll
    for (int m = 0; m < 2; ++m)
#pragma unroll
      for (int n = 0; n < 2; ++n)
#pragma unroll
        for (int of = 0; of < 4; ++of)
          if (const int r = 2 * m + of / 2, j = 2 * n + of % 2; r < K && j < K)
            add_products(sums[of / 2][of % 2], weights.of[r * K + j], rows[pair + 1 - m][n]);
#pragma unroll
    for (int of = 0; of < 4; ++of)
      out.set(2 * (y + pair) + of / 2 - args.padding[0], 2 * first.x + of % 2 - args.padding[1],
              sums[of / 2][of % 2]);
  }
}

// Adds the products of columns [x, end) of a band of the gradient to those of the weight.
template <int kStride, class T>
__device__ void add_band(DepthwiseNumbers (&sums)[kDepthwiseTaps],
                         const DepthwisePlane<const T>& image, const DepthwisePlane<const T>& grad,
                         const int (&padding)[2], int y, int x, int end) {
  constexpr int K = kDepthwiseWindow, kRows = kDepthwiseWeightRows,
                kKept = (K + kStride - 1) / kStride, kSteps = kKept * kStride;
  const int top = y * kStride - padding[0], left = x * kStride - padding[1],
            columns = (end - x - 1) * kStride + K;  // of the image
  // Column x + t of the gradient is grads[t % kKept]. Columns outside [x, end) are zeros.
  DepthwiseNumbers grads[kKept][kRows] = {};
  for (int begin = 0; begin < columns; begin += kSteps)
#pragma unroll
    for (int c = 0; c < kSteps; ++c) {  // so that each place in `grads` is a constant
      if (begin + c >= columns) break;
      if (c % kStride == 0) {
        const int at = x + (begin + c) / kStride;
#pragma unroll
        for (int k = 0; k < kRows; ++k)
          grads[c / kStride][k] = at < end ? grad.at(y + k, at) : DepthwiseNumbers{};
      }
#pragma unroll
      for (int r = 0; r < (kRows - 1) * kStride + K; ++r) {
        const auto here = image.at(top + r, left + begin + c);
#pragma unroll
        for (int j = c % kStride; j < K; j += kStride)
#pragma unroll
          for (int k = 0; k < kRows; ++k)
            if (const int tap = r - k * kStride; tap >= 0 && tap < K)
              add_products(sums[tap * K + j], grads[(c - j + kSteps) / kStride % kKept][k], here);
      }
    }
}

// Part blockIdx.y of the gradients of the weights, of args.part runs: bands of rows, args.run
// columns wide. Threads of a block differ in channels along x, and in runs along y.
template <class T, int kStride>
__global__ void __launch_bounds__(kDepthwiseThreads, 2)
    depthwise_channels_last_weight(const __grid_constant__ DepthwiseArgs<T> args) {
  wait_for_earlier_kernels();
  constexpr int kRows = kDepthwiseWeightRows, kNumbers = kDepthwiseTaps * kDepthwiseUnit;
  const int across = static_cast<int>(blockDim.x), down = static_cast<int>(blockDim.y);
  const int channels = static_cast<int>(blockIdx.x) * across * kDepthwiseUnit,
            channel = channels + static_cast<int>(threadIdx.x) * kDepthwiseUnit;
  const int size[2] = {args.out_size[0], (args.out_size[1] + args.run - 1) / args.run};
  const int runs = (size[0] + kRows - 1) / kRows * size[1] * args.samples;
  const int begin = static_cast<int>(blockIdx.y) * args.part, end = ::min(begin + args.part, runs);
  DepthwiseNumbers sums[kDepthwiseTaps] = {};
  if (channel < args.channels)
    for (int i = begin + static_cast<int>(threadIdx.y); i < end; i += down) {
      const DepthwiseBand band(size, i, kRows);
      const DepthwisePlane<const T> grad(args.grad, args.out_size, args.channels, band.plane,
                                         channel),
          image(args.image, args.image_size, args.channels, band.plane, channel);
      if constexpr (kStride == 1) {  // runs of one column
        DepthwiseNumbers grads[kRows];
#pragma unroll
        for (int k = 0; k < kRows; ++k) grads[k] = grad.at(band.y + k, band.x);
        for_taps<kRows, 1>(image, band.y - args.padding[0], band.x - args.padding[1],
                           [&](int k, int tap, const DepthwiseNumbers& here) {
                             add_products(sums[tap], grads[k], here);
                           });
      } else {
        const int x = band.x * args.run;
        add_band<kStride>(sums, image, grad, args.padding, band.y, x,
                          ::min(x + args.run, args.out_size[1]));
      }
    }
  __shared__ float all[kNumbers][kDepthwiseThreads];
  const int thread = static_cast<int>(threadIdx.y) * across + static_cast<int>(threadIdx.x);
#pragma unroll
  for (int tap = 0; tap < kDepthwiseTaps; ++tap)
#pragma unroll
    for (int v = 0; v < kDepthwiseUnit; ++v)
      all[tap * kDepthwiseUnit + v][thread] = sums[tap].at[v];
  __syncthreads();
  for (int i = thread; i < kNumbers * across; i += across * down) {
    const int number = i / across, unit = i - number * across;
    const int mine = channels + unit * kDepthwiseUnit + number % kDepthwiseUnit;
    if (mine >= args.channels) continue;
    float sum = 0;
#pragma unroll 4
    for (int y = 0; y < down; ++y) sum += all[number][y * across + unit];
    args.partial[(int64_t{blockIdx.y} * args.channels + mine) * kDepthwiseTaps +
                 number / kDepthwiseUnit] = sum;
  }
}

}  // namespace gradus::cuda
