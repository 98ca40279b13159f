// Rung 7, tensor_cores: float32 products by tensor cores, as exact as those of multiply-add units.
//
// Idea. Tensor cores multiply numbers with fractions of 10 bits (TF32) and lose what a float has
// more. So each float becomes the sum of two such numbers, big + small, and three products replace
// one: small big' + big small' + big big' (small small' is below what a float shows).
// Tensor cores also truncate their sums and do not round them. So they add only 8 terms at a time,
// and ordinary additions add the sums of 8. Both are ideas of Ootomo and Yokota
// (2022, "Recovering single precision accuracy from tensor cores while surpassing the FP32
// theoretical peak performance"); the split is older (Markidis et al. 2018, "NVIDIA tensor core
// programmability, performance and precision").
// The tiles have the same layout in shared memory as in global memory. They are copied two tiles
// ahead, without passing through registers (cp.async). A float is split after it is loaded into a
// register.
// Cost. A warp issues 96 instructions of tensor cores for 8 terms of 64 x 64 outputs. Each of them
// has 1024 multiply-adds. The warp also issues 256 additions, 32 loads of shared memory and 128
// operations that split floats.
// Tensor cores alone would need about 6.5 cycles for each of theirs: 106 TFLOP/s on an H200.
// Next. Four warps together can multiply tiles in shared memory (wgmma) at the full rate of tensor
// cores. The operands would have to be split before.
#pragma once

#include <algorithm>

#include "gradus/cuda/kernels/matmul/copy.cuh"
#include "gradus/cuda/kernels/pdl.cuh"

namespace gradus::cuda {

inline constexpr int kRegistersOfMultiprocessor = 65536;

// A block makes rows x cols outputs in steps of depth terms, a warp warp_rows x warp_cols of them.
// `stages` tiles of each operand are in shared memory at a time; `resident` blocks fit a
// multiprocessor. `groups` groups of warps share the terms of a step: each makes the whole tile of
// its own, which are added at the end.
template <int rows, int cols, int depth, int warp_rows, int warp_cols, int stages, int resident,
          int groups = 1>
struct TensorShape {
  static constexpr int kRows = rows, kCols = cols, kDepth = depth;
  static constexpr int kWarpRows = warp_rows, kWarpCols = warp_cols;
  static constexpr int kWarpsAcross = cols / warp_cols;
  static constexpr int kGroups = groups;
  static constexpr int kGroupThreads = 32 * (rows / warp_rows) * kWarpsAcross;
  static constexpr int kThreads = groups * kGroupThreads;
  static constexpr int kStages = stages, kResident = resident;
  // Registers of a thread. The largest blocks need no more than 232. So a small block of another
  // stream, such as add_part, fits beside two of them and need not wait until one ends.
  static constexpr int kRegisters =
      rows >= 128 ? 232 : kRegistersOfMultiprocessor / (kThreads * resident) / 8 * 8;
  static constexpr bool kSumsRows = rows < 128;  // see MatmulArgs::row_sums
  static constexpr int kSharedBytes =
      4 * stages *
      (std::max(OperandTile<rows, depth, true>::kFloats, OperandTile<rows, depth, false>::kFloats) +
       std::max(OperandTile<cols, depth, true>::kFloats, OperandTile<cols, depth, false>::kFloats));
};

// The sums of a's rows over the terms, of which neighbouring threads share a row.
template <class S, class TileA>
class RowSums {
  static constexpr int kLanes = S::kThreads / S::kRows;

 public:
  __device__ void add(const float* tile) {
#pragma unroll
    for (int i = 0; i < S::kDepth; i += kLanes) sum_ += tile[TileA::at(row(), i + lane())];
  }
  __device__ void write(const MatmulArgs<float>& args, int64_t first_row) {
#pragma unroll
    for (int reach = kLanes / 2; reach > 0; reach /= 2)
      sum_ += __shfl_xor_sync(0xffffffffu, sum_, reach);
    if (lane() == 0 && first_row + row() < args.m) args.row_sums[first_row + row()] = sum_;
  }

 private:
  __device__ static int row() { return static_cast<int>(threadIdx.x) / kLanes; }
  __device__ static int lane() { return static_cast<int>(threadIdx.x) % kLanes; }
  float sum_ = 0;
};

// The part of a block's outputs that one thread makes: its place in the tiles, and the sums.
template <class S, class TileA, class TileB>
struct Share {
  static constexpr int kDown = S::kWarpRows / 16, kAcross = S::kWarpCols / 8;
  using Sums = float[kDown][kAcross][4];

  __device__ static int lane() { return static_cast<int>(threadIdx.x) % 32; }
  __device__ static int group() {
    return S::kGroups > 1 ? static_cast<int>(threadIdx.x) / S::kGroupThreads : 0;
  }
  __device__ static int warp() {
    return static_cast<int>(threadIdx.x) / 32 - group() * (S::kGroupThreads / 32);
  }
  __device__ static int row() { return warp() / S::kWarpsAcross * S::kWarpRows; }
  __device__ static int col() { return warp() % S::kWarpsAcross * S::kWarpCols; }

  // step(tile of a, tile of b) for one after the other.
  template <class Step>
  __device__ static void walk(const MatmulArgs<float>& args, const TileOrigin& tile, Step step) {
    extern __shared__ float shared[];
    constexpr int kFloats = TileA::kFloats + TileB::kFloats;
    TileCopier<TileA, S::kThreads> a(args.a, tile.row, args.m);
    TileCopier<TileB, S::kThreads> b(args.b, tile.col, args.n);
    const auto copy = [&](int slot, int64_t k) {
      float* const to = shared + slot * kFloats;
      if (k < args.k) a.copy(to, args.k - k), b.copy(to + TileA::kFloats, args.k - k);
      end_copy_group();
    };
#pragma unroll
    for (int s = 0; s < S::kStages - 1; ++s) copy(s, s * S::kDepth);
    int slot = 0;
#pragma unroll 1
    for (int64_t k = 0; k < args.k; k += S::kDepth) {
      wait_for_copies<S::kStages - 2>();
      __syncthreads();  // all have copied their part of this tile, and have left the one before
      copy(slot == 0 ? S::kStages - 1 : slot - 1, k + (S::kStages - 1) * S::kDepth);
      step(shared + slot * kFloats, shared + slot * kFloats + TileA::kFloats);
      if (++slot == S::kStages) slot = 0;
    }
    wait_for_copies<0>();
    __syncthreads();
  }

  // Sums of 8 terms by tensor cores, which cut off what they add up: so they are added to the rest
  // by an addition that rounds. a_at(r, e) is element e of this lane's fragment of the 16 rows r,
  // b_at(c, e) that of the 8 columns c. kScales: the small parts are scaled, for the sake of
  // subnormal numbers, and summed apart.
  template <bool kScales, class A, class B>
  __device__ static void add_eight(const A& a_at, const B& b_at, Sums& sum) {
    constexpr float kScale = kScales ? 0x1p13f : 1;
    Halves a[kDown][4];
#pragma unroll
    for (int r = 0; r < kDown; ++r)
#pragma unroll
      for (int e = 0; e < 4; ++e) a[r][e] = halves(a_at(r, e), kScale);
#pragma unroll
    for (int c = 0; c < kAcross; ++c) {
      const Halves b[2] = {halves(b_at(c, 0), kScale), halves(b_at(c, 1), kScale)};
      const uint32_t big_b[2] = {b[0].big, b[1].big}, small_b[2] = {b[0].small, b[1].small};
#pragma unroll
      for (int r = 0; r < kDown; ++r) {
        const uint32_t big_a[4] = {a[r][0].big, a[r][1].big, a[r][2].big, a[r][3].big};
        const uint32_t small_a[4] = {a[r][0].small, a[r][1].small, a[r][2].small, a[r][3].small};
        float terms[4] = {};
        multiply_add_tf32(terms, small_a, big_b);
        multiply_add_tf32(terms, big_a, small_b);
        if constexpr (kScales) {
          float big_terms[4] = {};
          multiply_add_tf32(big_terms, big_a, big_b);
#pragma unroll
          for (int e = 0; e < 4; ++e) terms[e] = fmaf(terms[e], 1 / kScale, big_terms[e]);
        } else {
          multiply_add_tf32(terms, big_a, big_b);
        }
#pragma unroll
        for (int e = 0; e < 4; ++e) sum[r][c][e] += terms[e];
      }
    }
  }

  template <bool kScales>
  __device__ static void add_terms(const float* a_tile, const float* b_tile, Sums& sum) {
    constexpr int kOfGroup = S::kDepth / S::kGroups;
    a_tile += TileA::at(row() + lane() / 4, group() * kOfGroup + lane() % 4);
    b_tile += TileB::at(col() + lane() / 4, group() * kOfGroup + lane() % 4);
#pragma unroll
    for (int i = 0; i < kOfGroup; i += 8)
      add_eight<kScales>(
          [&](int r, int e) { return a_tile[TileA::at(r * 16 + e % 2 * 8, i + e / 2 * 4)]; },
          [&](int c, int e) { return b_tile[TileB::at(c * 8, i + e * 4)]; }, sum);
  }

  // f(r, c, e, sum) for each of this thread's sums.
  template <class Sums, class F>
  __device__ static void visit(Sums& sum, F f) {
#pragma unroll
    for (int r = 0; r < kDown; ++r)
#pragma unroll
      for (int c = 0; c < kAcross; ++c)
#pragma unroll
        for (int e = 0; e < 4; ++e) f(r, c, e, sum[r][c][e]);
  }

  // The same as add_terms, by multiply-adds.
  __device__ static void add_terms_plainly(const float* a_tile, const float* b_tile, Sums& sum) {
    constexpr int kOfGroup = S::kDepth / S::kGroups;
    a_tile += TileA::at(row() + lane() / 4, group() * kOfGroup);
    b_tile += TileB::at(col() + lane() % 4 * 2, group() * kOfGroup);
#pragma unroll 1
    for (int i = 0; i < kOfGroup; ++i)
      visit(sum, [&](int r, int c, int e, float& at) {
        at += a_tile[TileA::at(r * 16 + e / 2 * 8, i)] * b_tile[TileB::at(c * 8 + e % 2, i)];
      });
  }

  // Adds the sums of all groups, in order, in the first one. REQUIRES: nobody uses shared memory.
  __device__ static void add_groups(Sums& sum) {
    if constexpr (S::kGroups > 1) {
      extern __shared__ float shared[];
      const auto place = [&](int group, int r, int c, int e) -> float& {
        const int number = ((group * kDown + r) * kAcross + c) * 4 + e;
        return shared[number * S::kGroupThreads + static_cast<int>(threadIdx.x) % S::kGroupThreads];
      };
      if (group() > 0)
        visit(sum, [&](int r, int c, int e, float at) { place(group() - 1, r, c, e) = at; });
      __syncthreads();
      for (int g = 0; g < S::kGroups - 1 && group() == 0; ++g)
        visit(sum, [&](int r, int c, int e, float& at) { at += place(g, r, c, e); });
    }
  }

  // f(row, column, sum) for each.
  template <class Sums, class F>
  __device__ static void for_each(const TileOrigin& tile, Sums& sum, F f) {
    const int64_t first_row = tile.row + row() + lane() / 4;
    const int64_t first_col = tile.col + col() + lane() % 4 * 2;
    visit(sum, [&](int r, int c, int e, auto& at) {
      f(first_row + r * 16 + e / 2 * 8, first_col + c * 8 + e % 2, at);
    });
  }

  __device__ static void write(const MatmulArgs<float>& args, const TileOrigin& tile,
                               const Sums& sum) {
    if (group() > 0) return;
    for_each(tile, sum, [&](int64_t r, int64_t c, float at) { store(args, r, c, at); });
  }

  __device__ static bool all_finite(const Sums& sum) {
    bool finite = true;
    visit(sum, [&](int, int, int, float at) { finite &= isfinite(at); });
    return finite;
  }

  // Makes the sums again.
  __device__ __noinline__ static void make_plainly(const MatmulArgs<float>& args, TileOrigin tile) {
    Sums sum = {};
    walk(args, tile, [&](const float* a, const float* b) { add_terms_plainly(a, b, sum); });
    add_groups(sum);
    write(args, tile, sum);
  }
};

template <class S, bool a_along_outer, bool b_along_outer>
__global__ void __maxnreg__(S::kRegisters)
    matmul_tensor_cores(const __grid_constant__ MatmulArgs<float> args) {
  wait_for_earlier_kernels();
  using TileA = OperandTile<S::kRows, S::kDepth, a_along_outer>;
  using TileB = OperandTile<S::kCols, S::kDepth, b_along_outer>;
  using Mine = Share<S, TileA, TileB>;
  const TileOrigin tile = tile_origin<S::kRows, S::kCols>(args);
  typename Mine::Sums sum = {};
  if constexpr (S::kSumsRows) {
    RowSums<S, TileA> rows;
    const bool sums_rows = args.row_sums != nullptr && tile.col == 0;
    Mine::walk(args, tile, [&](const float* a, const float* b) {
      Mine::template add_terms<true>(a, b, sum);
      if (sums_rows) rows.add(a);
    });
    if (sums_rows) rows.write(args, tile.row);
  } else {
    Mine::walk(args, tile,
               [&](const float* a, const float* b) { Mine::template add_terms<true>(a, b, sum); });
  }
  Mine::add_groups(sum);
  // big and small of an infinity are an infinity and NaN; so are those of a float that rounds to an
  // infinity. Then the sums are not finite, and the block makes them without splitting.
  if (__syncthreads_or(!Mine::all_finite(sum)))
    Mine::make_plainly(args, tile);
  else
    Mine::write(args, tile, sum);
}

}  // namespace gradus::cuda
