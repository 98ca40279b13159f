// Patches of a convolution: the rows of the gathered tensor that neighbouring windows reach.
#pragma once

#include "gradus/cuda/kernels/windows/implicit_gemm.cuh"

namespace gradus::cuda {

// How columns meet the rows of the gathered tensor. Columns are places of planes of height x width.
// Those in row y of their plane meet y * step + low up to y * step + high.
struct PatchRows {
  int height, width, step, low, high;
  int gathered_height, gathered_width;

  GRADUS_HD int sample_of(int column) const { return column / (height * width); }
};

template <ConvolutionPass part>
GRADUS_HD PatchRows patch_rows(const ConvolutionArgs<float>& args) {
  const WindowDim& dim = args.shape.dim[1];
  const Phase& phase = args.phase[1];
  PatchRows out{};
  out.gathered_height = args.gathered[1], out.gathered_width = args.gathered[2];
  if (part == ConvolutionPass::dgrad) {
    out.height = phase.count, out.width = args.phase[2].count, out.step = 1;
    out.high = phase.place, out.low = phase.place - (phase.taps - 1) * phase.reach;
  } else {
    out.height = static_cast<int>(dim.out), out.width = static_cast<int>(args.shape.dim[2].out);
    out.step = static_cast<int>(dim.stride), out.low = -static_cast<int>(dim.padding);
    out.high = out.low + static_cast<int>((dim.kernel - 1) * dim.dilation);
  }
  return out;
}

// A run of neighbours in memory: of the plane of a sample, from `begin` up to `end`, both multiples
// of 4.
struct PatchRun {
  int begin, end;
};

// The run of neighbours that the columns from `first` up to `last` reach, of those that belong to
// sample `sample`.
GRADUS_HD inline PatchRun patch_run(const PatchRows& rows, int sample, int first, int last) {
  const int start = sample * rows.height * rows.width, past = start + rows.height * rows.width;
  const auto row_of = [&](int column) { return (column - start) / rows.width * rows.step; };
  const auto clamp = [&](int row) {
    return row < 0 ? 0 : row > rows.gathered_height ? rows.gathered_height : row;
  };
  const int begin = clamp(row_of(first > start ? first : start) + rows.low);
  const int end = clamp(row_of(last < past ? last : past - 1) + rows.high + 1);
  const int from = begin * rows.gathered_width / 4 * 4;
  return {from, end <= begin ? from : (end * rows.gathered_width + 3) / 4 * 4};
}

// Floats before a patch in shared memory that hold 0, for the padding.
inline constexpr int kPatchZeros = 4;

}  // namespace gradus::cuda
