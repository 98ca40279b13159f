// Attention of one query for each head, as a model that generates asks for it: keys and values are
// read once.
//
// Idea. Lanes share a key, each with 16 bytes of it. A warp has several keys under way and keeps a
// softmax of its own, whose weights are relative to its largest score so far. The results of
// lanes and warps are joined in a fixed order. Where heads are few, each has several blocks with a
// part of the keys, and the last of them joins their results.
// A key whose mask is -infinity is not read.
#pragma once

#include "gradus/cuda/kernels/rows/attention_tiles.cuh"
#include "gradus/cuda/kernels/rows/last_block.cuh"
#include "gradus/cuda/kernels/vector.cuh"

namespace gradus::cuda {

inline constexpr int kOneQueryThreads = 256, kOneQueryWarps = kOneQueryThreads / 32;
inline constexpr int kOneQueryWidth = 128;  // at most

// Weights relative to `about`, which is log2(e) times a score: their sum, and what they give.
template <int N>
struct PartOfSoftmax {
  float about = scalar::least<float>(), sum = 0, result[N] = {};

  // Makes weights relative to a score that is not less. Returns what exponents are less by.
  __device__ float raise(float higher) {
    const float from = higher == scalar::least<float>() ? 0 : higher;
    const float factor = power_of_2(about - from);
    about = higher, sum *= factor;
#pragma unroll
    for (float& x : result) x *= factor;
    return from;
  }
  __device__ void add(float other_about, float other_sum, const float (&other)[N]) {
    const float from = raise(::max(about, other_about));
    const float factor = power_of_2(other_about - from);
    sum += factor * other_sum;
#pragma unroll
    for (int i = 0; i < N; ++i) result[i] += factor * other[i];
  }
};

// Brings kCount parts together. at(i) gives the i-th one's about, sum and result.
template <int kCount, class At>
__device__ PartOfSoftmax<1> joined(int count, const At& at) {
  PartOfSoftmax<1> whole;
  float3 part[kCount];
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    part[i] = i < count ? at(i) : float3{scalar::least<float>(), 0, 0};
    whole.about = ::max(whole.about, part[i].x);
  }
  const float from = whole.about == scalar::least<float>() ? 0 : whole.about;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const float factor = power_of_2(part[i].x - from);
    whole.sum += factor * part[i].y, whole.result[0] += factor * part[i].z;
  }
  return whole;
}

// The end of a head's query, by a thread for each column.
template <class T>
__device__ void finish_query(const AttentionArgs<T, float>& args, int index, int column,
                             const PartOfSoftmax<1>& whole, T* out, float* log_sums) {
  const float factor = whole.sum > 0 ? 1 / whole.sum : whole.sum;
  const int heads = static_cast<int>(args.heads), batch = index / heads;
  out[batch * args.out_step[0] + (index - batch * heads) * args.out_step[1] + column] =
      T(whole.result[0] * factor);
  if (column == 0) log_sums[index] = scalar::log(whole.sum) + whole.about * (1 / kLog2E);
}

// The floats that a block writes for its part of the keys.
inline constexpr int kPartFloats = kOneQueryWidth + 4;  // result, about, sum

// The parts of a query whose first one is at `from`, by a thread for each column.
__device__ inline PartOfSoftmax<1> joined_parts(const float* from, int parts, int column) {
  constexpr int kTogether = 8;
  PartOfSoftmax<1> whole;
  for (int first = 0; first < parts; first += kTogether) {
    const auto some = joined<kTogether>(parts - first, [&](int i) {
      const float* const part = from + int64_t{first + i} * kPartFloats;
      return float3{part[kOneQueryWidth], part[kOneQueryWidth + 1], part[column]};
    });
    whole.add(some.about, some.sum, some.result);
  }
  return whole;
}

// Keys from part * size on, of the head of block / parts. kSharing: lanes that share a key. Several
// parts write to `partial`, and each head has a counter for is_last_block().
// REQUIRES: one query; widths are multiples of 16 bytes, up to 16 kSharing, and rows are aligned.
template <class T, int kSharing>
__global__ void __launch_bounds__(kOneQueryThreads)
    attention_one_query(const __grid_constant__ AttentionArgs<T, float> args, int parts, int size,
                        T* out, float* log_sums, float* partial, unsigned* counters) {
  constexpr int kUnit = 16 / sizeof(T), kTogether = 32 / kSharing, kAhead = 4;
  constexpr int kStep = kTogether * kAhead;  // keys of a warp's step
  using Unit = Vector<T, kUnit>;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int block = static_cast<int>(blockIdx.x), heads = static_cast<int>(args.heads);
  const int index = block / parts, part = block - index * parts;
  const int batch = index / heads, head = index - batch * heads;
  const int column = lane % kSharing * kUnit;
  const auto matrix = [&](const T* x, const int64_t(&step)[3], int64_t of_head) {
    return x + batch * step[0] + of_head * step[1] + column;
  };
  const int64_t shared = head / static_cast<int>(args.sharing);
  const T *const k = matrix(args.k, args.k_step, shared), *const v =
                                                              matrix(args.v, args.v_step, shared);
  const T* const mask =
      args.mask ? args.mask + batch * args.mask_step[0] + head * args.mask_step[1] : nullptr;
  const auto load = [](const T* from, bool inside) {
    return inside ? load_vector<kUnit>(from) : Unit{};
  };

  const int begin = part * size + warp * kStep;
  const int end = ::min(static_cast<int>(args.keys), (part + 1) * size);
  if (is_few_blocks()) {
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      const int64_t key = begin + i * kTogether + lane / kSharing;
      if (key >= end) continue;
      if (column < args.width) prefetch(k + key * args.k_step[2]);
      if (column < args.values) prefetch(v + key * args.v_step[2]);
    }
  }
  wait_for_earlier_kernels();
  let_next_kernel_start();

  float query[kUnit];
  {
    const Unit from = load(matrix(args.q, args.q_step, head), column < args.width);
#pragma unroll
    for (int e = 0; e < kUnit; ++e)
      query[e] = static_cast<float>(from.at[e]) * (args.scale * kLog2E);
  }
  PartOfSoftmax<kUnit> mine;
  for (int at = begin; at < end; at += kOneQueryWarps * kStep) {
    float score[kAhead];
    bool seen[kAhead];
    Unit keys[kAhead], values[kAhead];
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      const int key = at + i * kTogether + lane / kSharing;
      seen[i] = key < end, score[i] = 0;
      if (mask && seen[i]) {
        score[i] = static_cast<float>(mask[key * args.mask_step[3]]) * kLog2E;
        seen[i] = score[i] != scalar::least<float>();
      }
    }
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      const int64_t key = at + i * kTogether + lane / kSharing;
      keys[i] = load(k + key * args.k_step[2], seen[i] && column < args.width);
      values[i] = load(v + key * args.v_step[2], seen[i] && column < args.values);
    }
    float most = mine.about;
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      float product = 0;
#pragma unroll
      for (int e = 0; e < kUnit; ++e) product += query[e] * static_cast<float>(keys[i].at[e]);
#pragma unroll
      for (int reach = kSharing / 2; reach > 0; reach /= 2)
        product += __shfl_xor_sync(0xffffffffu, product, reach);
      score[i] = seen[i] ? score[i] + product : scalar::least<float>();
      most = ::max(most, score[i]);
    }
    const float from = mine.raise(most);
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      const float weight = power_of_2(score[i] - from);
      mine.sum += weight;
#pragma unroll
      for (int e = 0; e < kUnit; ++e)
        mine.result[e] += weight * static_cast<float>(values[i].at[e]);
    }
  }

#pragma unroll
  for (int reach = kSharing; reach < 32; reach *= 2) {
    float other[kUnit];
#pragma unroll
    for (int e = 0; e < kUnit; ++e) other[e] = __shfl_xor_sync(0xffffffffu, mine.result[e], reach);
    const float about = __shfl_xor_sync(0xffffffffu, mine.about, reach);
    const float sum = __shfl_xor_sync(0xffffffffu, mine.sum, reach);
    mine.add(about, sum, other);
  }
  __shared__ float results[kOneQueryWarps][kSharing * kUnit];
  __shared__ float abouts[kOneQueryWarps], sums[kOneQueryWarps];
  if (lane < kSharing) {
#pragma unroll
    for (int e = 0; e < kUnit; ++e) results[warp][column + e] = mine.result[e];
  }
  if (lane == 0) abouts[warp] = mine.about, sums[warp] = mine.sum;
  __syncthreads();
  const int own = static_cast<int>(threadIdx.x);
  PartOfSoftmax<1> whole;
  if (own < args.values)
    whole = joined<kOneQueryWarps>(kOneQueryWarps, [&](int warp_of) {
      return float3{abouts[warp_of], sums[warp_of], results[warp_of][own]};
    });
  if (parts > 1) {
    float* const to = partial + int64_t{blockIdx.x} * kPartFloats;
    if (own < args.values) to[own] = whole.result[0];
    if (own == 0) to[kOneQueryWidth] = whole.about, to[kOneQueryWidth + 1] = whole.sum;
    if (!is_last_block(counters + index, static_cast<unsigned>(parts))) return;
    if (own < args.values)
      whole = joined_parts(partial + int64_t{index} * parts * kPartFloats, parts, own);
  }
  if (own < args.values) finish_query(args, index, own, whole, out, log_sums);
}

}  // namespace gradus::cuda
