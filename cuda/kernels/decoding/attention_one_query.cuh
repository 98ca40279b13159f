// Attention of one query for each head, as a model that generates asks for it: keys and values are
// read once.
//
// Idea. Lanes share a key, each with 16 bytes of it. A warp has several keys under way and keeps a
// softmax of its own, whose weights are relative to its largest score so far. A warp asks for the
// next keys before it computes. The results of lanes and warps are joined in a fixed order. Where
// heads are few, each has several blocks with a part of the keys, and the last of them joins their
// results. Queries that share a head of keys are taken together, up to four. A key whose mask is
// -infinity is not read.
#pragma once

#include "gradus/cuda/kernels/rows/attention_tiles.cuh"
#include "gradus/cuda/kernels/rows/last_block.cuh"
#include "gradus/cuda/kernels/vector.cuh"

namespace gradus::cuda {

inline constexpr int kOneQueryThreads = 256, kOneQueryWarps = kOneQueryThreads / 32;
inline constexpr int kOneQueryWidth = 128;  // at most
template <int kQueries>
inline constexpr int kOneQueryBlocks = kQueries == 1 ? 2 : 1;  // of a multiprocessor

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

// The parts of a query whose first one is at `from`, `step` floats apart, by a thread for each
// column.
__device__ inline PartOfSoftmax<1> joined_parts(const float* from, int64_t step, int parts,
                                                int column) {
  constexpr int kTogether = 8;
  PartOfSoftmax<1> whole;
  for (int first = 0; first < parts; first += kTogether) {
    const auto some = joined<kTogether>(parts - first, [&](int i) {
      const float* const part = from + (first + i) * step;
      return float3{part[kOneQueryWidth], part[kOneQueryWidth + 1], part[column]};
    });
    whole.add(some.about, some.sum, some.result);
  }
  return whole;
}

// What the warps of a block make, in shared memory.
template <int kQueries, int kWidth>
struct PartsOfWarps {
  float results[kQueries][kOneQueryWarps][kWidth];
  float abouts[kQueries][kOneQueryWarps], sums[kQueries][kOneQueryWarps];
};
// The queries of a block, from `first` on, and which of the `parts` blocks of group `index` it is.
struct QueriesOfBlock {
  int count, first, index, part, parts;
};

// Joins what the warps have made. Several parts go to `partial`, and the last block joins them.
template <class T, int kQueries, int kWidth>
__device__ void finish_queries(const AttentionArgs<T, float>& args,
                               const PartsOfWarps<kQueries, kWidth>& of_warps,
                               const QueriesOfBlock& block, T* out, float* log_sums, float* partial,
                               unsigned* counters) {
  __syncthreads();
  // A thread for each column of the queries, which may be more than the threads.
  const int columns = block.count * args.values;
  const auto each_column = [&](const auto& f) {
    for (int i = static_cast<int>(threadIdx.x); i < columns; i += kOneQueryThreads)
      f(i / args.values, i % args.values);
  };
  const auto of_block = [&](int q, int column) {
    return joined<kOneQueryWarps>(kOneQueryWarps, [&](int warp) {
      return float3{of_warps.abouts[q][warp], of_warps.sums[q][warp],
                    of_warps.results[q][warp][column]};
    });
  };
  const auto finish = [&](int q, int column, const PartOfSoftmax<1>& whole) {
    finish_query(args, block.first + q, column, whole, out, log_sums);
  };
  if (block.parts == 1)
    return each_column([&](int q, int column) { finish(q, column, of_block(q, column)); });
  float* const of_group = partial + int64_t{block.index} * block.parts * block.count * kPartFloats;
  each_column([&](int q, int column) {
    const PartOfSoftmax<1> whole = of_block(q, column);
    float* const to = of_group + (block.part * block.count + q) * kPartFloats;
    to[column] = whole.result[0];
    if (column == 0) to[kOneQueryWidth] = whole.about, to[kOneQueryWidth + 1] = whole.sum;
  });
  if (!is_last_block(counters + block.index, static_cast<unsigned>(block.parts))) return;
  each_column([&](int q, int column) {
    finish(
        q, column,
        joined_parts(of_group + q * kPartFloats, block.count * kPartFloats, block.parts, column));
  });
}

// Keys from part * size on, of the heads of block / parts. kSharing: lanes that share a key.
// kQueries: heads of queries, one behind the other, that share a head of keys and are a block's.
// Several parts write to `partial`, and each block of heads has a counter for is_last_block().
// REQUIRES: one query; widths are multiples of 16 bytes, up to 16 kSharing, and rows are aligned;
// args.sharing is a multiple of kQueries.
template <class T, int kSharing, int kQueries>
__global__ void __launch_bounds__(kOneQueryThreads, kOneQueryBlocks<kQueries>)
    attention_one_query(const __grid_constant__ AttentionArgs<T, float> args, int parts, int size,
                        T* out, float* log_sums, float* partial, unsigned* counters) {
  constexpr int kUnit = 16 / sizeof(T), kTogether = 32 / kSharing, kAhead = 2;
  constexpr int kStep = kTogether * kAhead;  // keys of a warp's step
  constexpr int kRound = kOneQueryWarps * kStep;
  constexpr float kHidden = scalar::least<float>();
  using Unit = Vector<T, kUnit>;
  using Scores = float[kAhead][kQueries];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int block = static_cast<int>(blockIdx.x), groups = static_cast<int>(args.heads) / kQueries;
  const int index = block / parts, part = block - index * parts;
  const int batch = index / groups, head = (index - batch * groups) * kQueries;
  const int column = lane % kSharing * kUnit;
  const auto matrix = [&](const T* x, const int64_t(&step)[3], int64_t of_head) {
    return x + batch * step[0] + of_head * step[1] + column;
  };
  const int64_t shared = head / static_cast<int>(args.sharing);
  const T* const k = matrix(args.k, args.k_step, shared);
  const T* const v = matrix(args.v, args.v_step, shared);
  const auto load = [](const T* from, bool inside) {
    return inside ? load_vector<kUnit>(from) : Unit{};
  };
  const auto key_of = [&](int at, int i) { return at + i * kTogether + lane / kSharing; };

  const int begin = part * size + warp * kStep;
  const int end = ::min(static_cast<int>(args.keys), (part + 1) * size);
  if (is_few_blocks()) {
#pragma unroll
    for (int i = 0; i < 2 * kAhead; ++i) {  // of two steps
      const int64_t key = key_of(begin + i / kAhead * kRound, i % kAhead);
      if (key >= end) continue;
      if (column < args.width) prefetch(k + key * args.k_step[2]);
      if (column < args.values) prefetch(v + key * args.v_step[2]);
    }
  }
  wait_for_earlier_kernels();
  let_next_kernel_start();

  float query[kQueries][kUnit];
#pragma unroll
  for (int q = 0; q < kQueries; ++q) {
    const Unit from = load(matrix(args.q, args.q_step, head + q), column < args.width);
#pragma unroll
    for (int e = 0; e < kUnit; ++e)
      query[q][e] = static_cast<float>(from.at[e]) * (args.scale * kLog2E);
  }
  // The mask's numbers for a step, and kHidden for keys that a query does not see.
  const auto read_mask = [&](int at, Scores& to) {
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      const int64_t key = key_of(at, i);
#pragma unroll
      for (int q = 0; q < kQueries; ++q) {
        to[i][q] = key < end ? 0 : kHidden;
        if (args.mask && key < end)
          to[i][q] = static_cast<float>(
                         args.mask[batch * args.mask_step[0] + (head + q) * args.mask_step[1] +
                                   key * args.mask_step[3]]) *
                     kLog2E;
      }
    }
  };
  struct Loaded {
    Unit keys[kAhead], values[kAhead];
    Scores mask;
  };
  const auto load_step = [&](int at, Loaded& to) {  // the mask is known
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      const int64_t key = key_of(at, i);
      bool seen = false;
#pragma unroll
      for (int q = 0; q < kQueries; ++q) seen |= to.mask[i][q] != kHidden;
      to.keys[i] = load(k + key * args.k_step[2], seen && column < args.width);
      to.values[i] = load(v + key * args.v_step[2], seen && column < args.values);
    }
  };
  PartOfSoftmax<kUnit> mine[kQueries];
  const auto take_step = [&](const Loaded& step) {
    Scores score;
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      float key[kUnit];
#pragma unroll
      for (int e = 0; e < kUnit; ++e) key[e] = static_cast<float>(step.keys[i].at[e]);
#pragma unroll
      for (int q = 0; q < kQueries; ++q) {
        float product = 0;
#pragma unroll
        for (int e = 0; e < kUnit; ++e) product += query[q][e] * key[e];
#pragma unroll
        for (int reach = kSharing / 2; reach > 0; reach /= 2)
          product += __shfl_xor_sync(0xffffffffu, product, reach);
        score[i][q] = step.mask[i][q] == kHidden ? kHidden : step.mask[i][q] + product;
      }
    }
    float from[kQueries];
#pragma unroll
    for (int q = 0; q < kQueries; ++q) {
      float most = mine[q].about;
#pragma unroll
      for (int i = 0; i < kAhead; ++i) most = ::max(most, score[i][q]);
      from[q] = mine[q].raise(most);
    }
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      float value[kUnit];
#pragma unroll
      for (int e = 0; e < kUnit; ++e) value[e] = static_cast<float>(step.values[i].at[e]);
#pragma unroll
      for (int q = 0; q < kQueries; ++q) {
        const float weight = power_of_2(score[i][q] - from[q]);
        mine[q].sum += weight;
#pragma unroll
        for (int e = 0; e < kUnit; ++e) mine[q].result[e] += weight * value[e];
      }
    }
  };
  // A step is loaded while the one before it is taken, and its mask before that.
  Loaded next;
  Scores mask;
  read_mask(begin, next.mask);
  read_mask(begin + kRound, mask);
  load_step(begin, next);
  for (int at = begin; at < end; at += kRound) {
    const Loaded now = next;
#pragma unroll
    for (int i = 0; i < kAhead; ++i)
#pragma unroll
      for (int q = 0; q < kQueries; ++q) next.mask[i][q] = mask[i][q];
    load_step(at + kRound, next);
    read_mask(at + 2 * kRound, mask);
    take_step(now);
  }

  __shared__ PartsOfWarps<kQueries, kSharing * kUnit> of_warps;
#pragma unroll
  for (int q = 0; q < kQueries; ++q) {
#pragma unroll
    for (int reach = kSharing; reach < 32; reach *= 2) {
      float other[kUnit];
#pragma unroll
      for (int e = 0; e < kUnit; ++e)
        other[e] = __shfl_xor_sync(0xffffffffu, mine[q].result[e], reach);
      const float about = __shfl_xor_sync(0xffffffffu, mine[q].about, reach);
      const float sum = __shfl_xor_sync(0xffffffffu, mine[q].sum, reach);
      mine[q].add(about, sum, other);
    }
    if (lane < kSharing) {
#pragma unroll
      for (int e = 0; e < kUnit; ++e) of_warps.results[q][warp][column + e] = mine[q].result[e];
    }
    if (lane == 0) of_warps.abouts[q][warp] = mine[q].about, of_warps.sums[q][warp] = mine[q].sum;
  }
  finish_queries(args, of_warps,
                 {kQueries, batch * static_cast<int>(args.heads) + head, index, part, parts}, out,
                 log_sums, partial, counters);
}

}  // namespace gradus::cuda
