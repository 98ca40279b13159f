// All steps of an LSTM in one launch, and all steps of its gradient in another one, by clusters.
//
// Idea. A cluster of blocks takes 8 or 16 sequences through all steps. Each block has 32 units. The
// registers of a block hold its part of the recurrent weight as operands of tensor cores. (Diamos
// et al. 2016, "Persistent RNNs".) At H = 512 this is 128 KiB. Blocks send each other what a step
// needs: h forward, parts of the gradient of h backward. A barrier in shared memory counts the
// bytes that come, so that a step waits for no other thing. Cells stay in registers, in float32.
// Cost. Latencies of a step add up: that of another block's memory, 8 products, the sums and the
// cell. Tensor cores wait most of the time.
// Next. Two sets of sequences for each cluster, one of which computes while the other is exchanged.
#pragma once

#include "gradus/cuda/kernels/hopper/cluster.cuh"
#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/tensor_core.cuh"
#include "gradus/tensor/math/cells.h"

namespace gradus::cuda {

// kBlocks blocks of a cluster, 32 units each, take 8 kTiles sequences.
template <HalfType T, int kBlocks, int kTiles>
struct LstmTile {
  static constexpr int kUnits = 32 * kBlocks, kRows = 8 * kTiles, kWarps = 16;
  static constexpr int kThreads = 32 * kWarps;
  static constexpr int kTerms = 128;  // of a sum in a warp: 8 products of 16 terms
  static_assert(kRows <= kWarps && kBlocks <= kWarps && kUnits % kTerms == 0);

  // Forward: h of this step and of the next one; each warp's sums, 128 for each sequence. The rows
  // are so far apart that 8 of them lie in different banks.
  static constexpr int kStatePitch = kUnits + 8, kSumPitch = kTerms + 4, kParts = kUnits / kTerms;
  static constexpr int kStateBytes = 2 * kRows * kStatePitch * int{sizeof(T)};
  static constexpr int kSharedBytes =
      kStateBytes + kParts * kRows * kSumPitch * int{sizeof(float)} + 2 * int{sizeof(uint64_t)};
  // Backward: the parts of the gradient of h that each block sends, and the gradients of the own
  // gates. Both twice.
  static constexpr int kGatePitch = kTerms + 8;
  static constexpr int kPartBytes = 2 * kBlocks * kRows * 32 * int{sizeof(float)};
  static constexpr int kSharedBytesOfGrad =
      kPartBytes + 2 * kRows * kGatePitch * int{sizeof(T)} + 2 * int{sizeof(uint64_t)};
};

// Tensors of Backend::lstm_steps and lstm_steps_grad. N = steps * batch.
template <HalfType T>
struct LstmSteps {
  int steps, batch;
  bool reverse;
  const T *x, *h, *c, *weight, *bias;  // bias: or null
  T *gates, *cells, *states;
};
template <HalfType T>
struct LstmStepsGrad {
  int steps, batch;
  bool reverse;
  const T *grad_states, *grad_cells;  // or null
  const T *c, *weight, *gates, *cells;
  T *grad_x, *grad_h, *grad_c;
};

// The step that is taken as the i-th.
template <class Args>
__device__ int64_t lstm_step(const Args& args, int i) {
  return args.reverse ? args.steps - 1 - i : i;
}

// sums (16 kTwice, 8 kTiles) += a (16 kTwice, 128) times rows (8 kTiles, 128) transposed.
template <HalfType T, int kTiles>
__device__ __forceinline__ void add_lstm_products(float (&sums)[2][kTiles][4],
                                                  const uint32_t (&a)[8][2][4], const T* rows,
                                                  int pitch) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const T* const mine = rows + lane / 4 * pitch + lane % 4 * 2;
#pragma unroll
  for (int k = 0; k < 8; ++k)
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
      const T* const at = mine + 8 * n * pitch + 16 * k;
      const uint32_t b[2] = {*reinterpret_cast<const uint32_t*>(at),
                             *reinterpret_cast<const uint32_t*>(at + 8)};
#pragma unroll
      for (int m = 0; m < 2; ++m) multiply_add_halves<T>(sums[m][n], a[k][m], b);
    }
}

template <HalfType T, int kBlocks, int kTiles>
__global__ void __cluster_dims__(kBlocks, 1, 1)
    __launch_bounds__(LstmTile<T, kBlocks, kTiles>::kThreads, 1)
        lstm_clusters(const LstmSteps<T> args) {
#if __CUDA_ARCH_FEAT_SM90_ALL
  using namespace hopper;
  using Tile = LstmTile<T, kBlocks, kTiles>;
  constexpr int kUnits = Tile::kUnits, kRows = Tile::kRows, kPitch = Tile::kStatePitch;
  extern __shared__ __align__(16) char shared[];
  T* const states = reinterpret_cast<T*>(shared);
  float* const sums = reinterpret_cast<float*>(shared + Tile::kStateBytes);
  auto* const came = reinterpret_cast<uint64_t*>(sums + Tile::kParts * kRows * Tile::kSumPitch);

  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  const int group = lane / 4, member = lane % 4;
  const unsigned rank = block_in_cluster();
  const int unit = static_cast<int>(rank) * 32;  // the block's first one
  const int first = static_cast<int>(blockIdx.x) / kBlocks * kRows;
  if (thread == 0) {
    for (int i = 0; i < 2; ++i) init_barrier(&came[i], 1 + kRows);  // a warp for each row arrives
    publish_barriers();
  }
  wait_for_earlier_kernels();

  // Warp (part, eight) has the gates i, f, g and o of 8 units, and 128 terms of their sums.
  const int part = warp / 4, eight = warp % 4 * 8;
  uint32_t weight[8][2][4];
  if (warp < kBlocks) {
    const T* const from =
        args.weight + int64_t{unit + eight + group} * kUnits + part * Tile::kTerms + 2 * member;
#pragma unroll
    for (int k = 0; k < 8; ++k)
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const int gate = i / 4 * 2 + i % 2, late = i % 4 / 2;
        weight[k][i / 4][i % 4] = *reinterpret_cast<const uint32_t*>(
            from + int64_t{gate} * kUnits * kUnits + 16 * k + 8 * late);
      }
  }
  for (int i = thread; i < kRows * kUnits; i += Tile::kThreads) {
    const int row = i / kUnits, column = i % kUnits;
    states[row * kPitch + column] =
        first + row < args.batch ? args.h[int64_t{first + row} * kUnits + column] : T(0.f);
  }

  // Warp r has the cells of row r, a unit for each lane.
  const bool has_cell = warp < kRows, is_real = has_cell && first + warp < args.batch;
  const int64_t cell = int64_t{first + warp} * kUnits + unit + lane;
  const auto of_step = [&](int i) { return lstm_step(args, i) * args.batch * kUnits + cell; };
  const auto gates_of = [&](int i) { return of_step(i) + (of_step(i) - unit - lane) * 3; };
  float bias[4] = {}, x[4] = {}, c = 0;
  const auto load_x = [&](int i) {
    const T* const from = args.x + gates_of(i);
#pragma unroll
    for (int g = 0; g < 4; ++g) x[g] = static_cast<float>(from[g * kUnits]);
  };
  if (is_real) {
    load_x(0);
    c = static_cast<float>(args.c[cell]);
#pragma unroll
    for (int g = 0; g < 4; ++g)
      if (args.bias) bias[g] = static_cast<float>(args.bias[g * kUnits + unit + lane]);
  }
  sync_cluster();

  for (int i = 0; i < args.steps; ++i) {
    const int now = i % 2, next = now ^ 1;
    const bool is_last = i + 1 == args.steps;
    if (i > 0) wait_for(&came[now], (i - 1) / 2 % 2);
    if (thread == 0 && !is_last)
      arrive_and_expect(&came[next], (kBlocks - 1) * kRows * 32 * int{sizeof(T)});
    if (warp < kBlocks) {
      float sum[2][kTiles][4] = {};
      add_lstm_products<T, kTiles>(sum, weight, states + now * kRows * kPitch + part * Tile::kTerms,
                                   kPitch);
#pragma unroll
      for (int n = 0; n < kTiles; ++n)
#pragma unroll
        for (int j = 0; j < 8; ++j) {
          const int gate = j / 4 * 2 + j % 4 / 2, row = 8 * n + 2 * member + j % 2;
          sums[(part * kRows + row) * Tile::kSumPitch + gate * 32 + eight + group] =
              sum[j / 4][n][j % 4];
        }
    }
    __syncthreads();
    // No block sends into `next` before all have read what it held.
    if (i > 0) wait_for_cluster();
    arrive_at_cluster();
    if (!has_cell) continue;

    float s[4], gates[4], h;
#pragma unroll
    for (int g = 0; g < 4; ++g) {
      s[g] = bias[g];
#pragma unroll
      for (int p = 0; p < Tile::kParts; ++p)
        s[g] += sums[(p * kRows + warp) * Tile::kSumPitch + g * 32 + lane];
    }
    scalar::lstm_unit(1, x, s, c, gates, &c, &h);
    if (!is_last) {
      T* const own = states + (next * kRows + warp) * kPitch + unit;
      own[lane] = T(h);
      __syncwarp();
      T* const piece = own + 8 * member;
      const uint4 value = *reinterpret_cast<const uint4*>(piece);
#pragma unroll
      for (int j = 0; j < (kBlocks + 7) / 8; ++j) {
        const auto block = static_cast<unsigned>(8 * j + group);
        if (block < kBlocks && block != rank) send(piece, value, &came[next], block);
      }
      if (lane == 0) arrive(&came[next]);
      if (is_real) load_x(i + 1);
    }
    if (!is_real) continue;
    const int64_t to = of_step(i), to_gates = gates_of(i);
    args.states[to] = T(h);
    args.cells[to] = T(c);
#pragma unroll
    for (int g = 0; g < 4; ++g) args.gates[to_gates + g * kUnits] = T(gates[g]);
  }
  wait_for_cluster();
#endif
}

template <HalfType T, int kBlocks, int kTiles>
__global__ void __cluster_dims__(kBlocks, 1, 1)
    __launch_bounds__(LstmTile<T, kBlocks, kTiles>::kThreads, 1)
        lstm_clusters_grad(const LstmStepsGrad<T> args) {
#if __CUDA_ARCH_FEAT_SM90_ALL
  using namespace hopper;
  using Tile = LstmTile<T, kBlocks, kTiles>;
  constexpr int kUnits = Tile::kUnits, kRows = Tile::kRows, kPitch = Tile::kGatePitch;
  extern __shared__ __align__(16) char shared[];
  float* const parts = reinterpret_cast<float*>(shared);  // (2, sender, row, unit)
  T* const own_gates = reinterpret_cast<T*>(shared + Tile::kPartBytes);
  auto* const came = reinterpret_cast<uint64_t*>(own_gates + 2 * kRows * kPitch);
  const auto part_of = [=](int half, int sender, int row) {
    return parts + ((half * kBlocks + sender) * kRows + row) * 32;
  };

  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  const int group = lane / 4, member = lane % 4;
  const auto rank = static_cast<int>(block_in_cluster());
  const int unit = rank * 32, first = static_cast<int>(blockIdx.x) / kBlocks * kRows;
  if (thread == 0) {
    for (int i = 0; i < 2; ++i) init_barrier(&came[i], 2);
    publish_barriers();
  }
  wait_for_earlier_kernels();

  // Warp w makes what the own gates give to the units of block w. A lane has 4 neighbouring units:
  // rows group and group + 8 of both matrices.
  uint32_t weight[8][2][4];
  if (warp < kBlocks) {
    const T* const from = args.weight + int64_t{unit} * kUnits + 32 * warp + 4 * group;
#pragma unroll
    for (int k = 0; k < 8; ++k)
#pragma unroll
      for (int late = 0; late < 2; ++late) {
        const int term = 16 * k + 8 * late + 2 * member;  // in the own gates
        const T* const at = from + (int64_t{term / 32} * kUnits + term % 32) * kUnits;
        const uint2 one = *reinterpret_cast<const uint2*>(at);
        const uint2 two = *reinterpret_cast<const uint2*>(at + kUnits);
        const auto lower = [](uint32_t a, uint32_t b) { return (a & 0xffff) | b << 16; };
        const auto upper = [](uint32_t a, uint32_t b) { return a >> 16 | (b & 0xffff0000); };
        weight[k][0][2 * late] = lower(one.x, two.x);
        weight[k][0][2 * late + 1] = upper(one.x, two.x);
        weight[k][1][2 * late] = lower(one.y, two.y);
        weight[k][1][2 * late + 1] = upper(one.y, two.y);
      }
  }

  // Warp r has the cells of row r, a unit for each lane.
  const bool has_cell = warp < kRows, is_real = has_cell && first + warp < args.batch;
  const int64_t cell = int64_t{first + warp} * kUnits + unit + lane;
  const auto of_step = [&](int i) { return lstm_step(args, i) * args.batch * kUnits + cell; };
  const auto gates_of = [&](int i) { return of_step(i) + (of_step(i) - unit - lane) * 3; };
  float gates[4] = {}, c = 0, c_prev = 0, given = 0, given_c = 0, grad_c = 0;
  const auto load = [&](int i) {  // what step i needs beside c
    const T* const from = args.gates + gates_of(i);
#pragma unroll
    for (int g = 0; g < 4; ++g) gates[g] = static_cast<float>(from[g * kUnits]);
    c_prev = static_cast<float>(i > 0 ? args.cells[of_step(i - 1)] : args.c[cell]);
    if (args.grad_states) given = static_cast<float>(args.grad_states[of_step(i)]);
    if (args.grad_cells) given_c = static_cast<float>(args.grad_cells[of_step(i)]);
  };
  if (is_real) {
    load(args.steps - 1);
    c = static_cast<float>(args.cells[of_step(args.steps - 1)]);
  }
  sync_cluster();

  const auto come_from_step = [&](int j) {  // the gradient of h that step j sent back
    wait_for(&came[j % 2], j / 2 % 2);
    float sum = 0;
    if (has_cell)
#pragma unroll
      for (int sender = 0; sender < kBlocks; ++sender) sum += part_of(j % 2, sender, warp)[lane];
    return sum;
  };
  for (int j = 0; j < args.steps; ++j) {
    const int i = args.steps - 1 - j, now = j % 2;
    const float back = j > 0 ? come_from_step(j - 1) : 0;
    if (thread == 0) arrive_and_expect(&came[now], (kBlocks - 1) * kRows * 32 * int{sizeof(float)});
    float grads[4];
    if (has_cell) {
      grad_c += given_c;
      scalar::lstm_unit_grad(1, given + back, c_prev, gates, c, &grad_c, grads);
      T* const to = own_gates + (now * kRows + warp) * kPitch + lane;
#pragma unroll
      for (int g = 0; g < 4; ++g) to[32 * g] = T(grads[g]);
      c = c_prev;
      if (is_real && i > 0) load(i - 1);
    }
    __syncthreads();
    // No block sends again to where others still read what the step before sent.
    if (j > 0) wait_for_cluster();
    arrive_at_cluster();
    if (warp < kBlocks) {
      float sum[2][kTiles][4] = {};
      add_lstm_products<T, kTiles>(sum, weight, own_gates + now * kRows * kPitch, kPitch);
#pragma unroll
      for (int n = 0; n < kTiles; ++n)
#pragma unroll
        for (int odd = 0; odd < 2; ++odd) {
          const float4 four = {sum[0][n][odd], sum[0][n][2 + odd], sum[1][n][odd],
                               sum[1][n][2 + odd]};
          float* const to = part_of(now, rank, 8 * n + 2 * member + odd) + 4 * group;
          if (warp == rank)
            *reinterpret_cast<float4*>(to) = four;
          else
            send(to,
                 {__float_as_uint(four.x), __float_as_uint(four.y), __float_as_uint(four.z),
                  __float_as_uint(four.w)},
                 &came[now], static_cast<unsigned>(warp));
        }
      if (warp == rank) {
        __syncwarp();
        if (lane == 0) arrive(&came[now]);
      }
    }
    if (!is_real) continue;
    T* const to = args.grad_x + gates_of(i);
#pragma unroll
    for (int g = 0; g < 4; ++g) to[g * kUnits] = T(grads[g]);
  }
  const float back = come_from_step(args.steps - 1);
  if (is_real) {
    args.grad_h[cell] = T(back);
    args.grad_c[cell] = T(grad_c);
  }
  wait_for_cluster();
#endif
}

}  // namespace gradus::cuda
