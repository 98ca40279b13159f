// Gradients of a convolution's weight, of float32, on Hopper: as exact as those of multiply-add
// units.
//
// Idea. A float is three numbers of bfloat16, as in matmul_wgmma_split.cuh, of which six products
// count. split_channels() puts the three planes of both tensors side by side behind the channels,
// which it makes the last dimension. Then the product is that of convolution_wgmma_weight.cuh, with
// three planes to a stage. Tensor cores truncate their sums; so they add 64 places at a time, and
// ordinary additions add the sums of 64.
// Cost. Six products, and 10 bytes for each element of both tensors. A step of 128 x 128 sums
// copies 96 KB.
// Next. Blocks of a cluster that share the gradient; planes that the layer's output keeps.
#pragma once

#include "gradus/cuda/kernels/hopper/convolution_wgmma_weight.cuh"
#include "gradus/cuda/kernels/hopper/planes.cuh"

namespace gradus::cuda {

// The floats that become planes: contiguous (samples, channels, pixels).
struct ChannelsSource {
  const float* data;
  int samples, channels, pixels;
};

inline constexpr int kSplitThreads = 256, kSplitPixels = 32, kSplitChannels = 64;  // of a block

// to (samples, pixels, 3, pitch) = the planes, with zeros behind the channels.
// REQUIRES: pitch is a multiple of 8.
__global__ void __launch_bounds__(kSplitThreads)
    split_channels(const ChannelsSource from, int pitch, uint16_t* to) {
  wait_for_earlier_kernels();
  __shared__ float tile[kSplitChannels][kSplitPixels + 1];
  const int thread = static_cast<int>(threadIdx.x);
  const int wide = (from.pixels + kSplitPixels - 1) / kSplitPixels;
  const int tall = (pitch + kSplitChannels - 1) / kSplitChannels;
  const int first_pixel = static_cast<int>(blockIdx.x) % wide * kSplitPixels;
  const int first_channel = static_cast<int>(blockIdx.x) / wide % tall * kSplitChannels;
  const int64_t sample = static_cast<int>(blockIdx.x) / wide / tall;

  const int read = first_pixel + thread % 32;
#pragma unroll
  for (int c = thread / 32; c < kSplitChannels; c += kSplitThreads / 32) {
    const int channel = first_channel + c;
    const bool inside = read < from.pixels && channel < from.channels;
    tile[c][thread % 32] =
        inside ? from.data[(sample * from.channels + channel) * from.pixels + read] : 0.f;
  }
  __syncthreads();
  const int unit = thread % 8 * 8, at = thread / 8, pixel = first_pixel + at;
  if (pixel >= from.pixels || first_channel + unit >= pitch) return;
  uint16_t planes[8][3];
#pragma unroll
  for (int e = 0; e < 8; ++e) split_in_three(tile[unit + e][at], planes[e]);
  uint16_t* const line = to + (sample * from.pixels + pixel) * 3 * pitch + first_channel + unit;
#pragma unroll
  for (int p = 0; p < 3; ++p) *reinterpret_cast<uint4*>(line + p * pitch) = unit_of(planes, p);
}

// The maps of base.grad and base.gathered are those of planes of bfloat16; the tensors themselves
// are contiguous, as is base.out: (filters, channels, taps).
struct WeightSplitArgs : WeightWgmmaArgs<float> {
  const float *grad_data, *input_data;
};

// kDown: warpgroups one below the other; 1 where they are side by side.
template <int kDown>
struct WeightSplitTile {
  static constexpr int kThreads = 288, kPlaces = 64;  // of a step
  static constexpr int kBox = hopper::kBoxBytes, kLine = 64, kPlanes = 3, kResident = 1;
  static constexpr int kRows = 64 * kDown, kBoxesA = kDown, kBoxesB = 2;
  static constexpr int kColumns = 64 * kDown;  // of a warpgroup
  static constexpr int kStageBytes = kPlanes * (kBoxesA + kBoxesB) * kBox;
  static constexpr int kStages = hopper::stages_that_fit(kStageBytes);
  static constexpr int kSharedBytes = kStages * kStageBytes + hopper::kBarrierBytes;
};

// A sum of places first to last - 1 without splitting.
__device__ inline float plain_weight_gradient(const WeightSplitArgs& args, int filter, int channel,
                                              int tap, int first, int last) {
  const GatheredDim &down = args.dim[0], &across = args.dim[1];
  const int at_down = tap / across.taps * down.reach + down.first;
  const int at_across = tap % across.taps * across.reach + across.first;
  float sum = 0;
  for (int i = first; i < last; ++i) {
    const SplitPlace place(i, args.dim);
    const int h = place.at[0] * down.step + at_down, w = place.at[1] * across.step + at_across;
    if (h < 0 || h >= down.size || w < 0 || w >= across.size) continue;
    const int64_t line = int64_t{place.sample} * args.rows + filter;
    const int64_t image = int64_t{place.sample} * args.channels + channel;
    sum += args.grad_data[(line * down.rows + place.at[0]) * across.rows + place.at[1]] *
           args.input_data[(image * down.size + h) * across.size + w];
  }
  return sum;
}

template <int kDown>
__global__ void __launch_bounds__(WeightSplitTile<kDown>::kThreads, 1)
    convolution_wgmma_weight_split(const __grid_constant__ WeightSplitArgs args) {
#if __CUDA_ARCH_FEAT_SM90_ALL
  using namespace hopper;
  using Tile = WeightSplitTile<kDown>;
  constexpr int N = Tile::kColumns;
  extern __shared__ __align__(1024) char boxes[];
  WeightRing<Tile> ring(boxes);
  init_rings<1>(2, ring);
  wait_for_earlier_kernels();

  const int thread = static_cast<int>(threadIdx.x), group = thread / 128;
  const WeightTiles<Tile> tiles(args);
  if (group == 2) {
    if (thread % 32 == 0) copy_weight_steps(args, tiles, ring);
    return;
  }
  const int lane = thread % 32, warp = thread % 128 / 32;
  const int own_rows = kDown == 2 ? group : 0, own_columns = kDown == 2 ? 0 : group;
  const int taps = args.dim[0].taps * args.dim[1].taps;
  for (int tile = static_cast<int>(blockIdx.x); tile < tiles.all; tile += gridDim.x) {
    const auto at = tiles.at(tile, args);
    float sums[N / 2] = {}, step_sums[N / 2];  // of the lane
    for (int step = at.begin; step < at.end; ++step) {
      ring.wait_until_full();
      const uint64_t a = describe(ring.tile() + own_rows * kBoxBytes);
      const uint64_t b = describe(ring.tile() + (3 * Tile::kBoxesA + own_columns) * kBoxBytes);
      multiply_planes<N, true, true>(step_sums, a, Tile::kBoxesA, b, Tile::kBoxesB);
      ring.release(ring.stage, thread);
#pragma unroll
      for (int i = 0; i < N / 2; ++i) sums[i] += step_sums[i];
      ring.advance();
    }

    float* const out = args.partial
                           ? args.partial + at.part * (int64_t{args.rows} * args.channels * taps)
                           : args.out;
    // Where sum i of the lane goes: a filter, a channel of a tap. Null outside.
    const auto place_of = [&](int i, int& row, int& channel, int& tap) -> float* {
      row = at.row + 64 * own_rows + 16 * warp + lane / 4 + i / 2 % 2 * 8;
      const int box = at.box + own_columns + i / 32;
      channel = box % tiles.chunks * 64 + i % 32 / 4 * 8 + lane % 4 * 2 + i % 2;
      tap = box / tiles.chunks;
      if (row >= args.rows || box >= tiles.columns || channel >= args.channels) return nullptr;
      return out + (int64_t{row} * args.channels + channel) * taps + tap;
    };
    int row, channel, tap;
    bool finite = true;
#pragma unroll
    for (int i = 0; i < N / 2; ++i)
      if (float* const to = place_of(i, row, channel, tap))
        *to = sums[i], finite &= isfinite(sums[i]);
    if (finite) continue;
    // An infinity among the operands has made NaN of its sums.
    const int first = at.begin * Tile::kPlaces;
    const int last = ::min(at.end * Tile::kPlaces, args.places);
#pragma unroll 1
    for (int i = 0; i < N / 2; ++i)
      if (float* const to = place_of(i, row, channel, tap); to && !isfinite(*to))
        *to = plain_weight_gradient(args, row, channel, tap, first, last);
  }
#endif
}

}  // namespace gradus::cuda
