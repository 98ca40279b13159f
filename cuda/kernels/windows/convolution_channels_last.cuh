// Convolutions of half types, and of float32 rounded to TF32, on tensor cores. All tensors lie with
// their channels last in memory.
//
// Idea. Each pass is a product of matrices, as in implicit_gemm.cuh, but its terms are neighbours
// in memory: 16 bytes are some channels of one tap. So one copy (cp.async) moves a unit of 8
// halves, and one test says whether it lies in the padding. Where terms lie across the lines of a
// tile (weights for the input's gradient, both tensors for the weight's), ldmatrix turns them over.
// Places of a tile are found once; those of terms by one warp, a few steps ahead.
//
//   pass    rows      columns         depth           a                  b
//   fprop   places    filters         taps, channels  input, gathered    weight
//   dgrad   elements  channels        taps, filters   grad, gathered     weight, across
//   wgrad   filters   taps, channels  places          grad, across       input, gathered, across
//
// Cost. A thread of a tile of 128 x 128 copies 8 units for 32 terms at some 10 instructions each,
// beside 64 multiplications and 16 loads of fragments: 160 issue slots, while the tensor cores of
// its quarter of a multiprocessor are busy for some 400 cycles.
// Next. On Hopper, hopper/convolution_wgmma.cuh.
#pragma once

#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/tensor_core.cuh"
#include "gradus/tensor/base/windows.h"

namespace gradus::cuda {

// One dimension of the gathered tensor, of `size` elements. Row i (a place) and tap j meet element
// i * step + first + j * reach. Row i is element i * out_step + out_first of a result of size
// `out`; tap j is tap j * weight_step + weight_first of a weight of size `weight`.
struct GatheredDim {
  int size, rows, step, first, taps, reach;
  int out, out_step, out_first;
  int weight, weight_step, weight_first;
};

// Counts of one group. Units are of 16 bytes.
template <class T>
struct ChannelsLastArgs {
  GatheredDim dim[2];
  const T *gathered, *other, *bias;
  bool adds;  // dgrad: to what out has; by wgmma alone
  T* out;
  float* wide;               // if not null: the gradient of a weight in float32, not in out
  float* partial;            // if not null: where parts of the sums go, in the order of out
  int64_t part_out;          // from one part to the next
  int rows, columns, depth;  // of the product
  int channels;              // of a tap in the depth, for wgrad in the columns; whole units
  int lines;                 // dgrad: filters that there are
  int pitch, group_pitch;    // units from a place of `gathered` to the next; from group to group
  int64_t other_pitch;       // elements from a line of `other` to the next
  int tap_pitch;             // dgrad: from a tap of the weight to the next
  int64_t out_pitch;         // the same of out: a place's channels, or a filter's weights
  int out_channels;          // wgrad: channels of a tap in out
  int parts, part;           // the depth is cut into so many parts, of `part` steps each
  bool whole_units;          // out is written by units
};

// Results of a block and of a warp; tiles that are in shared memory; blocks of a multiprocessor.
template <int rows, int cols, int warp_rows, int warp_cols, int stages, int resident>
struct ChannelsLastShape {
  static constexpr int kRows = rows, kCols = cols, kWarpRows = warp_rows, kWarpCols = warp_cols;
  static constexpr int kStages = stages, kResident = resident;
  static constexpr int kThreads = 32 * (rows / warp_rows) * (cols / warp_cols);
};

// 16 rows of 32 bytes of terms, as fragment a; see load_rows. kAcross: of a tile whose lines are
// terms.
template <bool kAcross, class T>
__device__ void load_terms(const T* from, int pitch, uint32_t (&a)[4]) {
  if constexpr (!kAcross) {
    load_rows(from, pitch, a);
  } else if constexpr (is_half<T>) {
    uint32_t turned[2][2];
    load_columns(from, pitch, turned);
    a[0] = turned[0][0], a[1] = turned[1][0], a[2] = turned[0][1], a[3] = turned[1][1];
  } else {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const T* const mine = from + lane % 4 * pitch + lane / 4;
#pragma unroll
    for (int i = 0; i < 4; ++i) a[i] = __float_as_uint(mine[i / 2 * 4 * pitch + i % 2 * 8]);
  }
  if constexpr (!is_half<T>) {  // rounds to TF32: lower bits do not count. NaN would become 0.
#pragma unroll
    for (uint32_t& each : a) each += (each & 0x7fffffff) <= 0x7f800000 ? 0x1000 : 0;
  }
}
template <class T>
__device__ void multiply_add(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  if constexpr (is_half<T>)
    multiply_add_halves<T>(c, a, b);
  else
    multiply_add_tf32(c, a, b);
}

// Where a place's first tap lies in the gathered tensor: units, and its coordinates.
struct alignas(16) GatheredPlace {
  int unit, at[2];
};

// A term of the depth: a channel of a tap.
struct DepthWalk {
  int channel, tap[2];

  template <class T>
  __device__ DepthWalk(const ChannelsLastArgs<T>& args, int term) {
    const int across = ::max(args.dim[1].taps, 1), all = term / args.channels;
    channel = term - all * args.channels;
    tap[0] = all / across, tap[1] = all - tap[0] * across;
  }
  template <class T>
  __device__ void advance(const ChannelsLastArgs<T>& args, int terms) {
    channel += terms;
    while (channel >= args.channels) {
      channel -= args.channels;
      if (++tap[1] == args.dim[1].taps) tap[1] = 0, ++tap[0];
    }
  }
};

// The results of a block: S::kRows x S::kCols of one group and one part of the depth.
template <class T, class S, ConvolutionPass pass>
class ChannelsLastTiles {
  using Args = ChannelsLastArgs<T>;
  static constexpr bool kOfWeight = pass == ConvolutionPass::wgrad;
  static constexpr bool kAcrossB = pass != ConvolutionPass::fprop;
  static constexpr int kUnit = 16 / sizeof(T);
  static constexpr int kTerms = 2 * kUnit;  // of an instruction
  // Lines of tiles are apart in banks: by 16 bytes for ldmatrix, by 32 for single floats.
  static constexpr int kSkew = is_half<T> ? kUnit : 2 * kUnit;
  static constexpr int kWarps = S::kThreads / 32, kWarpsAcross = S::kCols / S::kWarpCols;
  static constexpr int kDown = S::kWarpRows / 16, kRight = S::kWarpCols / 8;

 public:
  static constexpr int kDepth = 4 * kUnit;  // of a step

 private:
  static constexpr int kPitchA = kOfWeight ? S::kRows + kSkew : kDepth + kUnit;
  static constexpr int kPitchB = kAcrossB ? S::kCols + kSkew : kDepth + kUnit;
  static constexpr int kTileA = kPitchA * (kOfWeight ? kDepth : S::kRows);
  static constexpr int kStage = kTileA + kPitchB * (kAcrossB ? kDepth : S::kCols);
  static constexpr int kPlaces = kOfWeight ? S::kStages * kDepth : S::kRows;
  static constexpr int kOutPitch = S::kCols + kUnit;
  static constexpr int kTileBytes = S::kStages * kStage * static_cast<int>(sizeof(T));
  static_assert(kTileBytes >= S::kRows * kOutPitch * static_cast<int>(sizeof(T)));
  static_assert(S::kThreads % (S::kRows / kUnit) == 0 && S::kThreads % (S::kCols / kUnit) == 0);

  // Where a unit of columns goes in a line of the result, and how many of its elements there are.
  struct Columns {
    int at, count;
  };

 public:
  using Sums = float[kDown][kRight][4];
  static constexpr int kSharedBytes = kTileBytes + kPlaces * 16 + S::kRows * 8 +
                                      S::kCols / kUnit * static_cast<int>(sizeof(Columns));

  // All threads of the block are here.
  __device__ explicit ChannelsLastTiles(const Args& args) : args_(args) {
    extern __shared__ uint4 shared[];
    tiles_ = reinterpret_cast<T*>(shared);
    places_ = reinterpret_cast<GatheredPlace*>(shared + kTileBytes / 16);
    lines_ = reinterpret_cast<int64_t*>(places_ + kPlaces);
    columns_ = reinterpret_cast<Columns*>(lines_ + S::kRows);
    unsigned block = blockIdx.x;
    const auto next = [&](int count) {
      const unsigned rest = block / static_cast<unsigned>(count);
      const auto out = static_cast<int>(block - rest * static_cast<unsigned>(count));
      block = rest;
      return out;
    };
    // Neighbours share the rows, which are gathered.
    first_column_ = next((args.columns + S::kCols - 1) / S::kCols) * S::kCols;
    first_row_ = next((args.rows + S::kRows - 1) / S::kRows) * S::kRows;
    part_ = next(args.parts), group_ = static_cast<int>(block);
    begin_ = part_ * args.part;
    end_ = ::min(begin_ + args.part, (args.depth + kDepth - 1) / kDepth);
    for (int r = thread(); r < S::kRows; r += S::kThreads) find_line(r);
    for (int u = thread(); u < S::kCols / kUnit; u += S::kThreads) find_columns(u);
    if constexpr (kOfWeight)
      for (int s = thread() / 32; s < S::kStages; s += kWarps) find_places(s, begin_ + s);
    __syncthreads();
  }

  __device__ void multiply(Sums& sums) {
    const int warp = thread() / 32;
    const int row = warp / kWarpsAcross * S::kWarpRows, col = warp % kWarpsAcross * S::kWarpCols;
    // What this thread copies: its unit, or line, of each step.
    DepthWalk of_a(args_, begin_ * kDepth + thread() % 4 * kUnit);
    DepthWalk of_b(args_, begin_ * kDepth + thread() / (S::kCols / kUnit));
    const Reach of_column =
        reach_of(DepthWalk(args_, first_column_ + thread() % (S::kCols / kUnit) * kUnit));
    const auto copy = [&](int slot, int step) {
      T* const to = tiles_ + slot * kStage;
      if (step < end_) {
        if constexpr (kOfWeight) {
          copy_gradients(to, step);
          copy_by_places(to + kTileA, slot, of_column);
        } else {
          copy_by_rows(to, of_a);
          if constexpr (kAcrossB)
            copy_turned_weights(to + kTileA, of_b);
          else
            copy_weights(to + kTileA, step);
        }
      }
      end_copy_group();
    };
#pragma unroll
    for (int s = 0; s < S::kStages - 1; ++s) copy(s, begin_ + s);
    int slot = 0;
#pragma unroll 1
    for (int step = begin_; step < end_; ++step) {
      wait_for_copies<S::kStages - 2>();
      __syncthreads();  // all have copied their part of this tile, and have left the one before
      copy(slot == 0 ? S::kStages - 1 : slot - 1, step + S::kStages - 1);
      // Places of this slot were last read before the barrier.
      if constexpr (kOfWeight)
        if (warp == step % kWarps) find_places(slot, step + S::kStages);
      const T *const a = tiles_ + slot * kStage, *const b = a + kTileA;
#pragma unroll
      for (int k = 0; k < kDepth; k += kTerms) {
        uint32_t x[kDown][4];
#pragma unroll
        for (int m = 0; m < kDown; ++m)
          load_terms<kOfWeight>(
              kOfWeight ? a + k * kPitchA + row + 16 * m : a + (row + 16 * m) * kPitchA + k,
              kPitchA, x[m]);
#pragma unroll
        for (int j = 0; j < kRight; j += 2) {
          uint32_t y[4];
          load_terms<kAcrossB>(
              kAcrossB ? b + k * kPitchB + col + 8 * j : b + (col + 8 * j) * kPitchB + k, kPitchB,
              y);
#pragma unroll
          for (int m = 0; m < kDown; ++m) {
            multiply_add<T>(sums[m][j], x[m], {y[0], y[2]});
            multiply_add<T>(sums[m][j + 1], x[m], {y[1], y[3]});
          }
        }
      }
      if (++slot == S::kStages) slot = 0;
    }
    wait_for_copies<0>();
    __syncthreads();
  }

  __device__ void write(const Sums& sums) const {
    const int lane = thread() % 32, warp = thread() / 32;
    const int row = warp / kWarpsAcross * S::kWarpRows + lane / 4;
    const int col = warp % kWarpsAcross * S::kWarpCols + lane % 4 * 2;
    // f(row, column, two neighbours of the block's results).
    const auto for_pairs = [&](const auto& f) {
#pragma unroll
      for (int m = 0; m < kDown; ++m)
#pragma unroll
        for (int j = 0; j < kRight; ++j)
#pragma unroll
          for (int low = 0; low < 2; ++low)
            f(row + 16 * m + 8 * low, col + 8 * j, sums[m][j][2 * low], sums[m][j][2 * low + 1]);
    };
    if (args_.partial) {
      float* const to = args_.partial + part_ * args_.part_out;
      for_pairs([&](int r, int c, float first, float second) {
        const Columns columns = columns_[c / kUnit];
        const int64_t line = lines_[r], at = line + columns.at + c % kUnit;
        const int count = line < 0 ? 0 : columns.count - c % kUnit;
        if (count > 1 && args_.whole_units)
          *reinterpret_cast<float2*>(to + at) = {first, second};
        else if (count > 0)
          to[at] = first;
        if (count > 1 && !args_.whole_units) to[at + 1] = second;
      });
      return;
    }
    const T* const bias =
        args_.bias ? args_.bias + group_ * args_.columns + first_column_ : nullptr;
    const auto with_bias = [&](int c, float x) {
      return bias && first_column_ + c < args_.columns ? x + static_cast<float>(bias[c]) : x;
    };
    for_pairs([&](int r, int c, float first, float second) {
      T* const at = tiles_ + r * kOutPitch + c;
      first = with_bias(c, first), second = with_bias(c + 1, second);
      if constexpr (is_half<T>)
        *reinterpret_cast<uint32_t*>(at) = both_halves<T>(first, second);
      else
        at[0] = first, at[1] = second;
    });
    __syncthreads();
    constexpr int kAcross = S::kCols / kUnit;
#pragma unroll 4
    for (int i = thread(); i < S::kRows * kAcross; i += S::kThreads) {
      const int64_t line = lines_[i / kAcross];
      const Columns columns = columns_[i % kAcross];
      if (line < 0) continue;
      const T* const from = tiles_ + i / kAcross * kOutPitch + i % kAcross * kUnit;
      T* const to = args_.out + line + columns.at;
      if (args_.whole_units && columns.count == kUnit)
        *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(from);
      else
        for (int e = 0; e < columns.count; ++e) to[e] = from[e];
    }
  }

 private:
  __device__ static int thread() { return static_cast<int>(threadIdx.x); }

  // Place i of a sample, counted through all samples, in each dimension; returns the sample.
  __device__ int split(int i, int (&at)[2]) const {
    const auto down = static_cast<unsigned>(args_.dim[0].rows),
               across = static_cast<unsigned>(args_.dim[1].rows);
    const unsigned line = static_cast<unsigned>(i) / across, sample = line / down;
    at[0] = static_cast<int>(line - sample * down);
    at[1] = i - static_cast<int>(line * across);
    return static_cast<int>(sample);
  }
  __device__ GatheredPlace place(int sample, const int (&at)[2]) const {
    GatheredPlace out;
    for (int d = 0; d < 2; ++d) out.at[d] = at[d] * args_.dim[d].step + args_.dim[d].first;
    out.unit =
        ((sample * args_.dim[0].size + out.at[0]) * args_.dim[1].size + out.at[1]) * args_.pitch +
        group_ * args_.group_pitch;
    return out;
  }
  // Where no tap meets an element.
  __device__ static GatheredPlace no_place() { return {0, {-(1 << 30), 0}}; }

  __device__ void find_line(int r) const {
    const int row = first_row_ + r;
    int64_t line = -1;
    if constexpr (kOfWeight) {
      if (row < args_.rows) line = int64_t{group_ * args_.rows + row} * args_.out_pitch;
    } else {
      GatheredPlace of_row = no_place();
      if (row < args_.rows) {
        int at[2];
        line = split(row, at);
        of_row = place(static_cast<int>(line), at);
        for (int d = 0; d < 2; ++d) {
          const GatheredDim& dim = args_.dim[d];
          line = line * dim.out + at[d] * dim.out_step + dim.out_first;
        }
        line = line * args_.out_pitch + group_ * args_.columns;
      }
      places_[r] = of_row;
    }
    lines_[r] = line;
  }
  __device__ void find_columns(int u) const {
    const int column = first_column_ + u * kUnit;
    Columns out = {column, args_.columns - column};
    if constexpr (kOfWeight) {
      const int tap = column / args_.channels, channel = column - tap * args_.channels;
      out.at = tap * args_.out_channels + channel;
      if (out.count > 0) out.count = args_.out_channels - channel;
    }
    out.count = ::min(out.count, kUnit);
    columns_[u] = out;
  }
  // One warp finds the places of a step's terms.
  __device__ void find_places(int slot, int step) const {
    const int lane = thread() % 32, term = step * kDepth + lane;
    if (lane >= kDepth) return;
    GatheredPlace of_term = no_place();
    if (term < args_.depth) {
      int at[2];
      const int sample = split(term, at);
      of_term = place(sample, at);
    }
    places_[slot * kDepth + lane] = of_term;
  }

  // The step of a tap from a place, in each dimension and in units.
  struct Reach {
    int by[2], units;
  };
  __device__ Reach reach_of(const DepthWalk& walk) const {
    Reach out;
    for (int d = 0; d < 2; ++d) out.by[d] = walk.tap[d] * args_.dim[d].reach;
    out.units = (out.by[0] * args_.dim[1].size + out.by[1]) * args_.pitch + walk.channel / kUnit;
    return out;
  }
  __device__ void copy_unit(T* to, const T* from, const T* any, bool inside) const {
    copy_later<16>(to, inside ? from : any, inside ? 16 : 0);
  }
  __device__ void copy_gathered(T* to, const GatheredPlace& from, const Reach& reach,
                                bool exists) const {
    const bool inside =
        exists &&
        static_cast<unsigned>(from.at[0] + reach.by[0]) <
            static_cast<unsigned>(args_.dim[0].size) &&
        static_cast<unsigned>(from.at[1] + reach.by[1]) < static_cast<unsigned>(args_.dim[1].size);
    copy_unit(to, args_.gathered + int64_t{from.unit + reach.units} * kUnit, args_.gathered,
              inside);
  }

  // Gathered lines, each with a place; four threads share one.
  __device__ void copy_by_rows(T* to, DepthWalk& walk) const {
    constexpr int kTogether = S::kThreads / 4;
    const Reach reach = reach_of(walk);
    const bool exists = walk.tap[0] < args_.dim[0].taps;
    const int first = thread() / 4;
#pragma unroll
    for (int r = 0; r < S::kRows; r += kTogether)
      copy_gathered(to + (first + r) * kPitchA + thread() % 4 * kUnit, places_[first + r], reach,
                    exists);
    walk.advance(args_, kDepth);
  }
  // Lines of weights of a filter.
  __device__ void copy_weights(T* to, int step) const {
    constexpr int kTogether = S::kThreads / 4;
    const int first = thread() / 4, term = step * kDepth + thread() % 4 * kUnit;
    const bool exists = term < args_.depth;
    const T* const from =
        args_.other + int64_t{group_ * args_.columns + first_column_ + first} * args_.other_pitch +
        term;
#pragma unroll
    for (int c = 0; c < S::kCols; c += kTogether)
      copy_unit(to + (first + c) * kPitchB + thread() % 4 * kUnit, from + c * args_.other_pitch,
                args_.other, exists && first_column_ + first + c < args_.columns);
  }
  // Lines of channels of a filter's tap.
  __device__ void copy_turned_weights(T* to, DepthWalk& walk) const {
    constexpr int kAcross = S::kCols / kUnit, kTogether = S::kThreads / kAcross;
    const int first = thread() / kAcross, c = thread() % kAcross * kUnit;
    const GatheredDim *const down = args_.dim, *const across = down + 1;
#pragma unroll
    for (int d = 0; d < kDepth; d += kTogether) {
      const int tap = (walk.tap[0] * down->weight_step + down->weight_first) * across->weight +
                      walk.tap[1] * across->weight_step + across->weight_first;
      const bool exists = walk.tap[0] < down->taps && walk.channel < args_.lines &&
                          first_column_ + c < args_.columns;
      copy_unit(to + (first + d) * kPitchB + c,
                args_.other + int64_t{group_ * args_.lines + walk.channel} * args_.other_pitch +
                    tap * args_.tap_pitch + first_column_ + c,
                args_.other, exists);
      walk.advance(args_, kTogether);
    }
  }
  // Lines of filters of a place.
  __device__ void copy_gradients(T* to, int step) const {
    constexpr int kAcross = S::kRows / kUnit, kTogether = S::kThreads / kAcross;
    const int first = thread() / kAcross, row = thread() % kAcross * kUnit;
    const int term = step * kDepth + first;
    const T* const from =
        args_.other + term * args_.other_pitch + group_ * args_.rows + first_row_ + row;
#pragma unroll
    for (int d = 0; d < kDepth; d += kTogether)
      copy_unit(to + (first + d) * kPitchA + row, from + d * args_.other_pitch, args_.other,
                term + d < args_.depth && first_row_ + row < args_.rows);
  }
  // Lines of channels that a tap meets from a place.
  __device__ void copy_by_places(T* to, int slot, const Reach& reach) const {
    constexpr int kAcross = S::kCols / kUnit, kTogether = S::kThreads / kAcross;
    const int first = thread() / kAcross, c = thread() % kAcross * kUnit;
    const bool exists = first_column_ + c < args_.columns;
    const GatheredPlace* const from = places_ + slot * kDepth + first;
#pragma unroll
    for (int d = 0; d < kDepth; d += kTogether)
      copy_gathered(to + (first + d) * kPitchB + c, from[d], reach, exists);
  }

  const Args& args_;
  T* tiles_;
  GatheredPlace* places_;  // of rows, or of the terms of each stage
  int64_t* lines_;         // of rows in the result; below 0: there is none
  Columns* columns_;
  int first_row_, first_column_, part_, group_, begin_, end_;
};

template <class T, class S, ConvolutionPass pass>
__global__ void __launch_bounds__(S::kThreads, S::kResident)
    convolution_channels_last(const __grid_constant__ ChannelsLastArgs<T> args) {
  wait_for_earlier_kernels();
  using Tiles = ChannelsLastTiles<T, S, pass>;
  Tiles tiles(args);
  typename Tiles::Sums sums = {};
  tiles.multiply(sums);
  tiles.write(sums);
}

}  // namespace gradus::cuda
