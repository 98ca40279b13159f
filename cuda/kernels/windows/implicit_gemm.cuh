// Implicit GEMM: convolutions as products of matrices that are gathered. The arguments of a kernel,
// and where the elements lie. The parts are known as fprop, dgrad and wgrad.
//
// Each of the three passes of a convolution is a product of two matrices. a (rows, depth) holds
// weights or gradients. Element (d, c) of b (depth, columns) is one element of a tensor, or 0 of
// the padding:
//
//   part     rows      columns             depth             b: an element of
//   output   filters   places, samples     taps, channels    the input, at place + tap
//   input    channels  elements, samples   taps, filters     the output's gradient, at
//                                                            (element - tap) / stride
//   weight   filters   taps, channels      places, samples   the input, at place + tap
//
// A stride above 1 lets only some taps meet an element of the input, and neighbours meet others.
// Elements that are `stride` apart meet the same taps. Each such set, a phase, is a product of its
// own, in which (element - tap) / stride is a difference of two numbers.
//
// So a column and a depth are a Spot each: where it lies in memory, and at which place; the sum of
// both is an element. Spots take divisions: kernels make those of the columns once for a tile, and
// those of the depth for a few steps at once.
#pragma once

#include <cstdint>

#include "gradus/cuda/kernels/computed.cuh"
#include "gradus/tensor/base/windows.h"

namespace gradus::cuda {

// One dimension of a phase. Its elements are first + i * stride. They meet the taps tap + j *
// tap_step. Element i and tap j meet place i + place - j * reach of the output.
struct Phase {
  int first, stride, count;
  int tap, tap_step, taps;
  int place, reach;
};

// How convolution_direct cuts its work up: columns of a block; terms, and floats of shared memory
// for them and what their columns meet, at once.
struct DirectCut {
  int columns, terms, floats;
};

template <class T>
struct ConvolutionArgs {
  Convolution shape;
  Phase phase[kSpatial];   // of the gradient of the input
  int gathered[kSpatial];  // the sizes of the tensor that b is gathered from
  const T *a, *b, *bias;   // bias (filters) or null
  T* out;
  int rows, columns, depth;  // of the product of one group
  int64_t a_row, out_row;    // strides
  int parts, part;           // the depth is cut into so many parts, of `part` terms each
  // If not null, receives the results of each part instead of out; from one to the next.
  Computed<T>* partial = nullptr;
  int64_t part_out;
  Computed<T>* row_sums = nullptr;  // if not null, receives the sums of a's rows of a part
  int pitch;                        // of the patches of convolution_patches.cuh
  DirectCut direct;                 // of convolution_direct.cuh
};

// The steps that a column or a term of the depth adds: to the element of b, and to that of out or
// a.
struct alignas(16) Spot {
  int64_t in_b, in_other;
  int at[kSpatial];
};

// The results of a block: rows x columns of one group and one part of the depth. The grid counts
// tiles of rows, then of columns, then parts, then groups.
struct ConvolutionBlock {
  int first_row, first_column, part, group;

  template <class T>
  __device__ ConvolutionBlock(const ConvolutionArgs<T>& args, int rows, int columns) {
    unsigned block = blockIdx.x;
    const auto next = [&](int count) {
      const unsigned rest = block / static_cast<unsigned>(count);
      const auto out = static_cast<int>(block - rest * static_cast<unsigned>(count));
      block = rest;
      return out;
    };
    first_row = next((args.rows + rows - 1) / rows) * rows;
    first_column = next((args.columns + columns - 1) / columns) * columns;
    part = next(args.parts);
    group = static_cast<int>(block);
  }

  // The terms of the depth from `begin` up to `end`.
  template <class T>
  __device__ int begin(const ConvolutionArgs<T>& args) const {
    return part * args.part;
  }
  template <class T>
  __device__ int end(const ConvolutionArgs<T>& args) const {
    return ::min(begin(args) + args.part, args.depth);
  }

  // The bias that the first part adds to the results of a row of the product.
  template <class T>
  __device__ T bias(const ConvolutionArgs<T>& args, int row) const {
    return args.bias && part == 0 ? args.bias[group * args.rows + row] : T(0);
  }
  // Where the results of this part begin.
  template <class T>
  __device__ T* out(const ConvolutionArgs<T>& args) const {
    return args.partial ? args.partial + part * args.part_out : args.out;
  }
  // Writes the sums of a warp's share of the tile. columns: the spots of the tile's columns.
  template <class Mine>
  __device__ void write(const ConvolutionArgs<float>& args, const Spot* columns,
                        const typename Mine::Sums& sums) const {
    float* const to = out(args);
    Mine::for_each({0, 0}, sums, [&](int64_t r, int64_t c, float at) {
      const int row = first_row + static_cast<int>(r);
      if (row < args.rows && first_column + c < args.columns)
        to[row * args.out_row + columns[c].in_other] = at + bias(args, row);
    });
  }
};

// i as places in three dimensions of such sizes; what is left goes to the caller.
__device__ inline int split_places(int i, const int (&sizes)[kSpatial], int (&at)[kSpatial]) {
  for (int d = kSpatial - 1; d >= 0; --d) {
    at[d] = 0;
    if (sizes[d] == 1) continue;
    const int rest = static_cast<int>(static_cast<unsigned>(i) / static_cast<unsigned>(sizes[d]));
    at[d] = i - rest * sizes[d];
    i = rest;
  }
  return i;
}

// (at[0], at[1], at[2]) in row-major order of the gathered tensor's sizes.
template <class T>
__device__ int64_t in_gathered(const ConvolutionArgs<T>& args, const int (&at)[kSpatial]) {
  return (int64_t{at[0]} * args.gathered[1] + at[1]) * args.gathered[2] + at[2];
}

// A place of a window, and a sample: of the output, or for the gradient of the input an element of
// the phase.
template <ConvolutionPass part, class T>
__device__ Spot place_spot(const ConvolutionArgs<T>& args, int i, int group) {
  const Convolution& s = args.shape;
  constexpr bool kInput = part == ConvolutionPass::dgrad;
  int sizes[kSpatial];
  for (int d = 0; d < kSpatial; ++d)
    sizes[d] = kInput ? args.phase[d].count : static_cast<int>(s.dim[d].out);
  Spot out;
  const int sample = split_places(i, sizes, out.at);
  const int64_t filter = sample * s.filters + group * s.group_filters();
  const int64_t channel = sample * s.channels + group * s.group_channels();
  int64_t within = 0;  // the plane of the input, or of the output
  for (int d = 0; d < kSpatial; ++d) {
    const Phase& phase = args.phase[d];
    const WindowDim& dim = s.dim[d];
    within = kInput ? within * dim.in + phase.first + out.at[d] * phase.stride
                    : within * dim.out + out.at[d];
    out.at[d] = kInput ? out.at[d] + phase.place
                       : out.at[d] * static_cast<int>(dim.stride) - static_cast<int>(dim.padding);
  }
  out.in_b = (kInput ? filter * s.outputs() : channel * s.inputs()) + in_gathered(args, out.at);
  out.in_other = (kInput ? channel * s.inputs() : filter * s.outputs()) + within;
  return out;
}

// A tap of a channel, or for the gradient of the input of a filter.
template <ConvolutionPass part, class T>
__device__ Spot tap_spot(const ConvolutionArgs<T>& args, int i, int group) {
  const Convolution& s = args.shape;
  constexpr bool kInput = part == ConvolutionPass::dgrad;
  int sizes[kSpatial];
  for (int d = 0; d < kSpatial; ++d)
    sizes[d] = kInput ? args.phase[d].taps : static_cast<int>(s.dim[d].kernel);
  Spot out;
  const int channel = split_places(i, sizes, out.at);
  int tap = 0;
  for (int d = 0; d < kSpatial; ++d) {
    const Phase& phase = args.phase[d];
    const WindowDim& dim = s.dim[d];
    tap = tap * static_cast<int>(dim.kernel) +
          (kInput ? phase.tap + out.at[d] * phase.tap_step : out.at[d]);
    out.at[d] = out.at[d] * (kInput ? -phase.reach : static_cast<int>(dim.dilation));
  }
  out.in_b = channel * (kInput ? s.outputs() : s.inputs()) + in_gathered(args, out.at);
  // The steps in weight (filters, channels of a group, taps), or in its gradient.
  const int64_t taps = s.taps(), per_filter = s.group_channels() * taps;
  out.in_other =
      group * s.group_filters() * per_filter + channel * (kInput ? per_filter : taps) + tap;
  return out;
}

// Whether there is such an element of the gathered tensor; elsewhere is padding.
template <class T>
__device__ bool is_inside(const ConvolutionArgs<T>& args, const Spot& column, const Spot& depth) {
  bool inside = true;
#pragma unroll
  for (int d = 0; d < kSpatial; ++d)
    inside &=
        static_cast<unsigned>(column.at[d] + depth.at[d]) < static_cast<unsigned>(args.gathered[d]);
  return inside;
}

}  // namespace gradus::cuda
