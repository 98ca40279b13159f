// Attention by tiles of 64 queries and 64 keys with an online softmax: no matrix of scores is kept.
//
// Idea. A block holds a tile of queries and goes over the keys tile by tile. Each row keeps the
// largest score so far and the sum of its weights; when the largest one grows, the sum and the
// output so far are multiplied. The backward pass computes the weights again from log_sums: once
// for each tile of queries (their gradient), and once for each tile of keys (the gradients of keys
// and values). So every sum has one owner and one order.
// Cost. Seven products of tiles in place of the five that would do with atomic additions.
//
// A thread has 4 rows of a tile, and every 16th column from its own on.
#pragma once

#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/reduce.cuh"
#include "gradus/cuda/runtime/capture.h"
#include "gradus/tensor/backend.h"
#include "gradus/tensor/math/distributions.h"

namespace gradus::cuda {

inline constexpr int kAttentionTile = 64, kAttentionThreads = 256;
// Steps between the rows of a matrix of scores, and of a tile that is W wide, in shared memory.
// They are odd, so that neighbouring rows lie in different banks.
inline constexpr int kScoreRow = kAttentionTile + 1;
template <int W>
inline constexpr int kTileRow = W + 1;

// Scores and sums are of the type Sum.
template <class T, class Sum = T>
struct AttentionArgs {
  explicit AttentionArgs(const draw::Dropout<Sum>& drop) : dropout(drop) {}

  using Step = int64_t[3];              // from a batch, head, row to the next
  const T *q, *k, *v, *mask = nullptr;  // mask may be null
  Step q_step, k_step, v_step;
  int64_t mask_step[4];  // also of a column
  // The result, its gradient and those of q, k and v. Kernels without tensor cores want these
  // contiguous, and do not read the steps.
  Step out_step, grad_step, q_grad_step, k_grad_step, v_grad_step;
  int64_t heads, queries, keys;
  int64_t sharing = 1;  // heads of queries that share one of keys and values
  int width, values;
  Sum scale;
  bool causal, drops;
  bool alike;  // a row's bits do not depend on the rows beside it
  draw::Dropout<Sum> dropout;
  PhiloxState state;
};

// The batch and head of a block, and its weights.
template <class T, class Sum = T>
struct AttentionHead {
  const AttentionArgs<T, Sum>& args;
  int64_t index, batch, head, first;  // of all heads; the first row of the block's tile

  // last_first: the blocks of a head have its tiles in reverse order.
  __device__ AttentionHead(const AttentionArgs<T, Sum>& of, int64_t rows, int tile = kAttentionTile,
                           bool last_first = false)
      : args(of) {
    const int64_t tiles = (rows + tile - 1) / tile;
    index = blockIdx.x / tiles;
    const int64_t place = blockIdx.x - index * tiles;
    first = (last_first ? tiles - 1 - place : place) * tile;
    batch = index / args.heads;
    head = index - batch * args.heads;
  }
  template <class Pointer>
  __device__ Pointer matrix(Pointer x, const int64_t (&step)[3]) const {
    return x + batch * step[0] + head * step[1];
  }
  // The same of keys or values.
  __device__ const T* shared_matrix(const T* x, const int64_t (&step)[3]) const {
    return x + batch * step[0] + head / args.sharing * step[1];
  }

  // The product of a query and a key as a score; -infinity where the query does not see the key.
  __device__ Sum score(int64_t query, int64_t key, Sum product) const {
    if (query >= args.queries || key >= args.keys || (args.causal && key > query))
      return scalar::least<Sum>();
    Sum out = product * args.scale;
    if (args.mask)
      out += static_cast<Sum>(args.mask[batch * args.mask_step[0] + head * args.mask_step[1] +
                                        query * args.mask_step[2] + key * args.mask_step[3]]);
    return out;
  }
  // e^(score - about), also where both are -infinity.
  __device__ static Sum weight(Sum score, Sum about) {
    return scalar::exp(score - (about == scalar::least<Sum>() ? Sum(0) : about));
  }
  // A weight, or its gradient, as it is drawn.
  __device__ Sum drawn(int64_t query, int64_t key, Sum x) const {
    if (!args.drops || query >= args.queries || key >= args.keys) return x;
    const auto i = static_cast<uint64_t>((index * args.queries + query) * args.keys + key);
    const PhiloxState state = drawn_state(args.state);
    return args.dropout(philox::bits_of<philox::Word>(state.seed, state.offset, i), x);
  }
};

// The tile of a block, and what a thread of it has.
template <class T, int W>
struct AttentionTile : AttentionHead<T> {
  static constexpr int kColumns = W / 16;
  using AttentionHead<T>::args, AttentionHead<T>::index, AttentionHead<T>::first;
  int row, column;

  __device__ AttentionTile(const AttentionArgs<T>& of, int64_t rows) : AttentionHead<T>(of, rows) {
    row = static_cast<int>(threadIdx.x) / 16 * 4;
    column = static_cast<int>(threadIdx.x) % 16;
  }

  // Copies 64 rows from `from` on, of which those from `rows` on are 0.
  __device__ static void load(T* to, const T* x, int64_t step, int64_t from, int64_t rows,
                              int width) {
    for (int i = static_cast<int>(threadIdx.x); i < kAttentionTile * width;
         i += kAttentionThreads) {
      const int r = i / width, c = i - r * width;
      to[r * kTileRow<W> + c] = from + r < rows ? x[(from + r) * step + c] : T(0);
    }
  }
  // out[i][j] = the product of row + i of a with row column + 16 j of b.
  __device__ void products(const T* a, const T* b, int width, T (&out)[4][4]) const {
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j) out[i][j] = 0;
    for (int d = 0; d < width; ++d) {
      T x[4], y[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        x[i] = a[(row + i) * kTileRow<W> + d];
        y[i] = b[(column + 16 * i) * kTileRow<W> + d];
      }
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) out[i][j] += x[i] * y[j];
    }
  }
  // out[i][j] += the product of row + i of the scores with column + 16 j of b.
  __device__ void accumulate(const T* scores, const T* b, int width, T (&out)[4][kColumns]) const {
    for (int k = 0; k < kAttentionTile; ++k) {
      T x[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) x[i] = scores[(row + i) * kScoreRow + k];
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        if (column + 16 * j >= width) break;
        const T y = b[k * kTileRow<W> + column + 16 * j];
#pragma unroll
        for (int i = 0; i < 4; ++i) out[i][j] += x[i] * y;
      }
    }
  }
  __device__ void store_scores(T* scores, const T (&x)[4][4]) const {
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j) scores[(row + i) * kScoreRow + column + 16 * j] = x[i][j];
  }
  // Stores to a contiguous matrix of this head.
  __device__ void store(T* to, int64_t rows, int width, const T (&x)[4][kColumns]) const {
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < kColumns; ++j)
        if (first + row + i < rows && column + 16 * j < width)
          to[(index * rows + first + row + i) * width + column + 16 * j] = x[i][j];
  }
};

// Shared memory: tiles of queries and of keys or values, scores.
template <class T, int W>
__global__ void __launch_bounds__(kAttentionThreads)
    attention_kernel(AttentionArgs<T> args, T* out, T* log_sums) {
  wait_for_earlier_kernels();
  extern __shared__ uint4 shared[];
  T* const q = reinterpret_cast<T*>(shared);
  T* const other = q + kAttentionTile * kTileRow<W>;
  T* const scores = other + kAttentionTile * kTileRow<W>;
  const AttentionTile<T, W> at(args, args.queries);
  at.load(q, at.matrix(args.q, args.q_step), args.q_step[2], at.first, args.queries, args.width);

  T result[4][W / 16] = {}, top[4], sum[4] = {};
  for (T& each : top) each = scalar::least<T>();
  const int64_t end = args.causal ? ::min(args.keys, at.first + kAttentionTile) : args.keys;
  for (int64_t key = 0; key < end; key += kAttentionTile) {
    __syncthreads();
    at.load(other, at.shared_matrix(args.k, args.k_step), args.k_step[2], key, args.keys,
            args.width);
    __syncthreads();
    T tile[4][4];
    at.products(q, other, args.width, tile);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int64_t query = at.first + at.row + i;
      T most = top[i], more = 0;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        tile[i][j] = at.score(query, key + at.column + 16 * j, tile[i][j]);
        most = ::max(most, tile[i][j]);
      }
      most = fold_lanes<scalar::Reduction<ReduceOp::amax>>(most, 16);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const T weight = at.weight(tile[i][j], most);
        more += weight;
        tile[i][j] = at.drawn(query, key + at.column + 16 * j, weight);
      }
      const T factor = at.weight(top[i], most);
      sum[i] = sum[i] * factor + fold_lanes<scalar::Reduction<ReduceOp::sum>>(more, 16);
      top[i] = most;
#pragma unroll
      for (int j = 0; j < W / 16; ++j) result[i][j] *= factor;
    }
    at.store_scores(scores, tile);
    __syncthreads();
    at.load(other, at.shared_matrix(args.v, args.v_step), args.v_step[2], key, args.keys,
            args.values);
    __syncthreads();
    at.accumulate(scores, other, args.values, result);
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int64_t query = at.first + at.row + i;
    const T share = sum[i] > 0 ? 1 / sum[i] : sum[i];
#pragma unroll
    for (int j = 0; j < W / 16; ++j) result[i][j] *= share;
    if (at.column == 0 && query < args.queries)
      log_sums[at.index * args.queries + query] = scalar::log(sum[i]) + top[i];
  }
  at.store(out, args.queries, args.values, result);
}

// means[row] = the sum of x * y over a row of `width` elements; a thread for each row.
template <class T>
__global__ void row_products_kernel(int64_t rows, int width, const T* x, const T* y, T* means) {
  wait_for_earlier_kernels();
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  T sum = 0;
  for (int e = 0; e < width; ++e) sum += x[i * width + e] * y[i * width + e];
  means[i] = sum;
}

// The gradient of the queries. Shared memory: tiles of queries, gradients, and keys or values;
// scores.
template <class T, int W>
__global__ void __launch_bounds__(kAttentionThreads)
    attention_grad_q_kernel(AttentionArgs<T> args, const T* grad, const T* log_sums, const T* means,
                            T* grad_q) {
  wait_for_earlier_kernels();
  extern __shared__ uint4 shared[];
  constexpr int kSize = kAttentionTile * kTileRow<W>;
  T* const q = reinterpret_cast<T*>(shared);
  T *const g = q + kSize, *const other = g + kSize, *const scores = other + kSize;
  const AttentionTile<T, W> at(args, args.queries);
  at.load(q, at.matrix(args.q, args.q_step), args.q_step[2], at.first, args.queries, args.width);
  at.load(g, grad + at.index * args.queries * args.values, args.values, at.first, args.queries,
          args.values);

  T result[4][W / 16] = {};
  const int64_t end = args.causal ? ::min(args.keys, at.first + kAttentionTile) : args.keys;
  for (int64_t key = 0; key < end; key += kAttentionTile) {
    T weights[4][4], tile[4][4];
    __syncthreads();
    at.load(other, at.shared_matrix(args.k, args.k_step), args.k_step[2], key, args.keys,
            args.width);
    __syncthreads();
    at.products(q, other, args.width, weights);
    __syncthreads();
    at.load(other, at.shared_matrix(args.v, args.v_step), args.v_step[2], key, args.keys,
            args.values);
    __syncthreads();
    at.products(g, other, args.values, tile);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int64_t query = at.first + at.row + i, line = at.index * args.queries + query;
      const T log_sum = query < args.queries ? log_sums[line] : T(0);
      const T mean = query < args.queries ? means[line] : T(0);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int64_t other_key = key + at.column + 16 * j;
        const T weight = at.weight(at.score(query, other_key, weights[i][j]), log_sum);
        tile[i][j] = weight * (at.drawn(query, other_key, tile[i][j]) - mean) * args.scale;
      }
    }
    at.store_scores(scores, tile);
    __syncthreads();
    at.load(other, at.shared_matrix(args.k, args.k_step), args.k_step[2], key, args.keys,
            args.width);
    __syncthreads();
    at.accumulate(scores, other, args.width, result);
  }
  at.store(grad_q, args.queries, args.width, result);
}

// The gradients of the keys and values: the same with a tile of keys that goes over the queries.
// Shared memory: tiles of keys, values, queries and gradients; scores, a row for each key.
template <class T, int W>
__global__ void __launch_bounds__(kAttentionThreads)
    attention_grad_kv_kernel(AttentionArgs<T> args, const T* grad, const T* log_sums,
                             const T* means, T* grad_k, T* grad_v) {
  wait_for_earlier_kernels();
  extern __shared__ uint4 shared[];
  constexpr int kSize = kAttentionTile * kTileRow<W>;
  T* const k = reinterpret_cast<T*>(shared);
  T *const v = k + kSize, *const q = v + kSize, *const g = q + kSize, *const scores = g + kSize;
  const AttentionTile<T, W> at(args, args.keys);
  at.load(k, at.shared_matrix(args.k, args.k_step), args.k_step[2], at.first, args.keys,
          args.width);
  at.load(v, at.shared_matrix(args.v, args.v_step), args.v_step[2], at.first, args.keys,
          args.values);

  T of_keys[4][W / 16] = {}, of_values[4][W / 16] = {};
  const int64_t begin = args.causal ? at.first : 0;  // the first query that sees one of the keys
  for (int64_t query = begin; query < args.queries; query += kAttentionTile) {
    T weights[4][4], tile[4][4], kept[4][4];
    __syncthreads();
    at.load(q, at.matrix(args.q, args.q_step), args.q_step[2], query, args.queries, args.width);
    at.load(g, grad + at.index * args.queries * args.values, args.values, query, args.queries,
            args.values);
    __syncthreads();
    at.products(k, q, args.width, weights);
    at.products(v, g, args.values, tile);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int64_t other = query + at.column + 16 * j, line = at.index * args.queries + other;
      const T log_sum = other < args.queries ? log_sums[line] : T(0);
      const T mean = other < args.queries ? means[line] : T(0);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int64_t key = at.first + at.row + i;
        const T weight = at.weight(at.score(other, key, weights[i][j]), log_sum);
        kept[i][j] = at.drawn(other, key, weight);
        tile[i][j] = weight * (at.drawn(other, key, tile[i][j]) - mean) * args.scale;
      }
    }
    at.store_scores(scores, kept);
    __syncthreads();
    at.accumulate(scores, g, args.values, of_values);
    __syncthreads();
    at.store_scores(scores, tile);
    __syncthreads();
    at.accumulate(scores, q, args.width, of_keys);
  }
  at.store(grad_k, args.keys, args.width, of_keys);
  at.store(grad_v, args.keys, args.values, of_values);
}

}  // namespace gradus::cuda
