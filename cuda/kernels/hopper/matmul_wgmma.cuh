// The rung wgmma of the matmul ladder: products of half types on Hopper.
//
// Idea. A block has two or three warpgroups. One thread of the first is the producer: it asks TMA
// for tiles of a and b, some steps ahead, and TMA fills a ring of stages (pipeline.cuh). The other
// warpgroups are the consumers: they multiply 64 rows each straight from shared memory, and never
// load. The blocks of a cluster have the same columns: each copies its share of b's tile to all.
// Blocks stay and take tile after tile, so the first copies of the next tile and the stores of the
// last one run beside products. (Shah et al., "FlashAttention-3", 2024, and CUTLASS 3 call this
// warp specialisation.)
//
// Cost. Some 4.3 TFLOP/s and multiprocessor at the limit of the tensor cores; a tile of 128 x 256
// reads 32 KB a step of 64 terms from the L2 cache. Results whose rows are no multiples of 16
// bytes, which TMA does not take, leave through registers.
//
// Next. Split-K where tiles are few.
#pragma once

#include "gradus/cuda/kernels/hopper/odd_lines.cuh"
#include "gradus/cuda/kernels/hopper/pipeline.cuh"
#include "gradus/cuda/kernels/pdl.cuh"

namespace gradus::cuda {

// Boxes of 64 x 64 elements of a, b and out. The columns of out, and of an operand whichever
// dimension is contiguous, are the first one; batches are the third.
template <class T>
struct WgmmaArgs {
  CUtensorMap a, b, out;
  T* lines;       // out, contiguous, where it has no boxes; or null
  const T* bias;  // (n), contiguous, or null
  int m, n, k, batches;
};

// The tile of a block, 64 rows for each of its warpgroups that multiply. The blocks of a cluster
// lie one below the other.
template <int groups, int columns, int blocks>
struct WgmmaTile {
  static constexpr int kGroups = groups, kRows = 64 * kGroups, N = columns, kDepth = 64;
  static constexpr int kThreads = 128 * (kGroups + 1), kCluster = blocks;
  static constexpr int kHeight = kRows * kCluster;  // of the cluster
  static constexpr int kBoxesA = kGroups, kBoxesB = N / 64;
  static constexpr int kStageBytes = (kBoxesA + kBoxesB) * hopper::kBoxBytes;
  static constexpr int kOutBytes = kBoxesA * kBoxesB * hopper::kBoxBytes;
  // Small tiles are those of products that leave most of a GPU idle. The next kernel starts beside
  // them, also where it has as large blocks.
  static constexpr bool kLeavesRoom = kRows * N <= 64 * 64;
  // Boxes are aligned to 1024 bytes, which a block's shared memory need not be.
  static constexpr int kOtherBytes = kOutBytes + 1024;
  static constexpr int kStages =
      hopper::stages_that_fit(kStageBytes, kOtherBytes, kLeavesRoom ? 2 : 1);
  static constexpr int kSharedBytes = kStages * kStageBytes + kOtherBytes + hopper::kBarrierBytes;
};

// The place of a cluster's next tile. Eight tiles in a column, then the next column, so that what
// the clusters read at a time stays in the L2 cache.
struct WgmmaPlace {
  int row, column, batch;
  __device__ WgmmaPlace(int tile, int tall, int wide) {
    constexpr int kGroup = 8;
    const int each = tall * wide;
    batch = tile / each;
    const int of_batch = tile - batch * each;
    const int group = of_batch / (kGroup * wide), first = group * kGroup;
    const int high = ::min(kGroup, tall - first), rest = of_batch - first * wide;
    row = first + rest % high, column = rest / high;
  }
};

template <class T>
using WgmmaRun = void(WgmmaArgs<T>);

template <class T, class Tile, bool kAlongA, bool kAlongB>
__global__ void __cluster_dims__(Tile::kCluster, 1, 1) __launch_bounds__(Tile::kThreads, 1)
    matmul_wgmma(const __grid_constant__ WgmmaArgs<T> args) {
#if __CUDA_ARCH_FEAT_SM90_ALL
  using namespace hopper;
  constexpr int kStages = Tile::kStages, kCluster = Tile::kCluster, N = Tile::N;
  extern __shared__ char shared[];
  char* const stages = shared + (1024 - shared_address(shared) % 1024) % 1024;
  char* const results = stages + kStages * Tile::kStageBytes;
  Ring<kStages, Tile::kStageBytes, kCluster> ring(stages, Tile::kOutBytes);

  const int thread = static_cast<int>(threadIdx.x), group = thread / 128;
  const int rank = static_cast<int>(block_in_cluster());
  if (thread == 0) {
    prefetch_map(&args.a), prefetch_map(&args.b);
    if (!args.lines) prefetch_map(&args.out);
  }
  init_rings<kCluster>(Tile::kGroups * kCluster, ring);
  if constexpr (Tile::kLeavesRoom) let_next_kernel_start();
  wait_for_earlier_kernels();

  const int tall = (args.m + Tile::kHeight - 1) / Tile::kHeight;
  const int wide = (args.n + N - 1) / N;
  const int tiles = tall * wide * args.batches;
  const int clusters = static_cast<int>(gridDim.x) / kCluster;
  const int first = static_cast<int>(blockIdx.x) / kCluster;
  const int steps = (args.k + Tile::kDepth - 1) / Tile::kDepth;

  if (group == 0) {
    if constexpr (Tile::kGroups > 1) give_registers<40>();
    if (thread == 0) {
      for (int tile = first; tile < tiles; tile += clusters) {
        const WgmmaPlace at(tile, tall, wide);
        const int row = at.row * Tile::kHeight + rank * Tile::kRows, column = at.column * N;
        for (int step = 0; step < steps; ++step) {
          char* const a = ring.acquire();
          char* const b = a + Tile::kBoxesA * kBoxBytes;
          const int k = step * Tile::kDepth;
#pragma unroll
          for (int i = 0; i < Tile::kBoxesA; ++i) {
            const int outer = row + 64 * i;
            copy_box(a + i * kBoxBytes, args.a, ring.loads(), kAlongA ? outer : k,
                     kAlongA ? k : outer, at.batch);
          }
#pragma unroll
          for (int i = 0; i < Tile::kBoxesB; ++i) {
            if (i % kCluster != rank) continue;
            const int outer = column + 64 * i, x = kAlongB ? outer : k, y = kAlongB ? k : outer;
            char* const to = b + i * kBoxBytes;
            if constexpr (kCluster > 1)
              copy_box_to_all(to, args.b, ring.loads(), x, y, at.batch, (1 << kCluster) - 1);
            else
              copy_box(to, args.b, ring.loads(), x, y, at.batch);
          }
          ring.advance();
        }
      }
    }
  } else {
    if constexpr (Tile::kGroups > 1) take_registers<232>();
    const int part = group - 1, lane = thread % 32, warp = thread % 128 / 32;
    char* const result = results + part * Tile::kBoxesB * kBoxBytes;
    for (int tile = first; tile < tiles; tile += clusters) {
      const WgmmaPlace at(tile, tall, wide);
      float sums[N / 2];  // of the lane
      multiply_steps<T, N, kAlongA, kAlongB>(sums, ring, part * kBoxBytes,
                                             Tile::kBoxesA * kBoxBytes, 0, steps, thread);

      const int column = at.column * N;
      if (args.bias) {
#pragma unroll
        for (int j = 0; j < N / 8; ++j)
#pragma unroll
          for (int e = 0; e < 2; ++e) {
            const int c = column + 8 * j + lane % 4 * 2 + e;
            const float more = c < args.n ? static_cast<float>(args.bias[c]) : 0.f;
            sums[4 * j + e] += more, sums[4 * j + 2 + e] += more;
          }
      }
      if (thread % 128 == 0) wait_for_stores();  // of the tile before
      sync_threads<128>(group);
      const int line = 16 * warp + lane % 16;
#pragma unroll
      for (int j = 0; j < N / 8; j += 2) {
        const int chunk = j % 8 + lane / 16;
        char* const to = result + j / 8 * kBoxBytes + line * 128 + (chunk ^ line % 8) * 16;
        store_matrices(to, both_halves<T>(sums[4 * j], sums[4 * j + 1]),
                       both_halves<T>(sums[4 * j + 2], sums[4 * j + 3]),
                       both_halves<T>(sums[4 * j + 4], sums[4 * j + 5]),
                       both_halves<T>(sums[4 * j + 6], sums[4 * j + 7]));
      }
      const int row = at.row * Tile::kHeight + rank * Tile::kRows + part * 64;
      if (args.lines) {  // a warp stores the lines that it has written
        __syncwarp();
        for (int i = 16 * warp; i < 16 * warp + 16 && row + i < args.m; ++i) {
          const int64_t place = (int64_t{at.batch} * args.m + row + i) * args.n + column;
          auto* const to = reinterpret_cast<uint16_t*>(args.lines + place);
          const char* const from = result + i * 128 + (lane / 4 ^ i % 8) * 16 + lane % 4 * 4;
#pragma unroll
          for (int box = 0; box < Tile::kBoxesB; ++box)
            store_pairs(to + 64 * box, args.n - column - 64 * box,
                        *reinterpret_cast<const uint32_t*>(from + box * kBoxBytes), lane);
        }
        continue;
      }
      publish_to_copies();
      sync_threads<128>(group);
      if (thread % 128 == 0) {
#pragma unroll
        for (int i = 0; i < Tile::kBoxesB; ++i)
          store_box(args.out, result + i * kBoxBytes, column + 64 * i, row, at.batch);
        end_stores();
      }
    }
    if (thread % 128 == 0) wait_for_stores();
  }
  if constexpr (kCluster > 1)
    sync_cluster();  // no block ends while another one may still arrive at its barriers
#endif
}

}  // namespace gradus::cuda
