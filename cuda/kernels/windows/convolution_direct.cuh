// Small convolutions of few filters or channels: a thread makes two columns of the product
// (implicit_gemm.cuh) and all of its rows.
//
// Idea. A tile of a product is nearly empty where there are 6 rows. Here the sums of all rows stay
// in registers. A block keeps a box in shared memory: what its windows reach of some channels, with
// zeros where the padding is. The place of a column in the box and that of a term add up to that of
// the element. So a term takes an addition and a load for the element, and loads of 16 bytes for
// the row of a, the same for all columns. Several threads share the terms of a column. Half types
// become float32 on their way to shared memory.
#pragma once

#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/tensor_core.cuh"
#include "gradus/cuda/kernels/windows/implicit_gemm.cuh"

namespace gradus::cuda {

inline constexpr int kDirectThreads = 512, kMostDirectRows = 16, kMostDirectColumns = 1024;
inline constexpr int kDirectOwn = 2;  // columns of a thread
GRADUS_HD constexpr int even(int count) { return count + count % 2; }
// Floats from one term's rows of a to the next. Rows are read by four, but for a single one.
GRADUS_HD constexpr int direct_pitch(int rows) { return rows == 1 ? 1 : rows + 4; }
// Blocks of a multiprocessor. Few rows take few registers, and hide what blocks wait for.
constexpr int direct_blocks(int rows) { return rows <= 4 ? 2 : 1; }

// How the `count` places of a dimension meet the gathered tensor: the first at `first`, others
// `step` apart. Each place meets all taps from place + low up to place + high.
struct DirectDim {
  int count, first, step, low, high;

  GRADUS_HD int last() const { return first + (count - 1) * step; }
  GRADUS_HD int reach() const { return high - low + 1; }
};
template <ConvolutionPass part, class T>
GRADUS_HD DirectDim direct_dim(const ConvolutionArgs<T>& args, int d) {
  const Phase& phase = args.phase[d];
  const WindowDim& dim = args.shape.dim[d];
  if (part == ConvolutionPass::dgrad)
    return {phase.count, phase.place, 1, -(phase.taps - 1) * phase.reach, 0};
  return {static_cast<int>(dim.out), -static_cast<int>(dim.padding), static_cast<int>(dim.stride),
          0, static_cast<int>((dim.kernel - 1) * dim.dilation)};
}
// The taps of one channel.
template <ConvolutionPass part, class T>
GRADUS_HD int direct_taps(const ConvolutionArgs<T>& args) {
  int out = 1;
  for (int d = 0; d < kSpatial; ++d)
    out *= part == ConvolutionPass::dgrad ? args.phase[d].taps
                                          : static_cast<int>(args.shape.dim[d].kernel);
  return out;
}

// Boxes for the gradient of the weight, whose columns are taps, are so much wider that neighbouring
// columns lie in neighbouring banks. Here: `floats`, and what makes them congruent to `columns`.
template <ConvolutionPass part>
GRADUS_HD int widened(int floats, int64_t columns) {
  constexpr int kBanks = 32;
  if (part != ConvolutionPass::wgrad) return floats;
  const int more = static_cast<int>((columns - floats) % kBanks);
  return floats + (more < 0 ? more + kBanks : more);
}
template <ConvolutionPass part, class T>
GRADUS_HD int box_pitch(const ConvolutionArgs<T>& args, int width) {
  return widened<part>(width, args.shape.dim[kSpatial - 1].kernel);
}
template <ConvolutionPass part, class T>
GRADUS_HD int box_plane(const ConvolutionArgs<T>& args, int rows, int width) {
  return widened<part>(rows * box_pitch<part>(args, width), args.shape.taps());
}

// Where the elements lie in shared memory that some places of a sample meet.
template <class T, ConvolutionPass part>
class DirectBox {
 public:
  // The box of all places.
  __device__ DirectBox(const ConvolutionArgs<T>& args, int sample, int group) : args_(args) {
    constexpr bool kInput = part == ConvolutionPass::dgrad;
    const Convolution& s = args.shape;
#pragma unroll
    for (int d = 0; d < kSpatial; ++d) {
      const DirectDim dim = direct_dim<part>(args, d);
      first_[d] = dim.first, low_[d] = dim.low;
      size_[d] = dim.last() - dim.first + dim.reach();
    }
    gathered_ = args.gathered[0] * args.gathered[1] * args.gathered[2];
    const int64_t channel = sample * (kInput ? s.filters : s.channels) +
                            group * (kInput ? s.group_filters() : s.group_channels());
    from_ = args.b + channel * gathered_;
  }
  // Narrows the box to the places from `first` up to `last`.
  __device__ void narrow(const Spot& first, const Spot& last) {
    bool alike = true;  // so far: then the places between are not all of the next dimension
#pragma unroll
    for (int d = 0; d < kSpatial; ++d) {
      const DirectDim dim = direct_dim<part>(args_, d);
      first_[d] = alike ? first.at[d] : dim.first;
      size_[d] = (alike ? last.at[d] : dim.last()) - first_[d] + dim.reach();
      alike = alike && first.at[d] == last.at[d];
    }
  }
  // When it will not change any more.
  __device__ void settle() {
    pitch_ = box_pitch<part>(args_, size_[2]);
    plane_ = box_plane<part>(args_, size_[0] * size_[1], size_[2]);
  }

  // The steps that a place and a tap add to the place in the box; `channel` counts from its first
  // one.
  __device__ int of_place(const Spot& place) const { return at(place.at, first_); }
  __device__ int of_tap(const Spot& tap, int channel) const {
    return channel * plane_ + at(tap.at, low_);
  }

  // Begins to copy the channels from `first` up to `last` of the group.
  __device__ void fill(float* box, int first, int last) const {
    constexpr int kWarps = kDirectThreads / 32;
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int channels = last - first + 1;
    const int pieces = (size_[2] + 31) / 32;  // of a row, an element for each lane
    const int all = size_[0] * size_[1] * pieces;
    const int splits = all < kWarps ? (kWarps + all - 1) / all : 1;  // of the channels of a piece
    for (int i = warp; i < all * splits; i += kWarps) {
      const int piece = splits > 1 ? i % all : i, row = piece / pieces;
      const int x = (piece - row * pieces) * 32 + lane;
      if (x >= size_[2]) continue;
      const int at[kSpatial] = {first_[0] + low_[0] + row / size_[1],
                                first_[1] + low_[1] + row % size_[1], first_[2] + low_[2] + x};
      const bool is_there = is_within(at[0], 0) && is_within(at[1], 1) && is_within(at[2], 2);
      const T* const from = from_ + first * gathered_ + in_gathered(args_, at);
      float* const to = box + row * pitch_ + x;
#pragma unroll 4
      for (int c = splits > 1 ? i / all : 0; c < channels; c += splits)
        copy(is_there ? from + c * gathered_ : nullptr, to + c * plane_);
    }
    end_copy_group();
  }

 private:
  // Or 0 where there is no element.
  __device__ void copy(const T* from, float* to) const {
    if constexpr (is_half<T>)
      *to = from ? static_cast<float>(*from) : 0;
    else
      copy_later<4>(to, from ? from : args_.b, from ? 4 : 0);
  }
  __device__ bool is_within(int place, int d) const {
    return static_cast<unsigned>(place) < static_cast<unsigned>(args_.gathered[d]);
  }
  __device__ int at(const int (&place)[kSpatial], const int (&from)[kSpatial]) const {
    return ((place[0] - from[0]) * size_[1] + place[1] - from[1]) * pitch_ + place[2] - from[2];
  }

  const ConvolutionArgs<T>& args_;
  const T* from_;     // the first channel of the group in this sample
  int64_t gathered_;  // elements of a channel
  int first_[kSpatial], low_[kSpatial], size_[kSpatial], pitch_, plane_;
};

// The grid counts pieces of args.direct.columns columns, of one sample where these are places; then
// samples, or for the gradient of the weight parts of the depth; then groups.
// REQUIRES: args.rows <= kRows; args.direct.floats of shared memory.
template <class T, int kRows, ConvolutionPass part>
__global__ void __launch_bounds__(kDirectThreads, direct_blocks(kRows))
    convolution_direct(const __grid_constant__ ConvolutionArgs<T> args) {
  wait_for_earlier_kernels();
  constexpr bool kOfWeight = part == ConvolutionPass::wgrad;
  constexpr int kPitch = direct_pitch(kRows), kOwn = kDirectOwn;
  extern __shared__ uint4 shared[];
  auto* const in_out = reinterpret_cast<int64_t*>(shared);                        // of columns
  float* const a = reinterpret_cast<float*>(in_out + even(args.direct.columns));  // [term][row]
  int* const terms = reinterpret_cast<int*>(a + args.direct.terms * kPitch);
  float* const box = reinterpret_cast<float*>(terms + args.direct.terms);

  const int samples = static_cast<int>(args.shape.batch), taps = direct_taps<part>(args);
  const int in_all = kOfWeight ? args.columns : args.columns / samples;  // columns to cut up
  const int width = args.direct.columns, pieces = (in_all + width - 1) / width;
  const int parts = kOfWeight ? args.parts : samples;
  const int index = static_cast<int>(blockIdx.x), piece = index % pieces;
  const int of_parts = index / pieces % parts, group = index / pieces / parts;
  const int first_column = (kOfWeight ? 0 : of_parts * in_all) + piece * width;
  const int columns = ::min(width, in_all - piece * width);
  const int begin = kOfWeight ? of_parts * args.part : 0;
  const int end = kOfWeight ? ::min(begin + args.part, args.depth) : args.depth;
  const int places = kOfWeight ? args.depth / ::max(samples, 1) : in_all;  // of a sample

  const int t = static_cast<int>(threadIdx.x), across = (width + kOwn - 1) / kOwn;
  const int lane = t / across, lanes = kDirectThreads / across;
  const auto spot = [&](bool is_tap, int i) {
    return is_tap ? tap_spot<part>(args, i, group) : place_spot<part>(args, i, group);
  };
  Spot mine[kOwn] = {};
#pragma unroll
  for (int c = 0; c < kOwn; ++c)
    if (const int column = t % across + c * across; column < columns) {
      mine[c] = spot(kOfWeight, first_column + column);
      if (lane == 0) in_out[column] = mine[c].in_other;
    }

  const int warp = t / 32, in_warp = t % 32;
  const bool sums_row = kOfWeight && args.row_sums && piece == 0 && warp < args.rows;
  float row_sum = 0;  // of a, of the row that this warp sums up
  float sum[kOwn][kRows] = {};
  for (int first = begin, last; first < end; first = last) {
    last = ::min(first + args.direct.terms, end);
    if (kOfWeight) last = ::min(last, (first / places + 1) * places);
    const int first_tap = kOfWeight ? first_column : first;
    const int last_tap = (kOfWeight ? first_column + columns : last) - 1;
    const int channel = first_tap / taps;
    const int first_place = kOfWeight ? first : first_column;
    const int end_place = kOfWeight ? last : first_column + columns;
    DirectBox<T, part> in_box(args, kOfWeight ? first / places : of_parts, group);
    if (end_place - first_place < places)
      in_box.narrow(spot(false, first_place), spot(false, end_place - 1));
    in_box.settle();
    const auto place = [&](bool is_tap, int i, const Spot& at) {
      return is_tap ? in_box.of_tap(at, i / taps - channel) : in_box.of_place(at);
    };
    __syncthreads();  // those before were read
    in_box.fill(box, channel, last_tap / taps);
    for (int i = t; i < last - first; i += kDirectThreads) {
      const Spot term = spot(!kOfWeight, first + i);
      terms[i] = place(!kOfWeight, first + i, term);
#pragma unroll
      for (int row = 0; row < kRows; ++row)
        a[i * kPitch + row] = row < args.rows ? float(args.a[row * args.a_row + term.in_other]) : 0;
    }
    int own[kOwn] = {};
#pragma unroll
    for (int c = 0; c < kOwn; ++c)
      if (const int column = t % across + c * across; column < columns)
        own[c] = place(kOfWeight, first_column + column, mine[c]);
    wait_for_copies<0>();
    __syncthreads();
    for (int i = in_warp; i < last - first && sums_row; i += 32) row_sum += a[i * kPitch + warp];
#pragma unroll 4
    for (int i = lane; i < last - first && lane < lanes; i += lanes) {
      alignas(16) float weight[kRows];
      if constexpr (kRows == 1)
        weight[0] = a[i];
      else
#pragma unroll
        for (int row = 0; row < kRows; row += 4)
          *reinterpret_cast<float4*>(&weight[row]) =
              *reinterpret_cast<const float4*>(&a[i * kPitch + row]);
#pragma unroll
      for (int c = 0; c < kOwn; ++c) {
        const float b = box[own[c] + terms[i]];
#pragma unroll
        for (int row = 0; row < kRows; ++row) sum[c][row] += weight[row] * b;
      }
    }
  }

  if (sums_row) {
    for (int reach = 16; reach > 0; reach /= 2)
      row_sum += __shfl_xor_sync(0xffffffffu, row_sum, reach);
    if (in_warp == 0) args.row_sums[of_parts * args.part_out + group * args.rows + warp] = row_sum;
  }
  __syncthreads();
  float* const sums = a;  // [lane][row][column]
#pragma unroll
  for (int c = 0; c < kOwn; ++c)
#pragma unroll
    for (int row = 0; row < kRows; ++row)
      if (const int column = t % across + c * across; column < columns && lane < lanes)
        sums[(lane * kRows + row) * width + column] = sum[c][row];
  __syncthreads();
  // Half types have sums of parts, which are float32, even of one part.
  const auto put = [&](int64_t at, float result) {
    if (kOfWeight && (is_half<T> || args.partial))
      args.partial[of_parts * args.part_out + at] = result;
    else
      args.out[at] = result;
  };
  // The threads of a column share its rows.
  for (int row = lane; row < args.rows && lane < lanes; row += lanes) {
    const float bias = args.bias ? float(args.bias[group * args.rows + row]) : 0;
#pragma unroll
    for (int c = 0; c < kOwn; ++c)
      if (const int column = t % across + c * across; column < columns) {
        float total = bias;
#pragma unroll 4
        for (int l = 0; l < lanes; ++l) total += sums[(l * kRows + row) * width + column];
        put(row * args.out_row + in_out[column], total);
      }
  }
}

}  // namespace gradus::cuda
