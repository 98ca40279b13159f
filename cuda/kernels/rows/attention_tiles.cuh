// Attention by tensor cores: attention.cuh's passes, whatever the type.
//
// Idea. A warp has 16 or 32 rows of a block's tile. Tiles of the other operands stream by: the next
// is copied while one is multiplied (cp.async). A warp holds a 16 x 8 sum as it must hold a factor
// of the next product, so weights go from product to product in registers. Sums, exponentials and
// log_sums are float32. Exponentials are powers of 2, of scores that the scale's factor log2(e) has
// met. Results are scaled again only when a row's largest weight has passed 2^8, not for each new
// largest one. Bounds and the causal edge are looked at only where
// tiles cross them; masks and dropout are code of kernels of their own. Blocks with most work come
// first.
// Cost. Seven products of tiles go into the gradients, where five would do with atomic additions.
// Next. wgmma, which reads shared memory itself.
//
// How tiles are multiplied is for a type P: HalfProducts or FloatProducts.
#pragma once

#include "gradus/cuda/kernels/attention.cuh"
#include "gradus/cuda/kernels/formulas/power_of_2.cuh"
#include "gradus/cuda/kernels/tensor_core.cuh"

namespace gradus::cuda {

inline constexpr int kTensorAttentionThreads = 128;
inline constexpr float kLog2E = 1.44269504088896341f;

// A matrix of one head.
template <class T>
struct HeadRows {
  const T* data;
  int64_t step, rows;
  int width;
};

// The sums of a warp's rows of a tile that has so many columns.
template <class P, int kColumns>
using TensorSums = float[P::kDown][kColumns / 8][4];

// Tiles in shared memory: stages, of two tiles each that stream by; and the block's own rows, which
// lie in the later stages where they go on to registers. Then numbers of rows.
template <class P>
struct AttentionMemory {
  using T = typename P::Element;
  static constexpr int kRows = kTensorAttentionThreads / 2 * P::kDown;
  static constexpr int kTile = P::kTileRows * P::kPitch, kStage = 2 * kTile;
  static constexpr int kOwn = kRows * P::kPitch;
  static constexpr int kStages = P::kInRegisters ? 1 + 2 * kOwn / kStage : 2;
  static constexpr int kOwnFrom = P::kInRegisters ? kStage : kStages * kStage;
  static constexpr int kLinesFrom = P::kInRegisters ? kStages * kStage : kOwnFrom + 2 * kOwn;
  static constexpr int kLines = 2 * P::kTileRows;  // of a stage
  static constexpr size_t kForwardBytes =
      sizeof(T) * (P::kInRegisters ? kLinesFrom : kOwnFrom + kOwn);
  static constexpr size_t kBytes =
      sizeof(T) * kLinesFrom +
      sizeof(float) * (kRows > kStages * kLines ? kRows : kStages * kLines);
};

// kPlain: without masks and dropout, and with a positive scale.
template <class P, bool kPlain>
struct TensorAttention : AttentionHead<typename P::Element, float> {
  using T = typename P::Element;
  using Memory = AttentionMemory<P>;
  using Rows = HeadRows<T>;
  using Head = AttentionHead<T, float>;
  using Head::args, Head::index, Head::first;
  static constexpr int kDown = P::kDown, kLines = 2 * kDown;
  int row, group, member;  // the warp's first row; see tensor_core.cuh
  int begin, stop;         // the warp's rows in the matrix
  float scale;             // of exponents

  __device__ TensorAttention(const AttentionArgs<T, float>& of, int64_t rows, bool last_first)
      : Head(of, rows, Memory::kRows, last_first) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    row = static_cast<int>(threadIdx.x) / 32 * 16 * kDown;
    group = lane / 4, member = lane % 4;
    begin = static_cast<int>(first) + row, stop = begin + 16 * kDown;
    scale = args.scale * kLog2E;
  }

  __device__ Rows q() const {
    return {this->matrix(args.q, args.q_step), args.q_step[2], args.queries, args.width};
  }
  __device__ Rows k() const {
    return {this->shared_matrix(args.k, args.k_step), args.k_step[2], args.keys, args.width};
  }
  __device__ Rows v() const {
    return {this->shared_matrix(args.v, args.v_step), args.v_step[2], args.keys, args.values};
  }
  // The rows of x, which is the output or its gradient.
  __device__ Rows like_out(const T* x, const int64_t (&step)[3]) const {
    return {this->matrix(x, step), step[2], args.queries, args.values};
  }
  __device__ int end_of_keys() const {
    const int keys = static_cast<int>(args.keys);
    return args.causal ? ::min(keys, static_cast<int>(first) + Memory::kRows) : keys;
  }

  // Begins to copy kCount rows from `from` on. Elements beyond the matrix are 0.
  template <int kCount>
  __device__ static void copy(T* to, const Rows& x, int64_t from) {
    constexpr int kUnit = 16 / sizeof(T), kSharing = P::kWidth / kUnit;
    constexpr int kTogether = kTensorAttentionThreads / kSharing;
    const bool units = x.step % kUnit == 0 && x.width % kUnit == 0 &&
                       reinterpret_cast<uintptr_t>(x.data) % 16 == 0;
    const int c = static_cast<int>(threadIdx.x) % kSharing * kUnit;
    const int begin = static_cast<int>(threadIdx.x) / kSharing;
    const T* const at = x.data + (from + begin) * x.step + c;
    T* const place = to + begin * P::kPitch + c;
    const int64_t left = x.rows - from - begin;
#pragma unroll
    for (int r = 0; r < kCount; r += kTogether) {
      const bool inside = r < left;
      if (units) {
        const bool any = inside && c < x.width;
        copy_later<16>(place + r * P::kPitch, any ? at + r * x.step : x.data, any ? 16 : 0);
      } else {
        for (int e = 0; e < kUnit; ++e)
          place[r * P::kPitch + e] = inside && c + e < x.width ? at[r * x.step + e] : T(0.f);
      }
    }
  }
  __device__ static void copy_both(T* stages, int slot, const Rows& x, const Rows& y,
                                   int64_t from) {
    copy<P::kTileRows>(stages + slot * Memory::kStage, x, from);
    copy<P::kTileRows>(stages + slot * Memory::kStage + Memory::kTile, y, from);
  }

  // Calls copy(stage, row) and step(stage, row) for tile after tile. The caller has begun to copy
  // the first one and the block's own rows, which own() takes.
  template <class Copy, class Own, class Step>
  __device__ static void walk(int from, int to, const Copy& copy, const Own& own,
                              const Step& step) {
    constexpr int kStages = Memory::kStages, kTile = P::kTileRows;
    end_copy_group();
    wait_for_copies<0>();
    __syncthreads();
    own();
    __syncthreads();
#pragma unroll
    for (int s = 1; s < kStages - 1; ++s) {
      if (from + s * kTile < to) copy(s, from + s * kTile);
      end_copy_group();
    }
    int slot = 0;
#pragma unroll 1
    for (int at = from; at < to; at += kTile) {
      wait_for_copies<kStages - 2>();
      __syncthreads();  // all have copied their part of this tile, and have left the one before
      const int next = at + (kStages - 1) * kTile;
      if (next < to) copy(slot == 0 ? kStages - 1 : slot - 1, next);
      end_copy_group();
      step(slot, at);
      if (++slot == kStages) slot = 0;
    }
  }

  // f(which of this lane's rows, row in the block's tile, column, element) for each, of several of
  // one shape.
  template <class F, class Sums, class... More>
  __device__ void visit(const F& f, Sums& sums, More&... more) const {
#pragma unroll
    for (int m = 0; m < kDown; ++m)
#pragma unroll
      for (int j = 0; j < static_cast<int>(sizeof(sums[0]) / sizeof(sums[0][0])); ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          f(2 * m + e / 2, row_of(2 * m + e / 2), 8 * j + 2 * member + e % 2, sums[m][j][e],
            more[m][j][e]...);
  }
  __device__ int row_of(int i) const { return row + group + 8 * i; }
  // The sum over the four lanes that share a row.
  __device__ static float row_sum(float x) {
    x += __shfl_xor_sync(0xffffffffu, x, 1);
    return x + __shfl_xor_sync(0xffffffffu, x, 2);
  }
  __device__ static float row_max(float x) {
    x = ::max(x, __shfl_xor_sync(0xffffffffu, x, 1));
    return ::max(x, __shfl_xor_sync(0xffffffffu, x, 2));
  }

  __device__ bool sees(int64_t query, int64_t key) const {
    return key < args.keys && !(args.causal && key > query);
  }
  // The weight of a product, before it is drawn; about: log2(e) times the query's log_sum. edge:
  // the query may not see the key.
  __device__ float weight_of(int64_t query, int64_t key, float product, float about,
                             bool edge) const {
    if constexpr (kPlain) {
      return edge && !sees(query, key) ? 0 : power_of_2(product * scale - about);
    } else {
      const float least = scalar::least<float>();
      return power_of_2(this->score(query, key, product) * kLog2E - (about == least ? 0 : about));
    }
  }
  __device__ float drawn_of(int64_t query, int64_t key, float x) const {
    if constexpr (kPlain) return x;
    return this->drawn(query, key, x);
  }

  // Stores to this head's matrix of `to`.
  __device__ void store(T* to, const int64_t (&step)[3], int64_t rows, int width,
                        const TensorSums<P, P::kWidth>& result) const {
    T* const matrix = this->matrix(to, step);
    const bool pairs = width % 2 == 0 && step[2] % 2 == 0 &&
                       reinterpret_cast<uintptr_t>(matrix) % (2 * sizeof(T)) == 0;
#pragma unroll
    for (int i = 0; i < kLines; ++i) {
      const int64_t line = first + row_of(i);
      if (line >= rows) continue;
      T* const at = matrix + line * step[2];
#pragma unroll
      for (int j = 0; j < P::kWidth / 8; ++j) {
        const int c = 8 * j + 2 * member;
        const float* const from = result[i / 2][j] + i % 2 * 2;
        if (c + 1 < width && pairs)
          P::store(at + c, from[0], from[1]);
        else
          for (int e = 0; e < 2 && c + e < width; ++e) at[c + e] = T(from[e]);
      }
    }
  }
};

template <class P, bool kPlain>
__global__ void __launch_bounds__(kTensorAttentionThreads, P::kResident)
    tensor_attention_kernel(const __grid_constant__ AttentionArgs<typename P::Element, float> args,
                            typename P::Element* out, float* log_sums) {
  wait_for_earlier_kernels();
  extern __shared__ uint4 shared[];
  using T = typename P::Element;
  using Memory = AttentionMemory<P>;
  constexpr int kLines = 2 * P::kDown, kColumns = P::kScores;
  T* const stages = reinterpret_cast<T*>(shared);
  T* const q_tile = stages + Memory::kOwnFrom;
  const TensorAttention<P, kPlain> at(args, args.queries, args.causal);
  const auto k = at.k(), v = at.v();
  const auto copy = [&](int slot, int key) { at.copy_both(stages, slot, k, v, key); };
  copy(0, 0);
  at.template copy<Memory::kRows>(q_tile, at.q(), at.first);

  typename P::Factors q;
  TensorSums<P, P::kWidth> result = {};
  // The score that weights are relative to, times log2(e).
  float about[kLines], sum[kLines] = {};
  for (float& each : about) each = scalar::least<float>();
  const float scale = kPlain ? at.scale : 1;
  const auto step = [&](const T* tile, const T* values, int key) {
    TensorSums<P, kColumns> scores = {};
    P::template products<kColumns>(q, tile, scores);
    if constexpr (!kPlain)
      at.visit(
          [&](int, int r, int c, float& x) { x = at.score(at.first + r, key + c, x) * kLog2E; },
          scores);
    else if (key + kColumns > args.keys || (args.causal && key + kColumns > at.begin + 1))
      at.visit(
          [&](int, int r, int c, float& x) {
            if (!at.sees(at.first + r, key + c)) x = scalar::least<float>();
          },
          scores);
    float most[kLines];
    for (float& each : most) each = scalar::least<float>();
    at.visit([&](int i, int, int, float& x) { most[i] = ::max(most[i], x); }, scores);
    bool grows = false;
#pragma unroll
    for (int i = 0; i < kLines; ++i) {
      most[i] = at.row_max(most[i]) * scale;
      grows |= most[i] > about[i] + 8;
    }
    if (__any_sync(0xffffffffu, grows)) {
      float factor[kLines];
#pragma unroll
      for (int i = 0; i < kLines; ++i) {
        const bool stays = args.alike && most[i] <= about[i] + 8;
        const float higher = stays ? about[i] : ::max(about[i], most[i]);
        factor[i] = about[i] == scalar::least<float>() ? 0 : power_of_2(about[i] - higher);
        sum[i] *= factor[i];
        about[i] = higher;
      }
      at.visit([&](int i, int, int, float& x) { x *= factor[i]; }, result);
    }
    at.visit(
        [&](int i, int r, int c, float& x) {
          x = power_of_2(x * scale -
                         (!kPlain && about[i] == scalar::least<float>() ? 0 : about[i]));
          sum[i] += x;
          x = at.drawn_of(at.first + r, key + c, x);
        },
        scores);
    P::template accumulate<kColumns>(scores, values, result);
  };
  const int end = at.end_of_keys();
  at.walk(
      0, end, copy, [&] { P::load_factors(q_tile + at.row * P::kPitch, q); },
      [&](int slot, int key) {
        const T* const tile = stages + slot * Memory::kStage;
#pragma unroll 1
        for (int c = 0; c < P::kTileRows; c += kColumns) {
          if (key + c >= end || (args.causal && key + c >= at.stop)) return;
          step(tile + c * P::kPitch, tile + Memory::kTile + c * P::kPitch, key + c);
        }
      });
#pragma unroll
  for (int i = 0; i < kLines; ++i) {
    sum[i] = at.row_sum(sum[i]);
    const int64_t query = at.first + at.row_of(i);
    if (at.member == 0 && query < args.queries)
      log_sums[at.index * args.queries + query] = scalar::log(sum[i]) + about[i] * (1 / kLog2E);
    sum[i] = sum[i] > 0 ? 1 / sum[i] : sum[i];
  }
  at.visit([&](int i, int, int, float& x) { x *= sum[i]; }, result);
  at.store(out, args.out_step, args.queries, args.values, result);
}

// here[row] = the sum of x * y over a row, for the rows of a block's tile.
template <class P, class At, class Rows>
__device__ void row_products(const At& at, const Rows& x, const Rows& y, float* here) {
  using T = typename P::Element;
  constexpr int kUnit = 16 / sizeof(T), kSharing = P::kWidth / kUnit;
  constexpr int kTogether = kTensorAttentionThreads / kSharing;
  const int width = at.args.values, c = static_cast<int>(threadIdx.x) % kSharing * kUnit;
  const bool units =
      width % kUnit == 0 && (x.step | y.step) % kUnit == 0 &&
      (reinterpret_cast<uintptr_t>(x.data) | reinterpret_cast<uintptr_t>(y.data)) % 16 == 0;
#pragma unroll
  for (int r = 0; r < AttentionMemory<P>::kRows; r += kTogether) {
    const int local = r + static_cast<int>(threadIdx.x) / kSharing;
    const int64_t query = at.first + local;
    const bool inside = query < at.args.queries;
    const T *const left = x.data + query * x.step, *const right = y.data + query * y.step;
    float mean = 0;
    if (inside && units && c < width) {
      uint4 pair[2] = {*reinterpret_cast<const uint4*>(left + c),
                       *reinterpret_cast<const uint4*>(right + c)};
#pragma unroll
      for (int e = 0; e < kUnit; ++e)
        mean += static_cast<float>(reinterpret_cast<const T*>(&pair[0])[e]) *
                static_cast<float>(reinterpret_cast<const T*>(&pair[1])[e]);
    } else if (inside && !units) {
      for (int e = c; e < c + kUnit && e < width; ++e)
        mean += static_cast<float>(left[e]) * static_cast<float>(right[e]);
    }
#pragma unroll
    for (int reach = kSharing / 2; reach > 0; reach /= 2)
      mean += __shfl_xor_sync(0xffffffffu, mean, reach);
    if (c == 0) here[local] = mean;
  }
}

// The gradient of the queries; and what the gradients of keys and values want of each: log2(e)
// times its log_sum, and the scale times the mean of its weights' gradients, sum(grad * out).
template <class P, bool kPlain>
__global__ void __launch_bounds__(kTensorAttentionThreads, P::kResident)
    tensor_attention_grad_q_kernel(
        const __grid_constant__ AttentionArgs<typename P::Element, float> args,
        const typename P::Element* grad, const typename P::Element* out, const float* log_sums,
        float2* lines, typename P::Element* grad_q) {
  wait_for_earlier_kernels();
  extern __shared__ uint4 shared[];
  using T = typename P::Element;
  using Memory = AttentionMemory<P>;
  constexpr int kLines = 2 * P::kDown, kColumns = P::kSlopes;
  T* const stages = reinterpret_cast<T*>(shared);
  T *const q_tile = stages + Memory::kOwnFrom, *const g_tile = q_tile + Memory::kOwn;
  float* const mean_of = reinterpret_cast<float*>(stages + Memory::kLinesFrom);
  const TensorAttention<P, kPlain> at(args, args.queries, args.causal);
  const auto k = at.k(), v = at.v();
  const auto copy = [&](int slot, int key) { at.copy_both(stages, slot, k, v, key); };
  copy(0, 0);
  at.template copy<Memory::kRows>(q_tile, at.q(), at.first);
  const auto of_result = at.like_out(grad, args.grad_step);
  at.template copy<Memory::kRows>(g_tile, of_result, at.first);
  row_products<P>(at, of_result, at.like_out(out, args.out_step), mean_of);

  typename P::Factors q, g;
  TensorSums<P, P::kWidth> result = {};
  float about[kLines], mean[kLines];
  const auto own = [&] {
    P::load_factors(q_tile + at.row * P::kPitch, q);
    P::load_factors(g_tile + at.row * P::kPitch, g);
#pragma unroll
    for (int i = 0; i < kLines; ++i) {
      const int64_t query = at.first + at.row_of(i), line = at.index * args.queries + query;
      const bool inside = query < args.queries;
      about[i] = inside ? log_sums[line] * kLog2E : 0;
      mean[i] = mean_of[at.row_of(i)] * args.scale;
      if (inside && at.member == 0) lines[line] = {about[i], mean[i]};
    }
  };
  const auto step = [&](const T* keys, const T* values, int key) {
    TensorSums<P, kColumns> weights = {}, slopes = {};
    P::template products<kColumns>(q, keys, weights);
    P::template products<kColumns>(g, values, slopes);
    const int first = at.begin - at.row;
    const auto take = [&](bool edge) {
      at.visit(
          [&](int i, int r, int c, float& weight, float& slope) {
            const int query = first + r, other = key + c;
            weight = at.weight_of(query, other, weight, about[i], edge);
            slope = weight * (at.drawn_of(query, other, slope) * args.scale - mean[i]);
          },
          weights, slopes);
    };
    key + kColumns > args.keys || (args.causal && key + kColumns > at.begin + 1) ? take(true)
                                                                                 : take(false);
    P::template accumulate<kColumns>(slopes, keys, result);
  };
  const int end = at.end_of_keys();
  at.walk(0, end, copy, own, [&](int slot, int key) {
    const T* const tile = stages + slot * Memory::kStage;
#pragma unroll 1
    for (int c = 0; c < P::kTileRows; c += kColumns) {
      if (key + c >= end || (args.causal && key + c >= at.stop)) return;
      step(tile + c * P::kPitch, tile + Memory::kTile + c * P::kPitch, key + c);
    }
  });
  at.store(grad_q, args.q_grad_step, args.queries, args.width, result);
}

// The gradients of the keys and values: a tile of keys goes over the queries.
template <class P, bool kPlain>
__global__ void __launch_bounds__(kTensorAttentionThreads, P::kResidentKeys)
    tensor_attention_grad_kv_kernel(
        const __grid_constant__ AttentionArgs<typename P::Element, float> args,
        const typename P::Element* grad, const float2* lines, typename P::Element* grad_k,
        typename P::Element* grad_v) {
  wait_for_earlier_kernels();
  extern __shared__ uint4 shared[];
  using T = typename P::Element;
  using Memory = AttentionMemory<P>;
  constexpr int kColumns = P::kSlopesOfKeys;
  T* const stages = reinterpret_cast<T*>(shared);
  T *const k_tile = stages + Memory::kOwnFrom, *const v_tile = k_tile + Memory::kOwn;
  float* const stage_lines = reinterpret_cast<float*>(stages + Memory::kLinesFrom);
  const TensorAttention<P, kPlain> at(args, args.keys, false);
  const auto q = at.q(), g = at.like_out(grad, args.grad_step);
  const int64_t of_head = at.index * args.queries;
  const auto copy = [&](int slot, int query) {
    at.copy_both(stages, slot, q, g, query);
    const int i = static_cast<int>(threadIdx.x);
    if (i >= Memory::kLines) return;
    const bool inside = query + i / 2 < args.queries;
    const float* const from = reinterpret_cast<const float*>(lines + of_head);
    copy_later<4>(stage_lines + slot * Memory::kLines + i, inside ? from + 2 * query + i : from,
                  inside ? 4 : 0);
  };
  // The first query that sees one of the keys.
  const int first_query = args.causal ? static_cast<int>(at.first) : 0;
  const int queries = static_cast<int>(args.queries);
  if (first_query < args.queries) copy(0, first_query);
  at.template copy<Memory::kRows>(k_tile, at.k(), at.first);
  at.template copy<Memory::kRows>(v_tile, at.v(), at.first);

  typename P::Factors k, v;
  TensorSums<P, P::kWidth> of_keys = {}, of_values = {};
  const auto own = [&] {
    P::load_factors(k_tile + at.row * P::kPitch, k);
    P::load_factors(v_tile + at.row * P::kPitch, v);
  };
  const auto step = [&](const T* queries, const T* grads, const float2* line, int query) {
    TensorSums<P, kColumns> weights = {}, slopes = {};
    P::template products<kColumns>(k, queries, weights);
    P::template products<kColumns>(v, grads, slopes);
    const int first = at.begin - at.row;
    const auto take = [&](bool edge) {
      at.visit(
          [&](int, int r, int c, float& weight, float& slope) {
            const int key = first + r, other = query + c;
            const float full = at.weight_of(other, key, weight, line[c].x, edge);
            weight = at.drawn_of(other, key, full);
            slope = full * (at.drawn_of(other, key, slope) * args.scale - line[c].y);
          },
          weights, slopes);
    };
    args.causal&& query < at.stop - 1 ? take(true) : take(false);
    P::template accumulate<kColumns>(weights, grads, of_values);
    P::template accumulate<kColumns>(slopes, queries, of_keys);
  };
  at.walk(first_query, queries, copy, own, [&](int slot, int query) {
    const T* const tile = stages + slot * Memory::kStage;
#pragma unroll 1
    for (int c = 0; c < P::kTileRows && query + c < queries; c += kColumns)
      if (!args.causal || query + c + kColumns > at.begin)
        step(tile + c * P::kPitch, tile + Memory::kTile + c * P::kPitch,
             reinterpret_cast<const float2*>(stage_lines + slot * Memory::kLines) + c, query + c);
  });
  at.store(grad_k, args.k_grad_step, args.keys, args.width, of_keys);
  at.store(grad_v, args.v_grad_step, args.keys, args.values, of_values);
}

}  // namespace gradus::cuda
