// Convolutions of few rows on CUDA: how convolution_direct cuts them up.
#include "gradus/cuda/kernels/windows/convolution_direct.cuh"

#include <algorithm>
#include <optional>

#include "gradus/cuda/ops/windows/convolution_direct.h"
#include "gradus/cuda/ops/windows/convolution_kernel.h"
#include "gradus/cuda/runtime/grid.h"

namespace gradus::cuda {

namespace {

using Part = ConvolutionPass;

constexpr int kBlocks = 128;                                    // wanted: an H100 runs 132 at once
constexpr int kUsualFloats = 16 << 10, kMostFloats = 48 << 10;  // of shared memory

// The floats of a channel's box, at most, for n neighbouring places.
template <Part part, class T>
int64_t box_floats(const ConvolutionArgs<T>& args, int n) {
  DirectDim dim[kSpatial];
  for (int d = 0; d < kSpatial; ++d) dim[d] = direct_dim<part>(args, d);
  // Takes as many of a dimension as they meet, where `inner` lie behind each other.
  const auto met = [&](int d, int64_t inner) {
    return static_cast<int>(std::min<int64_t>(dim[d].count, n > 1 ? (n - 2) / inner + 2 : 1));
  };
  const int lines = met(0, int64_t{dim[1].count} * dim[2].count);
  const int rows = lines > 1 ? dim[1].count : met(1, dim[2].count);
  const auto size = [&](int d, int count) {
    return int64_t{count - 1} * dim[d].step + dim[d].reach();
  };
  const int64_t width = size(2, dim[2].count), all = size(0, lines) * size(1, rows);
  if (width > kMostFloats || all > kMostFloats) return kMostFloats + 1;
  return box_plane<part>(args, static_cast<int>(all), static_cast<int>(width));
}

// Columns of a block, and terms at once, so that there are blocks enough and they fit.
template <Part part, class T>
DirectCut cut(const ConvolutionArgs<T>& args, int rows) {
  constexpr int64_t kFewColumns = 32, kFewTerms = 32;
  const int64_t batch = std::max<int64_t>(args.shape.batch, 1), of_term = direct_pitch(rows) + 1;
  const int taps = std::max(1, direct_taps<part>(args));
  DirectCut out{};
  int64_t floats = 0;
  if (part == Part::wgrad) {
    out.columns = ceil_div(args.columns, ceil_div(args.columns, kMostDirectColumns));
    const int channels = std::min((out.columns + taps - 2) / taps + 1, args.columns / taps);
    out.terms = static_cast<int>(args.depth / batch);
    const auto needed = [&] {
      return channels * box_floats<part>(args, out.terms) + out.terms * of_term;
    };
    while (needed() > kUsualFloats && out.terms > kFewTerms) out.terms = ceil_div(out.terms, 2);
    floats = needed();
  } else {
    const int64_t places = args.columns / batch;
    const int64_t pieces =
        std::max(ceil_div(places, int64_t{kMostDirectColumns}),
                 std::min(ceil_div(int64_t{kBlocks}, planned_batch(batch) * args.shape.groups),
                          ceil_div(places, kFewColumns)));
    out.columns = static_cast<int>(ceil_div(places, pieces));
    // A phase without taps has no box.
    const int64_t of_channel =
        (args.depth > 0 ? box_floats<part>(args, out.columns) : 0) + taps * of_term;
    const int64_t at_once =
        std::clamp<int64_t>(kUsualFloats / of_channel, 1, std::max(1, args.depth / taps));
    out.terms = static_cast<int>(at_once * taps);
    floats = at_once * of_channel;
  }
  // The end needs room for the sums of all threads. The time before needs room for where the
  // columns lie in out.
  floats = std::max<int64_t>(floats, kDirectOwn * kDirectThreads * rows) + 2 * even(out.columns);
  out.floats = static_cast<int>(std::min<int64_t>(floats, kMostFloats + 1));
  return out;
}

template <int kRows, Part part, class T>
std::optional<ConvolutionKernel<T>> kernel_of(ConvolutionArgs<T>& args) {
  const DirectCut found = cut<part>(args, kRows);
  if (found.floats > kMostFloats || found.floats * int64_t{sizeof(float)} > most_shared_bytes())
    return std::nullopt;
  args.direct = found;
  const int64_t batch = args.shape.batch;
  ConvolutionKernel<T> out{convolution_direct<T, kRows, part>,
                           kRows,
                           found.columns,
                           1,
                           kDirectThreads,
                           found.floats * static_cast<int>(sizeof(float))};
  out.parts = 1;
  if (part == Part::wgrad) {
    out.sums_rows = true;
    // Whole samples where there are enough of them.
    constexpr int64_t kLeastTerms = 32;
    const int64_t tiles = ceil_div(args.columns, found.columns) * args.shape.groups;
    const int64_t most = std::max<int64_t>(kBlocks / tiles, 1);
    out.parts = static_cast<int>(std::clamp<int64_t>(args.depth / kLeastTerms, 1, most));
    if (batch >= out.parts && batch > 0) out.step = static_cast<int>(args.depth / batch);
  } else {
    out.tiles = batch == 0 ? 0
                           : batch * ceil_div(args.columns / batch, int64_t{found.columns}) *
                                 args.shape.groups;
  }
  return out;
}

template <int kRows, class T>
std::optional<ConvolutionKernel<T>> kernel_of(Part part, ConvolutionArgs<T>& args) {
  switch (part) {
    case Part::fprop:
      return kernel_of<kRows, Part::fprop>(args);
    case Part::dgrad:
      return kernel_of<kRows, Part::dgrad>(args);
    case Part::wgrad:
      break;
  }
  return kernel_of<kRows, Part::wgrad>(args);
}

}  // namespace

// The limits were measured with 70 shapes on an H200 (docs/notebook/convolutions.md): within them
// tiles were slower.
bool is_direct(Part part, const Convolution& s, bool exact) {
  constexpr int64_t kFew = 1 << 25, kMany = 1 << 29, kMostGathered = 16;
  const bool of_input = part == Part::dgrad;
  const int64_t terms = planned_batch(s.batch) * s.outputs() * s.filters * s.group_channels() *
                        s.taps();  // of any part
  const int64_t rows = of_input ? s.group_channels() : s.group_filters();
  const int64_t gathered = of_input ? s.group_filters() : s.group_channels();
  const int64_t places = of_input ? s.inputs() : s.outputs();
  if (rows > kMostDirectRows || (!exact && gathered > kMostGathered)) return false;
  if (terms <= kFew || (rows == 1 && gathered == 1)) return true;
  if (gathered > kMostGathered || s.taps() == 1) return false;
  if (places < 256) return terms <= 4 * kFew;  // blocks have little to do
  if (part == Part::wgrad && places > 1 << 16) return false;
  return exact || gathered <= kMostGathered / 2 || terms <= kMany;
}

template <class T>
std::optional<ConvolutionKernel<T>> direct_convolution(Part part, ConvolutionArgs<T>& args) {
  if (args.columns == 0) return std::nullopt;
  return args.rows == 1   ? kernel_of<1>(part, args)
         : args.rows <= 4 ? kernel_of<4>(part, args)
         : args.rows <= 8 ? kernel_of<8>(part, args)
                          : kernel_of<16>(part, args);
}
template std::optional<ConvolutionKernel<float>> direct_convolution(Part, ConvolutionArgs<float>&);
template std::optional<ConvolutionKernel<Half>> direct_convolution(Part, ConvolutionArgs<Half>&);
template std::optional<ConvolutionKernel<BFloat16>> direct_convolution(Part,
                                                                       ConvolutionArgs<BFloat16>&);

}  // namespace gradus::cuda
