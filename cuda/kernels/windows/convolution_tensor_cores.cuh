// Convolutions of float32 as implicit matrix products by tensor cores, as exact as those of
// multiply-add units.
//
// Idea. The product of matmul/tensor_cores.cuh: floats as sums of two TF32 numbers, few terms at a
// time by tensor cores. The tiles are gathered (implicit_gemm.cuh). Each element of a tile is a
// copy of 4 bytes of its own that passes no register (cp.async), with zeros for the padding.
// Cost. A thread starts 32 copies for 16 terms of 128 x 128 outputs. That is about 250 instructions
// beside the 700 of the product, whose tensor cores are busy for 1250 cycles meanwhile.
// Next. Fewer multiplications for windows of 3 x 3 (Lavin and Gray 2016, "Fast algorithms for
// convolutional neural networks"), at some loss of exactness.
#pragma once

#include "gradus/cuda/kernels/matmul/tensor_cores.cuh"
#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/windows/implicit_gemm.cuh"

namespace gradus::cuda {

// The results of a block: S::kRows x S::kCols of one group and one part of the depth.
template <class S, ConvolutionPass part>
class ConvolutionTiles {
  static constexpr bool kOfWeight = part == ConvolutionPass::wgrad;
  using TileA = OperandTile<S::kRows, S::kDepth, false>;
  using TileB = OperandTile<S::kCols, S::kDepth, !kOfWeight>;
  static constexpr int kFloats = TileA::kFloats + TileB::kFloats;
  // Spots of the depth are found for kSteps steps at once, a set; kSets sets are in shared memory.
  static constexpr int kSet = 32, kSets = 4, kSteps = kSet / S::kDepth;
  static constexpr int kWarps = S::kThreads / 32;
  static_assert(S::kThreads % S::kCols == 0, "each thread has one column");

 public:
  using Mine = Share<S, TileA, TileB>;
  using Sums = typename Mine::Sums;
  static constexpr int kSharedBytes =
      4 * S::kStages * kFloats + static_cast<int>(sizeof(Spot)) * (S::kCols + kSets * kSet);

  // All threads of the block are here.
  __device__ explicit ConvolutionTiles(const ConvolutionArgs<float>& args)
      : args_(args), block_(args, S::kRows, S::kCols) {
    extern __shared__ float shared[];
    columns_ = reinterpret_cast<Spot*>(shared + S::kStages * kFloats);
    depths_ = columns_ + S::kCols;
    begin_ = block_.begin(args), end_ = block_.end(args);
    for (int c = thread(); c < S::kCols; c += S::kThreads)
      if (block_.first_column + c < args.columns)
        columns_[c] = spot<!kOfWeight>(block_.first_column + c);
    for (int set = thread() / 32; set < kSets; set += kWarps) find_depths(set);
    __syncthreads();
  }

  // step(tile of a, tile of b) for one after the other.
  template <class Step>
  __device__ void walk(Step step) {
    extern __shared__ float shared[];
    const int steps = (end_ - begin_ + S::kDepth - 1) / S::kDepth;
#pragma unroll
    for (int s = 0; s < S::kStages - 1; ++s) copy(shared + s * kFloats, s);
    int slot = 0;
#pragma unroll 1
    for (int s = 0; s < steps; ++s) {
      wait_for_copies<S::kStages - 2>();
      __syncthreads();  // all have copied their part of this tile, and have left the one before
      const int ahead = s + S::kStages - 1, set = ahead / kSteps;
      // The next depths replace a set whose copies had all begun before the barrier.
      if (ahead % kSteps == 0 && thread() / 32 == set % kWarps) find_depths(set + 2);
      copy(shared + (slot == 0 ? S::kStages - 1 : slot - 1) * kFloats, ahead);
      step(shared + slot * kFloats, shared + slot * kFloats + TileA::kFloats);
      if (++slot == S::kStages) slot = 0;
    }
    wait_for_copies<0>();
    __syncthreads();
  }

  __device__ void write(const Sums& sum) const {
    block_.template write<Mine>(args_, columns_, sum);
  }

  // Makes the sums without splitting floats.
  __device__ __noinline__ static void make_plainly(const ConvolutionArgs<float>& args) {
    ConvolutionTiles tiles(args);
    Sums sum = {};
    tiles.walk([&](const float* a, const float* b) { Mine::add_terms_plainly(a, b, sum); });
    tiles.write(sum);
  }

 private:
  __device__ static int thread() { return static_cast<int>(threadIdx.x); }

  template <bool place>
  __device__ Spot spot(int i) const {
    return place ? place_spot<part>(args_, i, block_.group)
                 : tap_spot<part>(args_, i, block_.group);
  }

  // One warp does this.
  __device__ void find_depths(int set) {
    const int lane = thread() % 32, i = begin_ + set * kSet + lane;
    if (i < end_) depths_[set % kSets * kSet + lane] = spot<kOfWeight>(i);
  }

  // Begins to copy the tiles of a step to `to`.
  __device__ void copy(float* to, int step) const {
    const int left = end_ - begin_ - step * S::kDepth;
    if (left > 0) {
      const Spot* const terms = depths_ + step % (kSets * kSteps) * S::kDepth;
      copy_a(to, terms, left);
      if constexpr (kOfWeight)
        copy_along_depth(to + TileA::kFloats, terms, left);
      else
        copy_along_columns(to + TileA::kFloats, terms, left);
    }
    end_copy_group();
  }

  __device__ static void copy_one(float* to, const float* from, bool inside, const float* any) {
    copy_later<4>(to, inside ? from : any, inside ? 4 : 0);
  }

  __device__ void copy_a(float* to, const Spot* terms, int left) const {
    constexpr int kStep = S::kThreads / S::kDepth;
    const int depth = thread() % S::kDepth, row = thread() / S::kDepth;
    const bool exists = depth < left;
    const float* const from =
        args_.a + (block_.first_row + row) * args_.a_row + (exists ? terms[depth].in_other : 0);
#pragma unroll
    for (int u = 0; u < S::kRows / kStep; ++u)
      copy_one(to + TileA::at(row + u * kStep, depth), from + u * kStep * args_.a_row,
               exists && block_.first_row + row + u * kStep < args_.rows, args_.a);
  }

  // Copies b where neighbours in memory are columns: each thread has one.
  __device__ void copy_along_columns(float* to, const Spot* terms, int left) const {
    constexpr int kStep = S::kThreads / S::kCols;
    const int lane = thread() % S::kCols, depth = thread() / S::kCols;
    const bool exists = block_.first_column + lane < args_.columns;
    const Spot column = exists ? columns_[lane] : Spot{};
#pragma unroll
    for (int u = 0; u < S::kDepth / kStep; ++u) {
      const int d = depth + u * kStep;
      const bool is_term = exists && d < left;
      const Spot& term = terms[is_term ? d : 0];
      copy_one(to + TileB::at(lane, d), args_.b + column.in_b + term.in_b,
               is_term && is_inside(args_, column, term), args_.b);
    }
  }

  // Copies b where neighbours in memory are places: each thread has one of the depth.
  __device__ void copy_along_depth(float* to, const Spot* terms, int left) const {
    constexpr int kStep = S::kThreads / S::kDepth;
    const int lane = thread() / S::kDepth, depth = thread() % S::kDepth;
    const bool exists = depth < left;
    const Spot term = exists ? terms[depth] : Spot{};
#pragma unroll
    for (int u = 0; u < S::kCols / kStep; ++u) {
      const int c = lane + u * kStep;
      const bool is_column = exists && block_.first_column + c < args_.columns;
      const Spot& column = columns_[is_column ? c : 0];
      copy_one(to + TileB::at(c, depth), args_.b + column.in_b + term.in_b,
               is_column && is_inside(args_, column, term), args_.b);
    }
  }

  const ConvolutionArgs<float>& args_;
  const ConvolutionBlock block_;
  Spot *columns_, *depths_;
  int begin_, end_;
};

template <class S, ConvolutionPass part>
__global__ void __maxnreg__(S::kRegisters)
    convolution_tensor_cores(const __grid_constant__ ConvolutionArgs<float> args) {
  wait_for_earlier_kernels();
  using Tiles = ConvolutionTiles<S, part>;
  Tiles tiles(args);
  typename Tiles::Sums sum = {};
  tiles.walk(
      [&](const float* a, const float* b) { Tiles::Mine::template add_terms<false>(a, b, sum); });
  // A sum that is not finite may come from the splitting, as in matmul_tensor_cores.
  if (__syncthreads_or(!Tiles::Mine::all_finite(sum)))
    Tiles::make_plainly(args);
  else
    tiles.write(sum);
}

}  // namespace gradus::cuda
