// Attention on Hopper, without dropout and with masks of keys alone: the output.
//
// Idea. The passes are those of attention_tiles.cuh. A block has two warpgroups with 64 rows each,
// and a third one that copies. It fills tiles of the other operands while the first two multiply,
// for one tile of rows after the other. Products of the block's own rows read both operands from
// shared memory. `wgmma` takes the weights, which come from these products, from registers. So
// nothing but copies writes to shared memory, and a warpgroup finds weights while products of the
// tile before are on their way. A float is the sum of three numbers of bfloat16, of which six
// products count (matmul_wgmma_split.cuh), or of two where TF32 will do.
//
// Cost. One tile in two that cross the causal edge is half idle. Planes of floats take 6 bytes an
// element.
//
// Next. Warpgroups that take turns (FlashAttention-3, Shah and others 2024).
#pragma once

#include "gradus/cuda/kernels/hopper/attention_wgmma_tiles.cuh"

namespace gradus::cuda {

// Floats that become planes: (batches, heads, rows, width), and how many units of 8 they are.
struct AttentionPlanes {
  const float* data;
  int64_t step[3], heads, rows, width, units;
};

// to (planes, batches, heads, rows, width). Numbers below 2^-110 have fewer bits.
// REQUIRES: rows are aligned to 16 bytes, and the width is a multiple of 8.
template <int kPlanes>
__global__ void attention_planes(AttentionPlanes from, BFloat16* to) {
  wait_for_earlier_kernels();
  const int64_t unit = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (unit >= from.units) return;
  const int64_t c = unit * 8 % from.width, line = unit * 8 / from.width;
  const int64_t row = line % from.rows, index = line / from.rows;
  const auto* const at =
      reinterpret_cast<const float4*>(from.data + index / from.heads * from.step[0] +
                                      index % from.heads * from.step[1] + row * from.step[2] + c);
  float4 left[2] = {at[0], at[1]};
#pragma unroll
  for (int plane = 0; plane < kPlanes; ++plane) {
    uint32_t both[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float &x = i % 2 == 0 ? left[i / 2].x : left[i / 2].z,
            &y = i % 2 == 0 ? left[i / 2].y : left[i / 2].w;
      both[i] = both_halves<BFloat16>(x, y);
      x -= half_of<BFloat16>(both[i], 0), y -= half_of<BFloat16>(both[i], 1);
    }
    reinterpret_cast<uint4*>(to)[plane * from.units + unit] =
        uint4{both[0], both[1], both[2], both[3]};
  }
}

// kMasked: a mask adds to the scores of each key.
template <class Tile, bool kMasked>
__global__ void __launch_bounds__(Tile::kThreads, 1)
    attention_wgmma(const __grid_constant__ AttentionWgmmaArgs<typename Tile::Element> args) {
#if __CUDA_ARCH_FEAT_SM90_ALL
  using namespace hopper;
  using Group = AttentionGroup<Tile>;
  constexpr int W = Tile::kWidth, N = Tile::kColumns;
  extern __shared__ __align__(1024) char tiles[];
  AttentionPipe<Tile> pipe(args, tiles);
  wait_for_earlier_kernels();
  if (!pipe.template take_role<false>()) return;
  const Group at(pipe);
  const float scale = args.of.scale * kLog2E;
  const int keys = static_cast<int>(args.of.keys);
  pipe.template each_item<false>([&](const AttentionItem& item) {
    typename Group::Sums out = {};
    typename Group::Part part;
    typename Group::Products scores;
    typename Group::Weights weights;
    [[maybe_unused]] typename Group::KeyMask mask;
    // The score that weights are relative to, times log2(e).
    float about[2], sum[2] = {};
    about[0] = about[1] = scalar::least<float>();
    const int first = item.first + 64 * at.group;  // the warpgroup's first row
    // Scores become weights. True where results are to be scaled again.
    const auto weigh = [&](int key, float(&factor)[2]) {
      if constexpr (kMasked) at.add_mask(scores, mask);
      if (key + N > keys || (args.of.causal && key + N > first + 1))
        at.hide(scores, item.first, key, keys, args.of.causal, scalar::least<float>());
      float most[2] = {scalar::least<float>(), scalar::least<float>()};
      at.visit([&](int low, int, int, float& x) { most[low] = ::max(most[low], x); }, scores);
      bool grows = false;
#pragma unroll
      for (int low = 0; low < 2; ++low) {
        most[low] = ::max(most[low], __shfl_xor_sync(0xffffffffu, most[low], 1));
        most[low] = ::max(most[low], __shfl_xor_sync(0xffffffffu, most[low], 2)) * scale;
        grows |= most[low] > about[low] + 8;
      }
      grows = __any_sync(0xffffffffu, grows);
      if (grows) {
#pragma unroll
        for (int low = 0; low < 2; ++low) {
          const float higher = ::max(about[low], most[low]);
          factor[low] = about[low] == scalar::least<float>() ? 0 : power_of_2(about[low] - higher);
          sum[low] *= factor[low];
          about[low] = higher;
        }
      }
      float from[2] = {about[0], about[1]};
      if constexpr (kMasked)
        for (float& each : from) each = each == scalar::least<float>() ? 0 : each;  // sees none yet
      at.visit(
          [&](int low, int, int, float& x) {
            x = power_of_2(x * scale - from[low]);
            sum[low] += x;
          },
          scores);
      return grows;
    };
    if constexpr (kMasked) at.load_mask(mask, item, 0);
    pipe.owns.wait_until_full();
    pipe.streams.wait_until_full();
    begin_products();
    at.multiply_own(scores, 0, pipe.stream(0, pipe.streams.stage));
    wait_for_products<0>();
    float factor[2];
    weigh(0, factor);
    at.round_weights(scores, weights);
#pragma unroll 1
    for (int key = N; key < item.end; key += N) {
      const int before = pipe.streams.stage;
      pipe.streams.advance();
      if constexpr (kMasked) at.load_mask(mask, item, key);
      pipe.streams.wait_until_full();
      begin_products();
      at.multiply_own(scores, 0, pipe.stream(0, pipe.streams.stage));
      at.accumulate(out, part, weights, pipe.stream(1, before));
      wait_for_products<1>();
      const bool grows = weigh(key, factor);
      wait_for_products<0>();
      pipe.streams.release_of_warp(before);
      at.take(out, part);
      if (grows) {
#pragma unroll
        for (int i = 0; i < W / 2; ++i) out[i] *= factor[i % 4 / 2];
      }
      at.round_weights(scores, weights);
    }
    pipe.owns.release_of_warp(0);
    pipe.owns.advance();
    begin_products();
    at.accumulate(out, part, weights, pipe.stream(1, pipe.streams.stage));
#pragma unroll
    for (int low = 0; low < 2; ++low) {
      sum[low] += __shfl_xor_sync(0xffffffffu, sum[low], 1);
      sum[low] += __shfl_xor_sync(0xffffffffu, sum[low], 2);
      const int64_t query = item.first + at.row + 8 * low;
      if (at.column == 0 && query < args.of.queries)
        args.log_sums[item.index * args.of.queries + query] =
            scalar::log(sum[low]) + about[low] * (1 / kLog2E);
      sum[low] = kMasked && !(sum[low] > 0) ? sum[low] : 1 / sum[low];
    }
    wait_for_products<0>();
    pipe.streams.release_of_warp(pipe.streams.stage);
    pipe.streams.advance();
    at.take(out, part);
#pragma unroll
    for (int i = 0; i < W / 2; ++i) out[i] *= sum[i % 4 / 2];
    at.store(args.out + item.batch * args.of.out_step[0] + item.head * args.of.out_step[1],
             args.of.out_step[2], item.first, args.of.queries, args.of.values, out);
  });
#endif
}

}  // namespace gradus::cuda
