// Attention of one query for each head where heads share keys and values, by tensor cores.
//
// Idea. The queries of up to 8 heads that share keys are the rows of a matrix, whose products with
// 16 keys a warp makes by tensor cores. Nothing passes shared memory: a lane reads 16 bytes of a
// key or of a value, and terms and columns may come in any order. The weights of a warp are
// relative to its own largest scores. Keys are asked for while the values before them are
// multiplied, and values while the next scores are. Parts are joined as in attention_one_query.
//
// Cost. Rows without a query are multiplied, too: tensor cores have time for that, since the keys
// come from memory.
#pragma once

#include "gradus/cuda/kernels/decoding/attention_one_query.cuh"
#include "gradus/cuda/kernels/tensor_core.cuh"

namespace gradus::cuda {

inline constexpr int kMostSharing = 8;  // queries of a block
template <int kWidth>
inline constexpr int kSharedKeysBlocks = kWidth > 64 ? 1 : 2;  // of a multiprocessor

// Keys from part * size on, for the `queries` heads of block / parts.
// REQUIRES: as for attention_one_query; queries <= kMostSharing divides args.sharing; both widths
// are kWidth, a multiple of 64.
template <class T, int kWidth>
__global__ void __launch_bounds__(kOneQueryThreads, kSharedKeysBlocks<kWidth>)
    attention_shared_keys(const __grid_constant__ AttentionArgs<T, float> args, int queries,
                          int parts, int size, T* out, float* log_sums, float* partial,
                          unsigned* counters) {
  constexpr int kStep = 16, kRound = kOneQueryWarps * kStep;  // keys
  constexpr int kDeep = kWidth / 32, kAcross = kWidth / 64;   // units of a lane
  constexpr float kHidden = scalar::least<float>();
  using Unit = Vector<uint32_t, 4>;  // 8 elements
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int group = lane / 4, member = lane % 4;
  const int block = static_cast<int>(blockIdx.x), groups = static_cast<int>(args.heads) / queries;
  const int index = block / parts, part = block - index * parts;
  const int batch = index / groups, head = (index - batch * groups) * queries;
  const int64_t shared = head / static_cast<int>(args.sharing);
  const T* const k = args.k + batch * args.k_step[0] + shared * args.k_step[1] + member * 8;
  const T* const v = args.v + batch * args.v_step[0] + shared * args.v_step[1] + group * 8;
  const bool is_query = group < queries;
  const auto load = [](const T* from, bool inside) {
    return inside ? load_vector<4>(reinterpret_cast<const uint32_t*>(from)) : Unit{};
  };
  const int begin = part * size + warp * kStep;
  const int end = ::min(static_cast<int>(args.keys), (part + 1) * size);
  wait_for_earlier_kernels();
  let_next_kernel_start();

  Unit query[kDeep];
#pragma unroll
  for (int j = 0; j < kDeep; ++j)
    query[j] = load(
        args.q + batch * args.q_step[0] + (head + group) * args.q_step[1] + member * 8 + j * 32,
        is_query);

  // Scores, masks and weights [t][e] are those of key 8 t + 2 member + e of a step.
  struct OfKeys {
    float at[2][2];
  };
  const auto read_mask = [&](int at) {
    OfKeys to;
#pragma unroll
    for (int t = 0; t < 2; ++t)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int64_t key = at + 8 * t + 2 * member + e;
        const bool inside = is_query && key < end;
        to.at[t][e] = inside ? 0 : kHidden;
        if (args.mask && inside)
          to.at[t][e] =
              static_cast<float>(
                  args.mask[batch * args.mask_step[0] + (head + group) * args.mask_step[1] +
                            key * args.mask_step[3]]) *
              kLog2E;
      }
    return to;
  };
  // Bit 4 q + m of word [t][e]: whether query q sees key 8 t + 2 m + e.
  struct Seen {
    unsigned by[2][2];
    __device__ bool key(int t, int m, int e) const {
      return ((e == 0 ? by[t][0] : by[t][1]) >> m & 0x11111111u) != 0;
    }
  };
  const auto seen_by_mask = [&](const OfKeys& mask) {
    Seen to;
#pragma unroll
    for (int t = 0; t < 2; ++t)
#pragma unroll
      for (int e = 0; e < 2; ++e)
        to.by[t][e] = __ballot_sync(0xffffffffu, mask.at[t][e] != kHidden);
    return to;
  };
  Unit keys[2][kDeep], values[2][2][kAcross];
  const auto load_keys = [&](int at, const Seen& seen) {
#pragma unroll
    for (int t = 0; t < 2; ++t) {
      const bool inside = seen.key(t, group / 2, group % 2);
      const T* const from = k + int64_t{at + 8 * t + group} * args.k_step[2];
#pragma unroll
      for (int j = 0; j < kDeep; ++j) keys[t][j] = load(from + j * 32, inside);
    }
  };
  const auto load_values = [&](int at, const Seen& seen) {
#pragma unroll
    for (int t = 0; t < 2; ++t)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const bool inside = seen.key(t, member, e);
        const T* const from = v + int64_t{at + 8 * t + 2 * member + e} * args.v_step[2];
#pragma unroll
        for (int c = 0; c < kAcross; ++c) values[t][e][c] = load(from + c * 64, inside);
      }
  };

  // Column 64 c + 8 (2 member + e) + i of query `group` is sums[c][i][e].
  float sums[kAcross][8][2] = {};
  float about = kHidden, sum = 0;
  const float scale = args.scale * kLog2E;
  OfKeys mask = read_mask(begin);
  Seen seen = seen_by_mask(mask);
  load_keys(begin, seen), load_values(begin, seen);
  for (int at = begin; at < end; at += kRound) {
    const OfKeys next_mask = read_mask(at + kRound);
    const Seen next_seen = seen_by_mask(next_mask);
    float scores[2][4] = {};
#pragma unroll
    for (int t = 0; t < 2; ++t)
#pragma unroll
      for (int j = 0; j < kDeep; ++j)
#pragma unroll
        for (int half = 0; half < 4; half += 2)
          multiply_add_halves<T>(scores[t], {query[j].at[half], 0, query[j].at[half + 1], 0},
                                 {keys[t][j].at[half], keys[t][j].at[half + 1]});
    load_keys(at + kRound, next_seen);

    float most = about;
#pragma unroll
    for (int t = 0; t < 2; ++t)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        scores[t][e] =
            mask.at[t][e] == kHidden ? kHidden : fmaf(scores[t][e], scale, mask.at[t][e]);
        most = ::max(most, scores[t][e]);
      }
    most = ::max(most, __shfl_xor_sync(0xffffffffu, most, 1));
    most = ::max(most, __shfl_xor_sync(0xffffffffu, most, 2));
    const float from = most == kHidden ? 0 : most, factor = power_of_2(about - from);
    about = most, sum *= factor;
    uint32_t weights[2];
#pragma unroll
    for (int t = 0; t < 2; ++t) {
      const T low(power_of_2(scores[t][0] - from)), high(power_of_2(scores[t][1] - from));
      sum += static_cast<float>(low) + static_cast<float>(high);
      weights[t] = uint32_t{low.bits} | uint32_t{high.bits} << 16;
    }
#pragma unroll
    for (int c = 0; c < kAcross; ++c)
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        float rows[4] = {sums[c][i][0] * factor, sums[c][i][1] * factor};  // 8 are empty
        const unsigned pick = i % 2 == 0 ? 0x5410 : 0x7632;  // of two keys one element each
        multiply_add_halves<T>(
            rows, {weights[0], 0, weights[1], 0},
            {__byte_perm(values[0][0][c].at[i / 2], values[0][1][c].at[i / 2], pick),
             __byte_perm(values[1][0][c].at[i / 2], values[1][1][c].at[i / 2], pick)});
        sums[c][i][0] = rows[0], sums[c][i][1] = rows[1];
      }
    load_values(at + kRound, next_seen);
    mask = next_mask;
  }

  __shared__ PartsOfWarps<kMostSharing, kWidth> of_warps;
  sum += __shfl_xor_sync(0xffffffffu, sum, 1);
  sum += __shfl_xor_sync(0xffffffffu, sum, 2);
  if (is_query) {
#pragma unroll
    for (int c = 0; c < kAcross; ++c)
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int e = 0; e < 2; ++e)
          of_warps.results[group][warp][64 * c + 8 * (2 * member + e) + i] = sums[c][i][e];
    if (member == 0) of_warps.abouts[group][warp] = about, of_warps.sums[group][warp] = sum;
  }
  finish_queries(args, of_warps,
                 {queries, batch * static_cast<int>(args.heads) + head, index, part, parts}, out,
                 log_sums, partial, counters);
}

}  // namespace gradus::cuda
