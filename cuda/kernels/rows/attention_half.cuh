// Attention of half types by tensor cores: attention.cuh's tiles and passes.
//
// Idea. A warp has 16 rows of a block's 64, and all 64 columns of their scores. A warp holds a 16 x
// 8 sum as it must hold a factor of the next product. So weights go from product to product in
// registers, rounded to the half type. Sums, exponentials and log_sums are float32.
// Cost. Every fragment of keys and values is loaded from shared memory for a single product of 16
// rows.
// Next. Rows of two tiles to a warp; copies that nobody waits for; wgmma.
#pragma once

#include "gradus/cuda/kernels/attention.cuh"
#include "gradus/cuda/kernels/tensor_core.cuh"

namespace gradus::cuda {

inline constexpr int kHalfAttentionThreads = 128;

// W: the width of tiles. The rows of tiles are 16 bytes apart in banks, so that a warp's reads of 8
// rows meet no bank twice.
template <class T, int W>
struct HalfAttentionTile : AttentionHead<T, float> {
  static constexpr int kPitch = W + 8, kSize = kAttentionTile * kPitch;
  using Scores = float[kAttentionTile / 8][4];
  using Result = float[W / 8][4];
  using AttentionHead<T, float>::index, AttentionHead<T, float>::first;
  int row, group, member;  // the warp's first row; see tensor_core.cuh

  __device__ HalfAttentionTile(const AttentionArgs<T, float>& of, int64_t rows)
      : AttentionHead<T, float>(of, rows) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    row = static_cast<int>(threadIdx.x) / 32 * 16;
    group = lane / 4, member = lane % 4;
  }

  // Copies 64 rows from `from` on. Elements beyond `rows` and `width` are 0.
  __device__ static void load(T* to, const T* x, int64_t step, int64_t from, int64_t rows,
                              int width) {
    const bool vectors =
        step % 8 == 0 && width % 8 == 0 && reinterpret_cast<uintptr_t>(x) % 16 == 0;
#pragma unroll 4
    for (int i = static_cast<int>(threadIdx.x); i < kAttentionTile * (W / 8);
         i += kHalfAttentionThreads) {
      const int r = i / (W / 8), c = i % (W / 8) * 8;
      const T* const at = x + (from + r) * step + c;
      const bool inside = from + r < rows;
      T* const place = to + r * kPitch + c;
      if (vectors) {
        *reinterpret_cast<uint4*>(place) =
            inside && c < width ? *reinterpret_cast<const uint4*>(at) : uint4{0, 0, 0, 0};
      } else {
        for (int e = 0; e < 8; ++e) place[e] = inside && c + e < width ? at[e] : T(0.f);
      }
    }
  }

  __device__ static uint32_t pair(const T* at) { return *reinterpret_cast<const uint32_t*>(at); }

  // out = the products of the warp's rows of a with the rows of b.
  __device__ void products(const T* a, const T* b, Scores& out) const {
    for (auto& each : out)
      for (float& sum : each) sum = 0;
#pragma unroll
    for (int k = 0; k < W; k += 16) {
      const T* const from = a + (row + group) * kPitch + k + 2 * member;
      const uint32_t x[4] = {pair(from), pair(from + 8 * kPitch), pair(from + 8),
                             pair(from + 8 * kPitch + 8)};
#pragma unroll
      for (int j = 0; j < kAttentionTile / 8; ++j) {
        const T* const other = b + (8 * j + group) * kPitch + k + 2 * member;
        const uint32_t y[2] = {pair(other), pair(other + 8)};
        multiply_add_halves<T>(out[j], x, y);
      }
    }
  }
  // out += the scores times b, whose rows are their columns.
  __device__ static void accumulate(const Scores& scores, const T* b, Result& out) {
#pragma unroll
    for (int t = 0; t < kAttentionTile / 16; ++t) {
      const auto &left = scores[2 * t], &right = scores[2 * t + 1];
      const uint32_t x[4] = {both_halves<T>(left[0], left[1]), both_halves<T>(left[2], left[3]),
                             both_halves<T>(right[0], right[1]),
                             both_halves<T>(right[2], right[3])};
#pragma unroll
      for (int j = 0; j < W / 8; j += 2) {
        uint32_t y[2][2];
        load_columns(b + 16 * t * kPitch + 8 * j, kPitch, y);
        multiply_add_halves<T>(out[j], x, y[0]);
        multiply_add_halves<T>(out[j + 1], x, y[1]);
      }
    }
  }
  // f(which of this lane's two rows, row, column, element) for each, of several of one shape.
  template <class F, class Sums, class... More>
  __device__ void visit(const F& f, Sums& sums, More&... more) const {
#pragma unroll
    for (int j = 0; j < static_cast<int>(sizeof(Sums) / sizeof(sums[0])); ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        f(e / 2, first + row + group + e / 2 * 8, 8 * j + 2 * member + e % 2, sums[j][e],
          more[j][e]...);
  }
  // The sum over the four lanes that share a row.
  __device__ static float row_sum(float x) {
    x += __shfl_xor_sync(0xffffffffu, x, 1);
    return x + __shfl_xor_sync(0xffffffffu, x, 2);
  }
  __device__ static float row_max(float x) {
    x = ::max(x, __shfl_xor_sync(0xffffffffu, x, 1));
    return ::max(x, __shfl_xor_sync(0xffffffffu, x, 2));
  }
  // Stores to a contiguous matrix of this head.
  __device__ void store(T* to, int64_t rows, int width, Result& result) const {
    visit(
        [&](int, int64_t r, int64_t c, float x) {
          if (r < rows && c < width) to[(index * rows + r) * width + c] = T(x);
        },
        result);
  }
};

// Shared memory: tiles of queries, keys, values.
template <class T, int W>
__global__ void __launch_bounds__(kHalfAttentionThreads)
    half_attention_kernel(AttentionArgs<T, float> args, T* out, float* log_sums) {
  wait_for_earlier_kernels();
  extern __shared__ uint4 shared[];
  using Tile = HalfAttentionTile<T, W>;
  T* const q = reinterpret_cast<T*>(shared);
  T *const k = q + Tile::kSize, *const v = k + Tile::kSize;
  const Tile at(args, args.queries);
  at.load(q, at.matrix(args.q, args.q_step), args.q_step[2], at.first, args.queries, args.width);

  typename Tile::Result result = {};
  float top[2] = {scalar::least<float>(), scalar::least<float>()}, sum[2] = {};
  const int64_t end = args.causal ? ::min(args.keys, at.first + kAttentionTile) : args.keys;
  for (int64_t key = 0; key < end; key += kAttentionTile) {
    __syncthreads();
    at.load(k, at.matrix(args.k, args.k_step), args.k_step[2], key, args.keys, args.width);
    at.load(v, at.matrix(args.v, args.v_step), args.v_step[2], key, args.keys, args.values);
    __syncthreads();
    typename Tile::Scores tile;
    at.products(q, k, tile);
    float most[2] = {top[0], top[1]}, factor[2];
    at.visit(
        [&](int i, int64_t query, int64_t column, float& x) {
          x = at.score(query, key + column, x);
          most[i] = ::max(most[i], x);
        },
        tile);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      most[i] = at.row_max(most[i]);
      factor[i] = at.weight(top[i], most[i]);
      sum[i] *= factor[i];
      top[i] = most[i];
    }
    at.visit(
        [&](int i, int64_t query, int64_t column, float& x) {
          x = at.weight(x, most[i]);
          sum[i] += x;
          x = at.drawn(query, key + column, x);
        },
        tile);
    at.visit([&](int i, int64_t, int64_t, float& x) { x *= factor[i]; }, result);
    at.accumulate(tile, v, result);
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    sum[i] = at.row_sum(sum[i]);
    const int64_t query = at.first + at.row + at.group + 8 * i;
    if (at.member == 0 && query < args.queries)
      log_sums[at.index * args.queries + query] = scalar::log(sum[i]) + top[i];
    sum[i] = sum[i] > 0 ? 1 / sum[i] : sum[i];
  }
  at.visit([&](int i, int64_t, int64_t, float& x) { x *= sum[i]; }, result);
  at.store(out, args.queries, args.values, result);
}

// The gradient of the queries, and the means of each row's gradients of weights, sum(grad * out).
// Shared memory: tiles of queries, gradients, keys, values.
template <class T, int W>
__global__ void __launch_bounds__(kHalfAttentionThreads)
    half_attention_grad_q_kernel(AttentionArgs<T, float> args, const T* grad, const T* out,
                                 const float* log_sums, float* means, T* grad_q) {
  wait_for_earlier_kernels();
  extern __shared__ uint4 shared[];
  using Tile = HalfAttentionTile<T, W>;
  T* const q = reinterpret_cast<T*>(shared);
  T *const g = q + Tile::kSize, *const k = g + Tile::kSize, *const v = k + Tile::kSize;
  const Tile at(args, args.queries);
  const int64_t of_head = at.index * args.queries * args.values;
  at.load(q, at.matrix(args.q, args.q_step), args.q_step[2], at.first, args.queries, args.width);
  at.load(g, grad + of_head, args.values, at.first, args.queries, args.values);
  __syncthreads();

  float log_sum[2] = {}, mean[2] = {};
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int local = at.row + at.group + 8 * i;
    const int64_t query = at.first + local, line = at.index * args.queries + query;
    const bool inside = query < args.queries;
    for (int c = at.member; c < args.values && inside; c += 4)
      mean[i] += static_cast<float>(g[local * Tile::kPitch + c]) *
                 static_cast<float>(out[of_head + query * args.values + c]);
    mean[i] = at.row_sum(mean[i]);
    if (inside) log_sum[i] = log_sums[line];
    if (inside && at.member == 0) means[line] = mean[i];
  }
  typename Tile::Result result = {};
  const int64_t end = args.causal ? ::min(args.keys, at.first + kAttentionTile) : args.keys;
  for (int64_t key = 0; key < end; key += kAttentionTile) {
    __syncthreads();
    at.load(k, at.matrix(args.k, args.k_step), args.k_step[2], key, args.keys, args.width);
    at.load(v, at.matrix(args.v, args.v_step), args.v_step[2], key, args.keys, args.values);
    __syncthreads();
    typename Tile::Scores weights, tile;
    at.products(q, k, weights);
    at.products(g, v, tile);
    const auto take = [&](int i, int64_t query, int column, float& weight, float& slope) {
      const int64_t other = key + column;
      weight = at.weight(at.score(query, other, weight), log_sum[i]);
      slope = weight * (at.drawn(query, other, slope) - mean[i]) * args.scale;
    };
    at.visit(take, weights, tile);
    at.accumulate(tile, k, result);
  }
  at.store(grad_q, args.queries, args.width, result);
}

// The gradients of the keys and values: a tile of keys goes over the queries. Shared memory: tiles
// of keys, values, queries, gradients.
template <class T, int W>
__global__ void __launch_bounds__(kHalfAttentionThreads)
    half_attention_grad_kv_kernel(AttentionArgs<T, float> args, const T* grad,
                                  const float* log_sums, const float* means, T* grad_k, T* grad_v) {
  wait_for_earlier_kernels();
  extern __shared__ uint4 shared[];
  using Tile = HalfAttentionTile<T, W>;
  T* const k = reinterpret_cast<T*>(shared);
  T *const v = k + Tile::kSize, *const q = v + Tile::kSize, *const g = q + Tile::kSize;
  const Tile at(args, args.keys);
  const int64_t of_head = at.index * args.queries;
  at.load(k, at.matrix(args.k, args.k_step), args.k_step[2], at.first, args.keys, args.width);
  at.load(v, at.matrix(args.v, args.v_step), args.v_step[2], at.first, args.keys, args.values);

  typename Tile::Result of_keys = {}, of_values = {};
  const int64_t begin = args.causal ? at.first : 0;  // the first query that sees one of the keys
  for (int64_t query = begin; query < args.queries; query += kAttentionTile) {
    __syncthreads();
    at.load(q, at.matrix(args.q, args.q_step), args.q_step[2], query, args.queries, args.width);
    at.load(g, grad + of_head * args.values, args.values, query, args.queries, args.values);
    __syncthreads();
    typename Tile::Scores weights, tile;
    at.products(k, q, weights);
    at.products(v, g, tile);
    const auto take = [&](int, int64_t key, int column, float& weight, float& slope) {
      const int64_t other = query + column;
      const bool inside = other < args.queries;
      const float log_sum = inside ? log_sums[of_head + other] : 0;
      const float mean = inside ? means[of_head + other] : 0;
      const float drawn = at.weight(at.score(other, key, weight), log_sum);
      weight = at.drawn(other, key, drawn);
      slope = drawn * (at.drawn(other, key, slope) - mean) * args.scale;
    };
    at.visit(take, weights, tile);
    at.accumulate(weights, g, of_values);
    at.accumulate(tile, q, of_keys);
  }
  at.store(grad_k, args.keys, args.width, of_keys);
  at.store(grad_v, args.keys, args.values, of_values);
}

}  // namespace gradus::cuda
