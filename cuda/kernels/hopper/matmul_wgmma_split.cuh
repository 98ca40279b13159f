// The rung wgmma for float32: products by tensor cores for bfloat16, as exact as those of
// multiply-add units.
//
// Idea. A float of 24 bits is the sum of three bfloat16 numbers of 8 bits. split_planes() makes
// three planes of each operand; of their nine products the six count whose terms are not below what
// a float shows. (Henry, Tang and Heinecke 2019, "Leveraging the bfloat16 artificial intelligence
// datatype for higher-precision computations".) A stage of shared memory holds 64 terms of all
// planes, so that each is loaded once for its products. Tensor cores truncate their sums; so they
// add 64 terms at a time, least ones first, and ordinary additions add the sums of 64.
// Cost. Six products: a sixth of the tensor cores' rate for bfloat16, at most. 12 bytes of planes
// are written and read for each element of an operand.
// Next. Warps that split a tile of floats in shared memory, in place of planes in global memory.
#pragma once

#include "gradus/cuda/kernels/hopper/matmul_wgmma.cuh"
#include "gradus/cuda/kernels/hopper/planes.cuh"
#include "gradus/cuda/kernels/matmul/operand.h"

namespace gradus::cuda {

// The floats that become planes: batches of lines of `count` elements, and their strides.
struct PlanesSource {
  const float* data;
  int64_t batches, lines, count;
  int64_t batch, line, step;
};

// to (batches, 3, lines, pitch) = the planes, with zeros at the ends of lines. Eight elements to a
// thread. REQUIRES: pitch is a multiple of 8.
__global__ void split_planes(const PlanesSource from, int64_t pitch, uint16_t* to) {
  wait_for_earlier_kernels();
  const int64_t units = pitch / 8, all = from.batches * from.lines * units;
  const bool vectors = from.step == 1 && from.line % 4 == 0 && from.batch % 4 == 0 &&
                       reinterpret_cast<uintptr_t>(from.data) % 16 == 0;
  for (int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x; i < all;
       i += int64_t{gridDim.x} * blockDim.x) {
    const int64_t unit = i % units * 8, row = i / units % from.lines;
    const int64_t z = i / units / from.lines;
    const float* const at = from.data + z * from.batch + row * from.line + unit * from.step;
    float x[8];
    if (vectors && unit + 8 <= from.count) {
      *reinterpret_cast<float4*>(x) = *reinterpret_cast<const float4*>(at);
      *reinterpret_cast<float4*>(x + 4) = *reinterpret_cast<const float4*>(at + 4);
    } else {
#pragma unroll
      for (int e = 0; e < 8; ++e) x[e] = unit + e < from.count ? at[e * from.step] : 0.f;
    }
    uint16_t planes[8][3];
#pragma unroll
    for (int e = 0; e < 8; ++e) split_in_three(x[e], planes[e]);
#pragma unroll
    for (int p = 0; p < 3; ++p)
      *reinterpret_cast<uint4*>(to + ((z * 3 + p) * from.lines + row) * pitch + unit) =
          unit_of(planes, p);
  }
}

// Boxes of the planes of a and b; of each batch three, one behind the other. The sums are cut into
// `parts` of `steps` steps each: part p of batch i goes to matrix i * parts + p of product.out.
struct WgmmaSplitArgs {
  CUtensorMap a, b;
  MatmulArgs<float> product;
  int batches, parts, steps;
  int of_a, of_b;  // planes from one batch to the next: 3, or 0 where all share them
};

struct WgmmaSplitTile {
  static constexpr int kRows = 128, kCols = 128, kDepth = 64, kThreads = 384, kCluster = 2;
  static constexpr int kPlanes = 3, kBoxes = 2;  // of 64 rows or columns, a plane
  static constexpr int kStageBytes = 2 * kPlanes * kBoxes * hopper::kBoxBytes;
  static constexpr int kStages = hopper::stages_that_fit(kStageBytes, 1024);
  static constexpr int kSharedBytes = kStages * kStageBytes + 1024 + hopper::kBarrierBytes;
};

// Terms first to last - 1 of an element, added without splitting.
__device__ inline float plain_product(const MatmulArgs<float>& args, int64_t batch, int64_t row,
                                      int64_t column, int64_t first, int64_t last) {
  const float* const a = args.a.data + batch * args.a.batch + row * args.a.outer;
  const float* const b = args.b.data + batch * args.b.batch + column * args.b.outer;
  float sum = 0;
  for (int64_t i = first; i < last; ++i) sum += a[i * args.a.depth] * b[i * args.b.depth];
  return sum;
}

using WgmmaSplitRun = void(WgmmaSplitArgs);

template <bool kAlongA, bool kAlongB>
__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(WgmmaSplitTile::kThreads, 1)
    matmul_wgmma_split(const __grid_constant__ WgmmaSplitArgs args) {
#if __CUDA_ARCH_FEAT_SM90_ALL
  using namespace hopper;
  using Tile = WgmmaSplitTile;
  constexpr int kStages = Tile::kStages, N = Tile::kCols;
  extern __shared__ char shared[];
  char* const stages = shared + (1024 - shared_address(shared) % 1024) % 1024;
  Ring<kStages, Tile::kStageBytes, Tile::kCluster> ring(stages);
  const MatmulArgs<float>& product = args.product;

  const int thread = static_cast<int>(threadIdx.x), group = thread / 128;
  const unsigned rank = block_in_cluster();
  init_rings<Tile::kCluster>(2 * Tile::kCluster, ring);
  wait_for_earlier_kernels();

  const int tall = static_cast<int>((product.m + 255) / 256);
  const int wide = static_cast<int>((product.n + N - 1) / N);
  const int64_t tiles = int64_t{tall} * wide * args.batches * args.parts;
  const int64_t clusters = gridDim.x / Tile::kCluster;
  const int all_steps = static_cast<int>((product.k + Tile::kDepth - 1) / Tile::kDepth);
  const auto first_step = [&](const WgmmaPlace& at) { return at.batch % args.parts * args.steps; };
  const auto last_step = [&](const WgmmaPlace& at) {
    return ::min(first_step(at) + args.steps, all_steps);
  };

  if (group == 2) {
    give_registers<40>();
    if (thread % 128 == 0) {
      for (int64_t tile = blockIdx.x / Tile::kCluster; tile < tiles; tile += clusters) {
        const WgmmaPlace at(static_cast<int>(tile), tall, wide);
        const int row = at.row * 256 + static_cast<int>(rank) * 128;
        const int column = at.column * N + static_cast<int>(rank) * 64;
        for (int step = first_step(at); step < last_step(at); ++step) {
          char* const a = ring.acquire();
          char* const b = a + Tile::kPlanes * Tile::kBoxes * kBoxBytes;
          const int k = step * Tile::kDepth;
#pragma unroll
          for (int plane = 0; plane < Tile::kPlanes; ++plane) {
            const int batch = at.batch / args.parts, first = plane * Tile::kBoxes;
            const int of_a = batch * args.of_a + plane, of_b = batch * args.of_b + plane;
#pragma unroll
            for (int i = 0; i < Tile::kBoxes; ++i) {
              const int outer = row + 64 * i;
              copy_box(a + (first + i) * kBoxBytes, args.a, ring.loads(), kAlongA ? outer : k,
                       kAlongA ? k : outer, of_a);
            }
            copy_box_to_all(b + (first + static_cast<int>(rank)) * kBoxBytes, args.b, ring.loads(),
                            kAlongB ? column : k, kAlongB ? k : column, of_b, 0b11);
          }
          ring.advance();
        }
      }
    }
  } else {
    take_registers<232>();
    const int lane = thread % 32, warp = thread % 128 / 32;
    for (int64_t tile = blockIdx.x / Tile::kCluster; tile < tiles; tile += clusters) {
      const WgmmaPlace at(static_cast<int>(tile), tall, wide);
      float sums[N / 2] = {}, step_sums[N / 2];
      for (int step = first_step(at); step < last_step(at); ++step) {
        ring.wait_until_full();
        const uint64_t a = describe(ring.tile() + group * kBoxBytes);
        const uint64_t b = describe(ring.tile() + Tile::kPlanes * Tile::kBoxes * kBoxBytes);
        multiply_planes<N, kAlongA, kAlongB>(step_sums, a, Tile::kBoxes, b, Tile::kBoxes);
        ring.release(ring.stage, thread);
#pragma unroll
        for (int i = 0; i < N / 2; ++i) sums[i] += step_sums[i];
        ring.advance();
      }
      const int row =
          at.row * 256 + static_cast<int>(rank) * 128 + group * 64 + 16 * warp + lane / 4;
      const int column = at.column * N + lane % 4 * 2;
      float* const out = product.out + (int64_t{at.batch} * product.m + row) * product.n + column;
      const bool pairs = product.n % 2 == 0 && reinterpret_cast<uintptr_t>(product.out) % 8 == 0;
      bool finite = true;
      // Few instructions count where there are few terms.
      const bool whole = at.row * 256 + 256 <= product.m && at.column * N + N <= product.n;
      if (whole && pairs && !product.bias) {
        float zero = 0;  // or NaN
#pragma unroll
        for (int i = 0; i < N / 2; i += 2) {
          zero = fmaf(sums[i], 0, fmaf(sums[i + 1], 0, zero));
          __stcs(reinterpret_cast<float2*>(out + i / 2 % 2 * 8 * product.n + i / 4 * 8),
                 make_float2(sums[i], sums[i + 1]));
        }
        finite = zero == 0;
      } else {
#pragma unroll
        for (int upper = 0; upper < 2; ++upper) {
          if (row + 8 * upper >= product.m) continue;
          float* const line = out + 8 * upper * product.n;
#pragma unroll
          for (int j = 0; j < N / 8; ++j) {
            float first = sums[4 * j + 2 * upper], second = sums[4 * j + 2 * upper + 1];
            const int left = static_cast<int>(product.n) - column - 8 * j;
            if (left <= 0) continue;
            finite &= isfinite(first) && (left < 2 || isfinite(second));
            if (product.bias) {
              const float* const bias = product.bias + (column + 8 * j) * product.bias_stride;
              first += bias[0];
              if (left > 1) second += bias[product.bias_stride];
            }
            if (pairs) {
              *reinterpret_cast<float2*>(line + 8 * j) = make_float2(first, second);
            } else {
              line[8 * j] = first;
              if (left > 1) line[8 * j + 1] = second;
            }
          }
        }
      }
      if (finite) continue;
      // An infinity among the operands has made NaN of its sums.
      const int64_t first = int64_t{first_step(at)} * Tile::kDepth;
      const int64_t last = ::min(int64_t{last_step(at)} * Tile::kDepth, product.k);
#pragma unroll 1
      for (int i = 0; i < N / 2; ++i) {
        const int c = i / 4 * 8 + i % 2, lower = i % 4 / 2 * 8;
        if (row + lower >= product.m || column + c >= product.n) continue;
        float& each = out[lower * product.n + c];
        if (isfinite(each)) continue;
        each = plain_product(product, at.batch / args.parts, row + lower, column + c, first, last);
        if (product.bias) each += product.bias[(column + c) * product.bias_stride];
      }
    }
  }
  sync_cluster();
#endif
}

}  // namespace gradus::cuda
