// Attention on Hopper, without dropout and with masks of keys alone: the gradients.
//
// Idea. One kernel goes over the keys for the gradient of the queries, another one over the queries
// for those of keys and values. Both compute the weights anew, from log_sums. Weights and their
// gradients are left operands in registers. One product reads a tile of shared memory along its
// rows, and another one along its columns. So every sum has one owner and one order.
//
// Cost. Seven products of tiles, where five would do with atomic additions.
#pragma once

#include "gradus/cuda/kernels/hopper/attention_wgmma_tiles.cuh"

namespace gradus::cuda {

// args.lines of all queries, and zeros from there to the end of a head's. W / 8 lanes share a row.
// REQUIRES: rows of grad and out are aligned to 16 bytes, and widths are multiples of 8.
template <class T, int W>
__global__ void attention_lines(AttentionArgs<T, float> args, const T* grad, const T* out,
                                const float* log_sums, int64_t pitch, int64_t count,
                                float2* lines) {
  wait_for_earlier_kernels();
  constexpr int kSharing = W / 8, kLoads = 8 * sizeof(T) / 16;
  const int64_t at = (int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / kSharing;
  const int64_t index = at / pitch, query = at % pitch;
  const int c = static_cast<int>(threadIdx.x) % kSharing * 8;
  float mean = 0;
  const bool inside = at < count && query < args.queries;
  if (inside && c < args.values) {
    alignas(16) T left[8], right[8];
    const auto load = [&](T(&to)[8], const T* x, const int64_t(&step)[3]) {
      const T* const from =
          x + index / args.heads * step[0] + index % args.heads * step[1] + query * step[2] + c;
#pragma unroll
      for (int i = 0; i < kLoads; ++i)
        reinterpret_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(from)[i];
    };
    load(left, grad, args.grad_step), load(right, out, args.out_step);
#pragma unroll
    for (int e = 0; e < 8; ++e) mean += static_cast<float>(left[e]) * static_cast<float>(right[e]);
  }
#pragma unroll
  for (int reach = kSharing / 2; reach > 0; reach /= 2)
    mean += __shfl_xor_sync(0xffffffffu, mean, reach);
  if (c == 0 && at < count) {
    const float about = inside ? log_sums[index * args.queries + query] : 0;
    // A query that sees nothing has weights of 0.
    lines[at] = {about == scalar::least<float>() ? 0 : about * kLog2E, mean * args.scale};
  }
}

// The gradient of the queries. own: q and grad; streams: k and v.
template <class Tile, bool kMasked>
__global__ void __launch_bounds__(Tile::kThreads, 1) attention_wgmma_grad_q(
    const __grid_constant__ AttentionWgmmaArgs<typename Tile::Element> args) {
#if __CUDA_ARCH_FEAT_SM90_ALL
  using namespace hopper;
  using Group = AttentionGroup<Tile>;
  constexpr int N = Tile::kColumns;
  extern __shared__ __align__(1024) char tiles[];
  AttentionPipe<Tile> pipe(args, tiles);
  wait_for_earlier_kernels();
  if (!pipe.template take_role<false>()) return;
  const Group at(pipe);
  const float scale = args.of.scale * kLog2E;
  const int keys = static_cast<int>(args.of.keys);
  pipe.template each_item<false>([&](const AttentionItem& item) {
    typename Group::Sums result = {};
    typename Group::Part part;
    typename Group::Products weights, slopes;
    typename Group::Weights rounded;
    const int first = item.first + 64 * at.group;
    float2 line[2];
#pragma unroll
    for (int low = 0; low < 2; ++low)  // pitch is a multiple of tiles
      line[low] = args.lines[item.index * args.pitch + item.first + at.row + 8 * low];
    pipe.owns.wait_until_full();
    int before = -1;
#pragma unroll 1
    for (int key = 0; key < item.end; key += N) {
      [[maybe_unused]] typename Group::KeyMask mask;
      if constexpr (kMasked) at.load_mask(mask, item, key);
      pipe.streams.wait_until_full();
      begin_products();
      at.multiply_own(weights, 0, pipe.stream(0, pipe.streams.stage));
      at.multiply_own(slopes, 1, pipe.stream(1, pipe.streams.stage));
      wait_for_products<1>();
      if (before >= 0) pipe.streams.release_of_warp(before);
      if constexpr (kMasked) at.add_mask(weights, mask);
      at.visit([&](int low, int, int, float& x) { x = power_of_2(x * scale - line[low].x); },
               weights);
      if (key + N > keys || (args.of.causal && key + N > first + 1))
        at.hide(weights, item.first, key, keys, args.of.causal, 0);
      wait_for_products<0>();
      at.visit([&](int low, int, int, float& weight,
                   float& slope) { slope = weight * (slope * args.of.scale - line[low].y); },
               weights, slopes);
      at.round_weights(slopes, rounded);
      begin_products();
      at.accumulate(result, part, rounded, pipe.stream(0, pipe.streams.stage));
      if constexpr (Group::kExact) {
        wait_for_products<0>();
        at.take(result, part);
      }
      before = pipe.streams.stage;
      pipe.streams.advance();
    }
    wait_for_products<0>();
    pipe.streams.release_of_warp(before);
    pipe.owns.release_of_warp(0);
    pipe.owns.advance();
    at.store(args.grad_q + item.batch * args.of.q_grad_step[0] + item.head * args.of.q_grad_step[1],
             args.of.q_grad_step[2], item.first, args.of.queries, args.of.width, result);
  });
#endif
}

// The gradients of keys and values. own: k and v; streams: q and grad.
template <class Tile, bool kMasked>
__global__ void __launch_bounds__(Tile::kThreads, 1) attention_wgmma_grad_kv(
    const __grid_constant__ AttentionWgmmaArgs<typename Tile::Element> args) {
#if __CUDA_ARCH_FEAT_SM90_ALL
  using namespace hopper;
  using T = typename Tile::Element;
  using Group = AttentionGroup<Tile>;
  constexpr int N = Tile::kColumns;
  // One left operand where registers are few, which both products wait for.
  constexpr int kOperands = Tile::kWidth == 64 && Tile::kPlanes < 3 ? 2 : 1;
  extern __shared__ __align__(1024) char tiles[];
  AttentionPipe<Tile> pipe(args, tiles);
  wait_for_earlier_kernels();
  if (!pipe.template take_role<true>()) return;
  const Group at(pipe);
  const float scale = args.of.scale * kLog2E;
  pipe.template each_item<true>([&](const AttentionItem& item) {
    typename Group::Sums of_keys = {}, of_values = {};
    typename Group::Part part;
    typename Group::Products weights, slopes;
    typename Group::Weights rounded[kOperands];
    const int first = item.first + 64 * at.group;
    [[maybe_unused]] float mask[2];  // of the lane's keys, as part of an exponent
    if constexpr (kMasked) {
      const auto& of = args.of;
      const T* const from = of.mask + item.batch * of.mask_step[0] + item.head * of.mask_step[1];
#pragma unroll
      for (int low = 0; low < 2; ++low) {
        const int64_t key = item.first + at.row + 8 * low;
        mask[low] = key < of.keys ? static_cast<float>(from[key * of.mask_step[3]]) * kLog2E : 0;
      }
    }
    pipe.owns.wait_until_full();
    int query = item.begin, before = -1;
    for (; args.of.causal && query < item.end && query + N <= first; query += N) {  // none sees
      pipe.streams.wait_until_full();
      pipe.streams.release_of_warp(pipe.streams.stage);
      pipe.streams.advance();
    }
#pragma unroll 1
    for (; query < item.end; query += N) {
      pipe.streams.wait_until_full();
      begin_products();
      at.multiply_own(weights, 0, pipe.stream(0, pipe.streams.stage));
      at.multiply_own(slopes, 1, pipe.stream(1, pipe.streams.stage));
      wait_for_products<1>();
      if (before >= 0) pipe.streams.release_of_warp(before);
      // A pair is of the lane's columns 8 j and 8 j + 1.
      const auto* const lines =
          reinterpret_cast<const float4*>(pipe.lines(pipe.streams.stage)) + at.column / 2;
      at.visit(
          [&](int low, int j, int right, float& x) {
            const float4 pair = lines[4 * j];
            x = x * scale - (right == 0 ? pair.x : pair.z);
            if constexpr (kMasked) x += mask[low];
            x = power_of_2(x);
          },
          weights);
      const int least = item.first + at.row - query - at.column;
      if (args.of.causal && query < first + 63)
        at.visit(
            [&](int low, int j, int right, float& x) {
              if (8 * j + right - 8 * low < least) x = 0;
            },
            weights);
      at.round_weights(weights, rounded[0]);
      begin_products();
      at.accumulate(of_values, part, rounded[0], pipe.stream(1, pipe.streams.stage));
      wait_for_products<kOperands - 1>();
      if constexpr (kOperands == 1) at.take(of_values, part);
      at.visit(
          [&](int, int j, int right, float& weight, float& slope) {
            const float4 pair = lines[4 * j];
            slope = weight * (slope * args.of.scale - (right == 0 ? pair.y : pair.w));
          },
          weights, slopes);
      at.round_weights(slopes, rounded[kOperands - 1]);
      begin_products();
      at.accumulate(of_keys, part, rounded[kOperands - 1], pipe.stream(0, pipe.streams.stage));
      if constexpr (Group::kExact) {
        wait_for_products<0>();
        at.take(of_keys, part);
      }
      before = pipe.streams.stage;
      pipe.streams.advance();
    }
    wait_for_products<0>();
    if (before >= 0) pipe.streams.release_of_warp(before);
    pipe.owns.release_of_warp(0);
    pipe.owns.advance();
    const auto store = [&](T* to, const int64_t(&step)[3], int width,
                           const typename Group::Sums& sums) {
      at.store(to + item.batch * step[0] + item.head * step[1], step[2], item.first, args.of.keys,
               width, sums);
    };
    store(args.grad_k, args.of.k_grad_step, args.of.width, of_keys);
    store(args.grad_v, args.of.v_grad_step, args.of.values, of_values);
  });
#endif
}

}  // namespace gradus::cuda
