// Convolutions of float32 whose windows overlap, by tensor cores: what the windows of a block share
// comes to shared memory once.
//
// Idea. Neighbouring windows of 3 x 3 share most of their elements, so a tile of the matrix of
// windows (convolution_tensor_cores.cuh) has most elements nine times. Here a block keeps a patch
// for 8 channels at a time: the rows of the gathered tensor that its windows reach, as they lie in
// memory. Copies have 16 bytes. A table, made once for a block, says where the element of a column
// at a tap lies in the patch of any channel; those of the padding lie at a place that holds 0. The
// weights of the same channels lie beside it, also as in memory.
// Cost. A thread starts 18 copies for the weights and about 4 for the patches for 72 terms of 128 x
// 128 outputs, where it would start 144. An element costs one more addition for its place.
#pragma once

#include "gradus/cuda/kernels/matmul/tensor_cores.cuh"
#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/windows/patches.cuh"

namespace gradus::cuda {

// The results of a block: S::kRows x S::kCols of one group and some of the channels, or of the
// filters for the gradient of the input.
// REQUIRES: two spatial dimensions and windows of kTaps elements. Planes of the gathered tensor,
// and the channels of a group, are multiples of 4. a and b are aligned to 16 bytes. A part of the
// depth is a multiple of kChunk channels. args.pitch floats hold the patch of a channel and
// kPatchZeros, and are 8 more than a multiple of 32.
template <class S, ConvolutionPass part>
class ConvolutionPatches {
  static constexpr bool kInput = part == ConvolutionPass::dgrad;

 public:
  static constexpr int kTaps = 9, kChunk = 8;  // elements of a window; channels at a time

 private:
  // Weights in shared memory. The pitch sends what a warp reads at once to 32 different banks.
  static constexpr int kPitchA = kInput ? S::kRows * kTaps + 8 : kChunk * kTaps + 4;
  static constexpr int kFloatsA = (kInput ? kChunk : S::kRows) * kPitchA;
  __device__ static constexpr int at_a(int row, int channel) {
    return kInput ? channel * kPitchA + row * kTaps : row * kPitchA + channel * kTaps;
  }

 public:
  using Mine = Share<S, void, void>;
  using Sums = typename Mine::Sums;

  static constexpr int shared_bytes(int pitch) {
    return 2 * 4 * (kFloatsA + kChunk * pitch) + 4 * kTaps * S::kCols +
           static_cast<int>(sizeof(Spot)) * (S::kCols + kTaps) + 8 * (pitch / 4);
  }

  // All threads of the block are here.
  __device__ explicit ConvolutionPatches(const ConvolutionArgs<float>& args)
      : args_(args), block_(args, S::kRows, S::kCols) {
    extern __shared__ float shared[];
    columns_ = reinterpret_cast<Spot*>(shared + 2 * (kFloatsA + kChunk * args.pitch));
    taps_ = columns_ + S::kCols;
    sources_ = reinterpret_cast<int64_t*>(taps_ + kTaps);
    table_ = reinterpret_cast<int*>(sources_ + args.pitch / 4);
    const Convolution& s = args.shape;
    met_ = kInput ? args.phase[1].taps * args.phase[2].taps : kTaps;
    begin_ = block_.begin(args) / met_;
    end_ = ::min(begin_ + args.part / met_,
                 static_cast<int>(kInput ? s.group_filters() : s.group_channels()));
    plane_ = args.gathered[1] * args.gathered[2];
    make_tables();
  }

  // step(weights, patches) for some channels after the others.
  template <class Step>
  __device__ void walk(Step step) {
    extern __shared__ float shared[];
    const int floats = kFloatsA + kChunk * args_.pitch;
    copy(shared, begin_);
    int slot = 0;
#pragma unroll 1
    for (int channel = begin_; channel < end_; channel += kChunk, slot ^= 1) {
      wait_for_copies<0>();
      __syncthreads();  // all have copied their part of these, and have left those before
      copy(shared + (slot ^ 1) * floats, channel + kChunk);
      step(shared + slot * floats, shared + slot * floats + kFloatsA);
    }
    __syncthreads();
  }

  __device__ void add_terms(const float* a, const float* b, Sums& sum) const {
    const int group = Mine::lane() / 4, member = Mine::lane() % 4;
    a += at_a(Mine::row() + group, member);
    b += member * args_.pitch;
    const int* places = table_ + Mine::col() + group;
#pragma unroll 1
    for (int tap = 0; tap < met_; ++tap, places += S::kCols) {
      const float* const from = a + tap_of(tap);
      int place[Mine::kAcross];
#pragma unroll
      for (int c = 0; c < Mine::kAcross; ++c) place[c] = places[c * 8];
      Mine::template add_eight<false>(
          [&](int r, int e) { return from[at_a(r * 16 + e % 2 * 8, e / 2 * 4)]; },
          [&](int c, int e) { return b[e * 4 * args_.pitch + place[c]]; }, sum);
    }
  }

  // The same by multiply-adds.
  __device__ void add_terms_plainly(const float* a, const float* b, Sums& sum) const {
    a += at_a(Mine::row() + Mine::lane() / 4, 0);
    const int* places = table_ + Mine::col() + Mine::lane() % 4 * 2;
#pragma unroll 1
    for (int i = 0; i < kChunk * met_; ++i) {
      const int channel = i / met_, tap = i % met_;
#pragma unroll
      for (int r = 0; r < Mine::kDown; ++r)
#pragma unroll
        for (int c = 0; c < Mine::kAcross; ++c)
#pragma unroll
          for (int e = 0; e < 4; ++e)
            sum[r][c][e] += a[at_a(r * 16 + e / 2 * 8, channel) + tap_of(tap)] *
                            b[channel * args_.pitch + places[tap * S::kCols + c * 8 + e % 2]];
    }
  }

  __device__ void write(const Sums& sum) const {
    block_.template write<Mine>(args_, columns_, sum);
  }

  // Makes the sums without splitting floats.
  __device__ __noinline__ static void make_plainly(const ConvolutionArgs<float>& args) {
    ConvolutionPatches patches(args);
    Sums sum = {};
    patches.walk([&](const float* a, const float* b) { patches.add_terms_plainly(a, b, sum); });
    patches.write(sum);
  }

 private:
  __device__ static int thread() { return static_cast<int>(threadIdx.x); }

  // The number of this tap among all taps of a window.
  __device__ int tap_of(int tap) const { return kInput ? taps_[tap].at[0] : tap; }

  __device__ void make_tables() {
    extern __shared__ float shared[];
    const PatchRows rows = patch_rows<part>(args_);
    const int last_column = ::min(block_.first_column + S::kCols, args_.columns) - 1;
    for (int c = thread(); c < S::kCols; c += S::kThreads)
      if (block_.first_column + c <= last_column) {
        // The simulator follows no result that a call stores by itself.
        const Spot spot = place_spot<part>(args_, block_.first_column + c, block_.group);
        columns_[c] = spot;
      }
    if (thread() < met_) {
      Spot tap = tap_spot<part>(args_, thread(), block_.group);
      // at[0], of the dimension that is not there, holds which of all taps it is.
      tap.at[0] = static_cast<int>(tap.in_other % kTaps);
      taps_[thread()] = tap;
    }
    const int sample_step = static_cast<int>(kInput ? args_.shape.filters : args_.shape.channels);
    const int first_channel =
        block_.group *
        static_cast<int>(kInput ? args_.shape.group_filters() : args_.shape.group_channels());
    units_ = 0;
    const int last_sample = rows.sample_of(last_column);
    for (int sample = rows.sample_of(block_.first_column); sample <= last_sample; ++sample) {
      const PatchRun run = patch_run(rows, sample, block_.first_column, last_column);
      const int count = (run.end - run.begin) / 4;
      for (int u = thread(); u < count; u += S::kThreads)
        sources_[units_ + u] =
            (int64_t{sample} * sample_step + first_channel) * plane_ + run.begin + 4 * u;
      units_ += count;
    }
    for (int i = thread(); i < 2 * kChunk * kPatchZeros; i += S::kThreads)
      shared[(i / kPatchZeros / kChunk * (kFloatsA + kChunk * args_.pitch)) + kFloatsA +
             i / kPatchZeros % kChunk * args_.pitch + i % kPatchZeros] = 0;
    __syncthreads();
    for (int i = thread(); i < met_ * S::kCols; i += S::kThreads) {
      const int c = i % S::kCols;
      table_[i] = block_.first_column + c <= last_column
                      ? place_of(rows, columns_[c], taps_[i / S::kCols], block_.first_column + c,
                                 last_column)
                      : 0;
    }
    __syncthreads();
  }

  // Where the element of a column at a tap lies in the patch of a channel.
  __device__ int place_of(const PatchRows& rows, const Spot& column, const Spot& tap, int index,
                          int last_column) const {
    const int y = column.at[1] + tap.at[1], x = column.at[2] + tap.at[2];
    if (static_cast<unsigned>(y) >= static_cast<unsigned>(args_.gathered[1]) ||
        static_cast<unsigned>(x) >= static_cast<unsigned>(args_.gathered[2]))
      return 0;
    const int own = rows.sample_of(index);
    int before = kPatchZeros;
    for (int sample = rows.sample_of(block_.first_column); sample < own; ++sample) {
      const PatchRun run = patch_run(rows, sample, block_.first_column, last_column);
      before += run.end - run.begin;
    }
    return before + y * args_.gathered[2] + x -
           patch_run(rows, own, block_.first_column, last_column).begin;
  }

  // Begins to copy the weights and the patches of kChunk channels from `channel` on.
  __device__ void copy(float* to, int channel) const {
    if (channel < end_) {
      copy_weights(to, channel);
      copy_patches(to + kFloatsA, channel);
    }
    end_copy_group();
  }

  __device__ void copy_weights(float* to, int channel) const {
    // Runs of neighbours: all taps of the rows of a filter, or all taps of the channels of a row.
    constexpr int kRuns = kInput ? kChunk : S::kRows;
    constexpr int kUnits = (kInput ? S::kRows : kChunk) * kTaps / 4;
    const Convolution& s = args_.shape;
    const int64_t per_filter = s.group_channels() * kTaps;
    const int first_filter =
        block_.group * static_cast<int>(s.group_filters()) + (kInput ? channel : block_.first_row);
    const float* const from =
        args_.a + first_filter * per_filter + (kInput ? block_.first_row : channel) * kTaps;
    const int runs = kInput ? end_ - channel : args_.rows - block_.first_row;
    const int length = (kInput ? args_.rows - block_.first_row : end_ - channel) * kTaps;
#pragma unroll 1
    for (int i = thread(); i < kRuns * kUnits; i += S::kThreads) {
      const int run = i / kUnits, unit = i % kUnits;
      const bool inside = run < runs && 4 * unit < length;
      copy_later<16>(to + run * kPitchA + 4 * unit,
                     inside ? from + run * per_filter + 4 * unit : args_.a, inside ? 16 : 0);
    }
  }

  __device__ void copy_patches(float* to, int channel) const {
    constexpr int kWarps = S::kThreads / 32;
    const int lane = thread() % 32;
#pragma unroll 1
    for (int c = thread() / 32; c < kChunk; c += kWarps) {
      const bool inside = channel + c < end_;
      const float* const from = args_.b + int64_t{channel + c} * plane_;
      float* const row = to + c * args_.pitch + kPatchZeros;
      for (int u = lane; u < units_; u += 32)
        copy_later<16>(row + 4 * u, inside ? from + sources_[u] : args_.b, inside ? 16 : 0);
    }
  }

  const ConvolutionArgs<float>& args_;
  const ConvolutionBlock block_;
  Spot *columns_, *taps_;
  int64_t* sources_;  // of each 4 floats of a patch: where they lie, seen from the channel's plane
  int* table_;        // [tap][column]: where the element lies in the patch
  int begin_, end_, met_, plane_, units_;
};

template <class S, ConvolutionPass part>
__global__ void __maxnreg__(S::kRegisters)
    convolution_patches(const __grid_constant__ ConvolutionArgs<float> args) {
  wait_for_earlier_kernels();
  using Patches = ConvolutionPatches<S, part>;
  Patches patches(args);
  typename Patches::Sums sum = {};
  patches.walk([&](const float* a, const float* b) { patches.add_terms(a, b, sum); });
  // A sum that is not finite may come from the splitting, as in matmul_tensor_cores.
  if (__syncthreads_or(!Patches::Mine::all_finite(sum)))
    Patches::make_plainly(args);
  else
    patches.write(sum);
}

}  // namespace gradus::cuda
