// How the kernels of convolution_channels_last.cuh are chosen and started.
#pragma once

#include "gradus/cuda/kernels/windows/convolution_channels_last.cuh"
#include "gradus/cuda/kernels/windows/pad_channels.cuh"

#include <array>
#include <limits>
#include <vector>

#include "gradus/cuda/ops/cudnn.h"
#include "gradus/cuda/ops/windows/convolution_kernel.h"
#include "gradus/cuda/ops/windows/convolution_wgmma.h"
#include "gradus/cuda/runtime/context.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::cuda {

// A kernel as the host sees it.
template <class T>
struct ChannelsLastKernel {
  void (*run)(ChannelsLastArgs<T>);
  int rows, columns, depth;  // results of a block, terms of a step
  int threads, shared_bytes;
  double speed;  // of a multiprocessor that has as many blocks as fit, to that of the first kernel
};

template <class T, ConvolutionPass pass>
struct ChannelsLastKernels {
  template <class S>
  static constexpr ChannelsLastKernel<T> of(double speed) {
    using Tiles = ChannelsLastTiles<T, S, pass>;
    return {convolution_channels_last<T, S, pass>,
            S::kRows,
            S::kCols,
            Tiles::kDepth,
            S::kThreads,
            Tiles::kSharedBytes,
            speed};
  }
  // Rows, columns of a block; of a warp; stages; blocks. Warps of 64 x 64 read shared memory for 8
  // loads an instruction's 32; the second kernel is for few columns, or filters.
  using Square = ChannelsLastShape<128, 128, 64, 64, 4, 2>;
  using Narrow =
      std::conditional_t<pass == ConvolutionPass::wgrad, ChannelsLastShape<64, 128, 32, 64, 4, 2>,
                         ChannelsLastShape<256, 64, 64, 64, 3, 2>>;
  using Small = ChannelsLastShape<64, 64, 32, 32, 3, 4>;
  static constexpr bool kOfWeight = pass == ConvolutionPass::wgrad;
  static constexpr std::array<ChannelsLastKernel<T>, 3> all = {of<Square>(kOfWeight ? 0.9 : 1),
                                                               of<Narrow>(kOfWeight ? 0.72 : 0.88),
                                                               of<Small>(kOfWeight ? 0.57 : 0.64)};
};

// A weight of few results has as many parts as blocks of its kernel fit an H100 at once.
inline constexpr int64_t kMostChannelsLastParts = 64, kMostWeightParts = 4 * 132;

// One of `all` for products that run one after the other, and into how many parts their depth is
// cut. A model of an H100 decides by the shapes alone, so that every GPU adds in the same order.
template <class T>
struct ChannelsLastPlan {
  const ChannelsLastKernel<T>* kernel = nullptr;
  int parts = 1;
  double time = std::numeric_limits<double>::infinity();
};
// most_parts: how many there may be.
template <class T>
ChannelsLastPlan<T> plan_for(ArrayRef<ChannelsLastKernel<T>> all,
                             const std::vector<ChannelsLastArgs<T>>& products, int64_t groups,
                             int64_t results, int64_t shared_bytes, int64_t most_parts) {
  constexpr int64_t kMultiprocessors = 132, kLeastSteps = 8, kMostSums = 1 << 26;
  // Results times terms a second of a multiprocessor; seconds of a block, of a second pass, and of
  // each number that it reads and that was written for it. Fitted to the times of bench/gpu.cpp's
  // half_conv by each kernel: the mean error is a tenth.
  constexpr double kRate = 0.8e12 * (is_half<T> ? 1 : 0.5), kOfBlock = 2.2e-6, kOfPass = 7.8e-6,
                   kOfSum = 8 / 2.5e12, kAlone = 0.7;
  ChannelsLastPlan<T> best;
  for (const auto& kernel : all) {
    const auto chosen = chosen_tile();
    if (kernel.shared_bytes > shared_bytes || (chosen && kernel.run != all[*chosen].run)) continue;
    int64_t most = 1;
    for (const auto& product : products)
      most = std::max(most, product.depth / (kernel.depth * kLeastSteps));
    most = std::min({most, most_parts, std::max<int64_t>(1, kMostSums / results)});
    for (int64_t parts = 1; parts <= most; parts += 1 + parts / 8) {
      double time = parts > 1 ? kOfPass + static_cast<double>(results * parts) * kOfSum : 0;
      for (const auto& product : products) {
        const int64_t tiles = int64_t{ceil_div(product.rows, kernel.rows)} *
                              ceil_div(product.columns, kernel.columns) * groups * parts;
        const int64_t blocks = ceil_div(tiles, kMultiprocessors);
        const int64_t steps =
            ceil_div(ceil_div(int64_t{product.depth}, int64_t{kernel.depth}), parts);
        const double one = static_cast<double>(steps * kernel.depth * kernel.rows) *
                           kernel.columns / (kRate * kernel.speed);
        time += static_cast<double>(blocks / 2) * (2 * one + kOfBlock) +
                static_cast<double>(blocks % 2) * (one / kAlone + kOfBlock);
      }
      if (time < best.time) best = {&kernel, static_cast<int>(parts), time};
    }
  }
  return best;
}

// The plan of a pass. Where rows may not depend on the batch, it is that of planned_batch()
// samples, and no sum is cut.
template <class T, ConvolutionPass pass>
ChannelsLastPlan<T> plan_for(const std::vector<ChannelsLastArgs<T>>& products,
                             const Convolution& shape, int64_t results) {
  const auto plan = [&](const std::vector<ChannelsLastArgs<T>>& of, int64_t most_parts) {
    return plan_for<T>(ChannelsLastKernels<T, pass>::all, of, shape.groups, results,
                       most_shared_bytes(), most_parts);
  };
  if (pass == ConvolutionPass::wgrad) return plan(products, kMostWeightParts);
  if (!gradus::detail::batch_invariant()) return plan(products, kMostChannelsLastParts);
  const int64_t batch = std::max<int64_t>(shape.batch, 1);
  std::vector<ChannelsLastArgs<T>> planned = products;
  for (ChannelsLastArgs<T>& product : planned)
    product.rows = counted(product.rows / batch * planned_batch(batch));
  return plan(planned, 1);
}

// x of shape (outer, channels, height, width), or without height.
struct ChannelsLastSizes {
  int64_t outer, channels, height, width;
  int64_t numel() const { return outer * channels * height * width; }
};

// A view of x in that shape, with these strides of memory where its channels come last.
inline Dims channels_last_order(const ChannelsLastSizes& s, int64_t pitch) {
  return {s.height * s.width * pitch, 1, s.width * pitch, pitch};
}
inline Tensor with_height(const Tensor& x, const ChannelsLastSizes& s) {
  const IntArrayRef by = x.strides();
  return raw::as_strided(x, {s.outer, s.channels, s.height, s.width},
                         {by[0], by[1], by.size() == 4 ? by[2] : 0, by[by.size() - 1]},
                         x.storage_offset());
}
inline bool lies_channels_last(const Tensor& x, const ChannelsLastSizes& s) {
  const Dims order = channels_last_order(s, s.channels);
  for (int64_t d = 0; d < 4; ++d)
    if (x.sizes()[d] > 1 && x.strides()[d] != order[d]) return false;
  return true;
}
inline bool begins_a_unit(const Tensor& x) {
  return reinterpret_cast<uintptr_t>(x.data_ptr()) % 16 == 0;
}

// The elements of x by pad_channels, in lines of so many units. kPlaces: of a unit. units: of a
// place.
template <class T, int kPlaces>
Tensor padded(const Tensor& x, const ChannelsLastSizes& s, int64_t line, int64_t left,
              int64_t units) {
  const Tensor out = raw::empty({s.outer, s.height, line * vector_width<T>}, x.scalar_type(),
                                x.device(), "convolution");
  const int count = counted(out.numel() / vector_width<T>);
  const IntArrayRef by = x.strides();
  const Context context(out);
  launch_pdl(pad_channels<T, kPlaces>,
             {dim3(static_cast<unsigned>(ceil_div(count, kPadThreads))), kPadThreads},
             PaddedImages{counted(s.height),
                          counted(s.width),
                          counted(s.channels),
                          counted(units),
                          counted(line / units),
                          counted(left),
                          {by[0], by[1], by[2], by[3]}},
             count, static_cast<const T*>(x.data_ptr()), static_cast<T*>(out.data_ptr()));
  return out;
}

// The elements of x with `pitch` channels, of which the last ones are 0: x itself where it lies so.
template <class T>
Tensor with_channels_last(const Tensor& of, const ChannelsLastSizes& s, int64_t pitch) {
  const Tensor x = with_height(of, s);
  if (pitch == s.channels && begins_a_unit(x) && lies_channels_last(x, s)) return x;
  const int64_t units = pitch / vector_width<T>;
  if (pitch != s.channels) return padded<T, 1>(x, s, s.width * units, 0, units);
  const Tensor out =
      raw::empty({s.outer, s.height, s.width, pitch}, x.scalar_type(), x.device(), "convolution");
  raw::copy_(raw::as_strided(out, x.impl().sizes, channels_last_order(s, pitch), 0), x);
  return out;
}

// Images of few channels. A unit holds whole places, so a line of a window is a run of units in
// memory. The run is taken as the channels of a window of one column.
struct RowsOfWindows {
  static constexpr int64_t kChannels = 4;  // of a place
  template <class T>
  static constexpr int kPlaces = vector_width<T> / kChannels;  // of a unit

  int64_t units = 0;   // of a line of a window; 0: windows are taken as they are
  int64_t line = 0;    // of an image
  int64_t stride = 1;  // units from a window to the next

  template <class T>
  static RowsOfWindows of(ConvolutionPass pass, const Convolution& shape, TypeTag<T>) {
    const WindowDim& w = shape.dim[kSpatial - 1];
    if (pass == ConvolutionPass::dgrad || shape.groups > 1 || shape.channels > kChannels ||
        w.stride % kPlaces<T> != 0 || w.dilation != 1 || w.kernel == 1)
      return {};
    const int64_t units = ceil_div(w.kernel, int64_t{kPlaces<T>}), stride = w.stride / kPlaces<T>;
    return {units, (w.out - 1) * stride + units, stride};
  }
  Convolution seen(Convolution shape, int64_t unit) const {
    WindowDim& w = shape.dim[kSpatial - 1];
    w = {line, w.out, 1, stride};
    shape.channels = units * unit;
    return shape;
  }
};

// The products of a pass: one, or for dgrad one for each phase.
template <class T>
std::vector<ChannelsLastArgs<T>> channels_last_products(ConvolutionPass pass,
                                                        const Convolution& shape,
                                                        ChannelsLastArgs<T> args) {
  const WindowDim* const dims = shape.dim + kSpatial - 2;
  const auto depth_of = [&] {
    return counted(int64_t{args.dim[0].taps} * args.dim[1].taps * args.channels);
  };
  const auto places_of = [&] { return counted(shape.batch * args.dim[0].rows * args.dim[1].rows); };
  std::vector<ChannelsLastArgs<T>> out;
  if (pass != ConvolutionPass::dgrad) {
    for (int d = 0; d < 2; ++d) {
      const WindowDim& w = dims[d];
      counted(w.in + 2 * w.padding);
      args.dim[d] = {counted(w.in),
                     counted(w.out),
                     counted(w.stride),
                     -counted(w.padding),
                     counted(w.kernel),
                     counted(w.dilation),
                     counted(w.out),
                     1,
                     0,
                     counted(w.kernel),
                     1,
                     0};
    }
    const bool of_weight = pass == ConvolutionPass::wgrad;
    args.rows = of_weight ? counted(shape.group_filters()) : places_of();
    args.columns = of_weight ? depth_of() : counted(shape.group_filters());
    args.depth = of_weight ? places_of() : depth_of();
    out.push_back(args);
    return out;
  }
  args.columns = counted(shape.group_channels());
  const auto phases = [&](int d) { return std::min(dims[d].stride, dims[d].in); };
  for (int64_t i = 0; i < phases(0) * phases(1); ++i) {
    for (int d = 0; d < 2; ++d) {
      const WindowDim& w = dims[d];
      counted(w.in + 2 * w.padding);
      const Phase phase = phase_of(w, d == 0 ? i / phases(1) : i % phases(1));
      args.dim[d] = {counted(w.out),    phase.count,    1,
                     phase.place,       phase.taps,     -phase.reach,
                     counted(w.in),     phase.stride,   phase.first,
                     counted(w.kernel), phase.tap_step, phase.tap};
    }
    args.rows = places_of(), args.depth = depth_of();
    out.push_back(args);
  }
  return out;
}

// Makes the products on the current device and stream by the plan's kernel.
template <class T>
void multiply_tiles(const ChannelsLastPlan<T>& plan, std::vector<ChannelsLastArgs<T>> products,
                    int64_t groups, int64_t channels, int64_t results) {
  const ChannelsLastKernel<T>& kernel = *plan.kernel;
  MatmulArgs<float, T> sum{};
  sum.out = products[0].out, sum.bias = products[0].bias, sum.bias_stride = 1;
  sum.n = channels, sum.m = results / channels;
  const Scratch partial(plan.parts > 1 ? static_cast<size_t>(results * plan.parts) * 4 : 0);
  for (ChannelsLastArgs<T>& product : products) {
    const int steps = ceil_div(product.depth, kernel.depth);
    product.parts = plan.parts, product.part = ceil_div(steps, plan.parts);
    product.part_out = results;
    product.partial = plan.parts > 1 ? partial.as<float>() : product.wide;
    if (plan.parts > 1) product.bias = nullptr;
    const int64_t tiles = int64_t{ceil_div(product.rows, kernel.rows)} *
                          ceil_div(product.columns, kernel.columns) * groups * plan.parts;
    launch_pdl(kernel.run,
               {dim3(static_cast<unsigned>(tiles)), static_cast<unsigned>(kernel.threads),
                static_cast<size_t>(kernel.shared_bytes)},
               product);
  }
  if (plan.parts > 1) add_parts(partial.as<float>(), plan.parts, sum, products[0].wide);
}

// Backend::convolution for tensors of one or two dimensions and any strides. False, and nothing
// done, where a group's channels or filters are no whole units. So it is where no kernel adds to
// out.
template <class T, ConvolutionPass pass>
bool channels_last_convolution(const Convolution& shape, const Tensor& a, const Tensor& b,
                               const Tensor& bias, const Tensor& out) {
  constexpr int64_t kUnit = 16 / sizeof(T);
  constexpr bool kOfWeight = pass == ConvolutionPass::wgrad,
                 kOfInput = pass == ConvolutionPass::dgrad;
  const int64_t filters = shape.group_filters(), channels = shape.group_channels();
  if (shape.spatial > 2 || (shape.groups > 1 && (filters % kUnit != 0 || channels % kUnit != 0)))
    return false;
  const WindowDim &down = shape.dim[kSpatial - 2], &across = shape.dim[kSpatial - 1];
  const ChannelsLastSizes input = {shape.batch, shape.channels, down.in, across.in},
                          output = {shape.batch, shape.filters, down.out, across.out},
                          weight = {shape.filters, channels, down.kernel, across.kernel};
  const auto whole = [](int64_t count) { return ceil_div(count, kUnit) * kUnit; };
  const RowsOfWindows rows = RowsOfWindows::of(pass, shape, TypeTag<T>{});
  const bool by_rows = rows.units > 0;
  // line: of x by rows of windows, or 0.
  const auto lying = [&](const Tensor& x, const ChannelsLastSizes& s, int64_t line = 0,
                         int64_t left = 0) {
    constexpr int kPlaces = RowsOfWindows::kPlaces<T>;
    return line > 0 ? padded<T, kPlaces>(with_height(x, s), s, line, left, 1)
                    : with_channels_last<T>(x, s, whole(s.channels));
  };
  const Tensor gathered =
      kOfInput ? lying(a, output) : lying(kOfWeight ? b : a, input, rows.line, across.padding);
  const Tensor other = kOfWeight ? lying(a, output) : lying(b, weight, rows.units);
  const ChannelsLastSizes& result = kOfWeight ? weight : kOfInput ? input : output;
  const Tensor there = with_height(out, result);
  // A line of the weight as it is made.
  const int64_t taps = by_rows ? down.kernel : shape.taps(),
                made_channels = by_rows ? rows.units * kUnit : channels;
  const bool direct = lies_channels_last(there, result) && !(by_rows && kOfWeight);
  const Tensor made =
      direct
          ? there
          : raw::empty({result.outer, kOfWeight ? taps * made_channels
                                                : result.height * result.width * result.channels},
                       out.scalar_type(), out.device(), "convolution");

  ChannelsLastArgs<T> args{};
  const auto data = [](const Tensor& x) { return static_cast<const T*>(x.data_ptr()); };
  args.gathered = data(gathered), args.other = data(other);
  if (made.dtype() == gathered.dtype())
    args.out = static_cast<T*>(made.data_ptr());
  else
    args.wide = made.data_ptr<float>();
  const int64_t of_gathered = kOfInput ? filters : made_channels;
  args.channels = counted(whole(of_gathered));
  args.lines = counted(filters);
  args.pitch = by_rows ? 1 : counted(whole(of_gathered * shape.groups) / kUnit);
  args.group_pitch = counted(whole(of_gathered) / kUnit);
  counted(gathered.numel() / kUnit);
  args.tap_pitch = counted(whole(made_channels));
  args.other_pitch = kOfWeight ? whole(shape.filters) : taps * args.tap_pitch;
  args.out_channels = counted(made_channels);
  args.out_pitch = kOfWeight ? taps * made_channels : result.channels;
  args.whole_units = args.out_pitch % kUnit == 0 &&
                     (kOfWeight ? made_channels : result.channels) % kUnit == 0 &&
                     begins_a_unit(made);
  args.bias = bias.defined() && !kOfInput ? data(bias) : nullptr;
  args.adds = kOfInput && bias.defined();
  if (args.adds && !direct) return false;
  const std::vector<ChannelsLastArgs<T>> products =
      channels_last_products(pass, by_rows ? rows.seen(shape, kUnit) : shape, args);

  const Context context(out);
  const int64_t results = made.numel();
  const ChannelsLastPlan<T> plan = plan_for<T, pass>(products, shape, results);
  const bool alike = !kOfWeight && gradus::detail::batch_invariant();
  // The accelerator copies runs of less than 64 bytes no faster than longer ones.
  const bool short_runs = by_rows && rows.units < 4;
  if (shape.groups > 1 || alike || short_runs ||
      !wgmma_convolution(pass, shape, products, kOfWeight ? Tensor() : with_height(b, weight),
                         plan.time)) {
    if (plan.kernel == nullptr || args.adds) return false;
    multiply_tiles(plan, products, shape.groups, kOfWeight ? made_channels : result.channels,
                   results);
  }
  if (!direct)
    raw::copy_(there,
               raw::as_strided(made, there.impl().sizes,
                               by_rows && kOfWeight ? Dims{taps * made_channels, 1, made_channels,
                                                           RowsOfWindows::kChannels}
                                                    : channels_last_order(result, result.channels),
                               0));
  return true;
}

template <class T>
bool channels_last_convolution(ConvolutionPass pass, const Convolution& shape, const Tensor& a,
                               const Tensor& b, const Tensor& bias, const Tensor& out) {
  switch (pass) {
    case ConvolutionPass::fprop:
      return channels_last_convolution<T, ConvolutionPass::fprop>(shape, a, b, bias, out);
    case ConvolutionPass::dgrad:
      return channels_last_convolution<T, ConvolutionPass::dgrad>(shape, a, b, bias, out);
    case ConvolutionPass::wgrad:
      break;
  }
  return channels_last_convolution<T, ConvolutionPass::wgrad>(shape, a, b, bias, out);
}

}  // namespace gradus::cuda
