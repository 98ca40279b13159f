// Gradients of a convolution's weight, of half types, on Hopper. All tensors lie with their
// channels last in memory.
//
// Idea. The product of convolution_channels_last.cuh: rows are filters, columns the channels of the
// taps, terms the places. The tensor memory accelerator gathers the places as in
// convolution_wgmma.cuh, and `wgmma` takes both operands with the lines of their boxes along terms.
// A column box is 64 channels of one tap, so a tile may hold several taps of few channels. Where
// there are few filters, both warpgroups take the same 64, and columns of their own.
// Cost. Places are cut into parts, which fill the device and are added by another kernel.
// Next. Blocks of a cluster that share the gradient.
#pragma once

#include "gradus/cuda/kernels/hopper/convolution_wgmma.cuh"

namespace gradus::cuda {

template <class T>
struct WeightWgmmaArgs {
  CUtensorMap grad;      // (1, places, filters): boxes of 64 x 64
  CUtensorMap gathered;  // im2col: 64 places, 64 channels
  T* out;                // (filters, taps, channels)
  float* partial;        // if not null: (parts) of that
  GatheredDim dim[2];
  int rows, channels, places;
  int parts, part;  // into how many the places are cut, and steps of each
  // Channels from a plane of the tensor to the next (convolution_wgmma_weight_split.cuh).
  int grad_plane, gathered_plane;
};

// The tiles of such a product. A step is Tile::kPlaces places, a box Tile::kLine filters, or
// channels of a tap.
template <class Tile>
struct WeightTiles {
  int chunks, columns, wide, tall, steps, all;

  template <class T>
  __device__ explicit WeightTiles(const WeightWgmmaArgs<T>& args)
      : chunks((args.channels + Tile::kLine - 1) / Tile::kLine),
        columns(args.dim[0].taps * args.dim[1].taps * chunks),
        wide((columns + Tile::kBoxesB - 1) / Tile::kBoxesB),
        tall((args.rows + Tile::kRows - 1) / Tile::kRows),
        steps((args.places + Tile::kPlaces - 1) / Tile::kPlaces),
        all(wide * tall * args.parts) {}

  struct At {
    int box, row, part, begin, end;
  };
  template <class T>
  __device__ At at(int tile, const WeightWgmmaArgs<T>& args) const {
    const int part = tile / (wide * tall), rest = tile % (wide * tall);
    return {rest % wide * Tile::kBoxesB, rest / wide * Tile::kRows, part, part * args.part,
            ::min((part + 1) * args.part, steps)};
  }
};

template <class Tile>
using WeightRing = hopper::Ring<Tile::kStages, Tile::kStageBytes>;

// One thread asks for the steps of this block's tiles, as stages become free.
template <class Tile, class T>
__device__ void copy_weight_steps(const WeightWgmmaArgs<T>& args, const WeightTiles<Tile>& tiles,
                                  WeightRing<Tile>& ring) {
  using namespace hopper;
  const GatheredDim &down = args.dim[0], &across = args.dim[1];
  for (int tile = static_cast<int>(blockIdx.x); tile < tiles.all; tile += gridDim.x) {
    const auto at = tiles.at(tile, args);
    int channel[Tile::kBoxesB], right[Tile::kBoxesB], below[Tile::kBoxesB];
#pragma unroll
    for (int i = 0; i < Tile::kBoxesB; ++i) {
      const int tap = (at.box + i) / tiles.chunks, i_down = tap / across.taps;
      // Behind the last column there are zeros, as behind the last channel.
      const bool exists = at.box + i < tiles.columns;
      channel[i] =
          exists ? (at.box + i) % tiles.chunks * Tile::kLine : Tile::kPlanes * args.gathered_plane;
      right[i] = exists ? offset_of(across, tap % across.taps) : 0;
      below[i] = exists ? offset_of(down, i_down) : 0;
    }
    for (int step = at.begin; step < at.end; ++step) {
      const SplitPlace place(step * Tile::kPlaces, args.dim);
      const int h = place.at[0] * down.step + lower_corner(down);
      const int w = place.at[1] * across.step + lower_corner(across);
      char* a = ring.acquire();
      char* b = a + Tile::kPlanes * Tile::kBoxesA * Tile::kBox;
#pragma unroll
      for (int plane = 0; plane < Tile::kPlanes; ++plane) {
#pragma unroll
        for (int i = 0; i < Tile::kBoxesA; ++i, a += Tile::kBox)
          copy_box(a, args.grad, ring.loads(), plane * args.grad_plane + at.row + Tile::kLine * i,
                   step * Tile::kPlaces, 0);
#pragma unroll
        for (int i = 0; i < Tile::kBoxesB; ++i, b += Tile::kBox)
          copy_pixels(b, args.gathered, ring.loads(), plane * args.gathered_plane + channel[i], w,
                      h, place.sample, right[i], below[i]);
      }
      ring.advance();
    }
  }
}

// kDown: warpgroups one below the other; 1 where they are side by side. N: columns of each.
template <int N, int kDown, int resident = 2>
struct WeightWgmmaTile {
  static constexpr int kThreads = 288, kPlaces = 64;  // of a step
  static constexpr int kBox = hopper::kBoxBytes, kLine = 64, kPlanes = 1;
  static constexpr int kRows = 64 * kDown, kBoxesA = kDown;
  static constexpr int kBoxesB = N / 64 * (kDown == 1 ? 2 : 1);
  static constexpr int kResident = resident;  // blocks of a multiprocessor
  static constexpr int kStageBytes = (kBoxesA + kBoxesB) * kBox;
  static constexpr int kStages = hopper::stages_that_fit(kStageBytes, 0, kResident);
  static constexpr int kSharedBytes = kStages * kStageBytes + hopper::kBarrierBytes;
};

template <class T, int N, int kDown, int resident = 2>
__global__ void __launch_bounds__(WeightWgmmaTile<N, kDown>::kThreads, resident)
    convolution_wgmma_weight(const __grid_constant__ WeightWgmmaArgs<T> args) {
#if __CUDA_ARCH_FEAT_SM90_ALL
  using namespace hopper;
  using Tile = WeightWgmmaTile<N, kDown, resident>;
  extern __shared__ __align__(1024) char boxes[];  // the swizzle counts from multiples of 1024
  WeightRing<Tile> ring(boxes);
  init_rings<1>(2, ring);
  wait_for_earlier_kernels();

  const int thread = static_cast<int>(threadIdx.x), group = thread / 128;
  const GatheredDim &down = args.dim[0], &across = args.dim[1];
  const WeightTiles<Tile> tiles(args);
  if (group == 2) {
    if (thread % 32 == 0) copy_weight_steps(args, tiles, ring);
  } else {
    const int lane = thread % 32, warp = thread % 128 / 32;
    const int own_rows = kDown == 2 ? group : 0, own_columns = kDown == 2 ? 0 : group * (N / 64);
    for (int tile = static_cast<int>(blockIdx.x); tile < tiles.all; tile += gridDim.x) {
      const auto at = tiles.at(tile, args);
      float sums[N / 2];  // of the lane
      multiply_steps<T, N, true, true>(sums, ring, own_rows * kBoxBytes,
                                       (kDown + own_columns) * kBoxBytes, at.begin, at.end, thread);

      const int64_t pitch = int64_t{down.taps} * across.taps * args.channels;
      const int row = at.row + 64 * own_rows + 16 * warp + lane / 4;
#pragma unroll
      for (int box = 0; box < N / 64; ++box) {
        const int column = at.box + own_columns + box;
        if (column >= tiles.columns) break;
        const int tap = column / tiles.chunks;
        const int first = column % tiles.chunks * 64 + lane % 4 * 2;
#pragma unroll
        for (int j = 0; j < 8; ++j)
#pragma unroll
          for (int low = 0; low < 2; ++low) {
            const int channel = first + 8 * j;
            if (row + 8 * low >= args.rows || channel >= args.channels) continue;
            const int64_t to = (row + 8 * low) * pitch + tap * args.channels + channel;
            const float* const of = sums + 32 * box + 4 * j + 2 * low;
            if (args.partial)
              *reinterpret_cast<float2*>(args.partial + at.part * (args.rows * pitch) + to) = {
                  of[0], of[1]};
            else
              *reinterpret_cast<uint32_t*>(args.out + to) = both_halves<T>(of[0], of[1]);
          }
      }
    }
  }
#endif
}

}  // namespace gradus::cuda
