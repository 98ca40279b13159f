// Gradients of a convolution's weight, of floats rounded to TF32, on Hopper. All tensors lie with
// their channels last in memory.
//
// Idea. The product is that of convolution_wgmma_weight.cuh. But `wgmma` takes TF32 from shared
// memory only where terms, which are places here, are neighbours. So warpgroups load their filters
// into registers, and turn the tile of channels together: each thread a square of 4 x 4. The terms
// of 8 places go in the order 0 2 4 6 1 3 5 7, and filters 2 i and 2 i + 1 are 8 apart in the
// product. Then no two lanes of a load or store meet in a bank of memory. Where there are few
// filters, both warpgroups take the same 64, and columns of their own.
// Cost. A step of 32 places takes 0.8 microseconds, of which products are 0.3. It moves 112 KB
// through shared memory, and no warpgroup multiplies while tiles are turned.
// Next. A warpgroup that turns while others multiply.
#pragma once

#include "gradus/cuda/kernels/hopper/convolution_wgmma_weight.cuh"

namespace gradus::cuda {

// kDown: warpgroups one below the other; 1 where they are side by side.
template <int kDown>
struct WeightTf32Tile {
  static constexpr int kThreads = 288, kPlaces = 32;                     // of a step
  static constexpr int kRows = 64 * kDown, kColumns = 128, kPlanes = 1;  // columns of a warpgroup
  static constexpr int kLine = 32, kBox = 32 * 128, kBoxesA = 2 * kDown, kBoxesB = 8 / kDown;
  static constexpr int kResident = 1, kTurnedBytes = kBoxesB * kBox;
  static constexpr int kStageBytes = (kBoxesA + kBoxesB) * kBox;
  static constexpr int kStages = hopper::stages_that_fit(kStageBytes, 2 * kTurnedBytes);
  static constexpr int kSharedBytes =
      2 * kTurnedBytes + kStages * kStageBytes + hopper::kBarrierBytes;
};

template <int kDown>
__global__ void __launch_bounds__(WeightTf32Tile<kDown>::kThreads, 1)
    convolution_wgmma_weight_tf32(const __grid_constant__ WeightWgmmaArgs<float> args) {
#if __CUDA_ARCH_FEAT_SM90_ALL
  using namespace hopper;
  using Tile = WeightTf32Tile<kDown>;
  constexpr int N = Tile::kColumns, kBox = Tile::kBox;
  extern __shared__ __align__(1024) char shared[];
  WeightRing<Tile> ring(shared + 2 * Tile::kTurnedBytes);
  init_rings<1>(1, ring);
  wait_for_earlier_kernels();

  const int thread = static_cast<int>(threadIdx.x), group = thread / 128;
  const GatheredDim &down = args.dim[0], &across = args.dim[1];
  const WeightTiles<Tile> tiles(args);
  if (group == 2) {
    if (thread % 32 == 0) copy_weight_steps(args, tiles, ring);
    return;
  }
  const int lane = thread % 32, warp = thread % 128 / 32, row_pair = lane / 4, member = lane % 4;
  const int down_group = kDown == 2 ? group : 0, across_group = kDown == 2 ? 0 : group;
  // The square that this thread turns: four places, and four channels of a box of each four.
  const int places = thread % 8, own_box = thread / 64;
  const int channels = ((places & 4) | (places & 1) << 1 | (places >> 1 & 1)) ^ (thread / 8 % 8);
  int turn = 0;
  for (int tile = static_cast<int>(blockIdx.x); tile < tiles.all; tile += gridDim.x) {
    const auto at = tiles.at(tile, args);
    float sums[N / 2];  // of the lane
    for (int step = at.begin; step < at.end; ++step) {
      ring.wait_until_full();
      // ring.tile() takes an instruction more here.
      const char* const a = ring.stages + ring.stage * Tile::kStageBytes;
      char* const turned = shared + turn * Tile::kTurnedBytes;
#pragma unroll
      for (int box = own_box; box < Tile::kBoxesB; box += 4) {
        const char* const b = a + (Tile::kBoxesA + box) * kBox;
        float4 x[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int in_8 = places % 2 + 2 * i;
          x[i] = *reinterpret_cast<const float4*>(b + (places / 2 * 8 + in_8) * 128 +
                                                  (channels ^ in_8) * 16);
        }
        const auto put = [&](int channel, float4 terms) {
          const int line = 4 * channels + channel;
          *reinterpret_cast<float4*>(turned + box * kBox + line * 128 + (places ^ line % 8) * 16) =
              terms;
        };
        put(0, {x[0].x, x[1].x, x[2].x, x[3].x});
        put(1, {x[0].y, x[1].y, x[2].y, x[3].y});
        put(2, {x[0].z, x[1].z, x[2].z, x[3].z});
        put(3, {x[0].w, x[1].w, x[2].w, x[3].w});
      }
      wait_for_products<0>();  // they read these registers
      uint32_t filters[4][4];
      const char* const own = a + (2 * down_group + warp / 2) * kBox + row_pair % 2 * 8;
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const int in_8 = 2 * member + i % 2;
        const uint2 pair = *reinterpret_cast<const uint2*>(
            own + (i / 2 * 8 + in_8) * 128 + ((warp % 2 * 4 + row_pair / 2) ^ in_8) * 16);
        filters[i / 2][i % 2 * 2] = pair.x, filters[i / 2][i % 2 * 2 + 1] = pair.y;
      }
      publish_to_copies();
      sync_threads<256>(1);
      if (thread == 0) arrive(&ring.empty[ring.stage]);
      const uint64_t from = describe(turned + across_group * 4 * kBox);
      begin_products();
#pragma unroll
      for (int i = 0; i < 4; ++i)
        multiply_held<float, N, false>(sums, filters[i], from + 2 * i, step > at.begin || i > 0);
      end_products();
      turn ^= 1;
      ring.advance();
    }
    wait_for_products<0>();

    const int64_t pitch = int64_t{down.taps} * across.taps * args.channels;
    const int row = at.row + 64 * down_group + 16 * warp + 2 * row_pair;
    float* const out = args.partial ? args.partial + at.part * (args.rows * pitch) : args.out;
#pragma unroll
    for (int j = 0; j < N / 8; ++j) {
      const int column = 8 * j + 2 * member, of_box = at.box + 4 * across_group + column / 32;
      const int channel = of_box % tiles.chunks * 32 + column % 32;
      if (of_box >= tiles.columns || channel >= args.channels) continue;
#pragma unroll
      for (int low = 0; low < 2; ++low)
        if (row + low < args.rows)
          *reinterpret_cast<float2*>(out + (row + low) * pitch +
                                     of_box / tiles.chunks * args.channels +
                                     channel) = {sums[4 * j + 2 * low], sums[4 * j + 2 * low + 1]};
    }
  }
#endif
}

}  // namespace gradus::cuda
