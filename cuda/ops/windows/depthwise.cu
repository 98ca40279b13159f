// Convolutions of one channel a group on CUDA: which of their kernels runs.
#include "gradus/cuda/kernels/windows/depthwise_channels_last.cuh"

#include <algorithm>

#include "gradus/cuda/ops/windows/convolution_kernel.h"
#include "gradus/cuda/ops/windows/depthwise.h"
#include "gradus/cuda/runtime/context.h"
#include "gradus/cuda/runtime/grid.h"

namespace gradus::cuda {

namespace {

using Part = ConvolutionPass;

// f.template operator()<K>() for a window of K x K, where there are kernels for it.
template <class F>
bool with_window(int size, const F& f) {
  if (size == 3) return f.template operator()<3>(), true;
  if (size == 5) return f.template operator()<5>(), true;
  if (size == 7) return f.template operator()<7>(), true;
  return false;
}

template <class T, class... Args>
void launch(void (*kernel)(DepthwiseArgs<T>, Args...), const DepthwiseArgs<T>& args, int64_t blocks,
            Args... rest) {
  launch_pdl(kernel, {dim3(static_cast<unsigned>(blocks)), kDepthwiseThreads}, args, rest...);
}

template <class T>
void make_gradient_of_weight(void (*kernel)(DepthwiseArgs<T>), DepthwiseArgs<T> args, int64_t taps,
                             float* to_float) {
  constexpr int64_t kBlocks = 8 * 132;  // wanted; by the shapes alone, so that every GPU adds alike
  const int64_t wanted = std::min<int64_t>(ceil_div(kBlocks, int64_t{args.channels}), args.samples);
  args.part = static_cast<int>(ceil_div(int64_t{args.samples}, wanted));
  const int64_t parts = ceil_div(args.samples, args.part), results = args.channels * taps;
  const Scratch partial(static_cast<size_t>(parts * results) * sizeof(float));
  args.partial = partial.as<float>();
  launch(kernel, args, args.channels * parts);
  MatmulArgs<float, T> sum{};
  sum.out = args.out, sum.m = 1, sum.n = results;
  add_parts(args.partial, parts, sum, to_float);
}

// to_float: if not null, gets the gradient of the weight in float32, not args.out. So below.
template <class T>
bool make(Part part, int64_t taps, DepthwiseArgs<T> args, bool plain, float* to_float) {
  const int size = args.kernel[0] == args.kernel[1] ? args.kernel[0] : 0;
  if (part == Part::wgrad)
    return with_window(size, [&]<int K>() {
      make_gradient_of_weight(plain ? depthwise_weight<T, K, true> : depthwise_weight<T, K, false>,
                              args, taps, to_float);
    });
  const auto start = [&](auto* kernel, const DepthwiseArgs<T>& with, int64_t rows, int64_t columns,
                         auto... rest) {
    const int64_t threads = int64_t{args.samples} * args.channels * rows * columns;
    launch(kernel, with, ceil_div(threads, int64_t{kDepthwiseThreads}), counted(threads), rest...);
  };
  const bool of_input = part == Part::dgrad;
  const auto by_window = [&]<int K>() {
    DepthwiseArgs<T> with = args;
    with.turned = of_input;  // which reaches as far before an element
    for (int d = 0; d < 2 && of_input; ++d) with.padding[d] = K - 1 - args.padding[d];
    start(plain ? depthwise<T, K, true> : depthwise<T, K, false>, with,
          ceil_div(args.out_size[0], depthwise_rows(plain)), args.out_size[1]);
  };
  const auto by_halves = [&]<int K>() {
    const auto pairs = [&](int d) { return (args.out_size[d] + args.padding[d] + 1) / 2; };
    start(depthwise_halved<T, K>, args, pairs(0), pairs(1), int2{pairs(0), pairs(1)});
  };
  const auto all = [](const int(&x)[2], int value) { return x[0] == value && x[1] == value; };
  if ((plain || !of_input) && with_window(size, by_window)) return true;
  if (of_input && all(args.stride, 2) && all(args.dilation, 1) && with_window(size, by_halves))
    return true;
  start(of_input ? depthwise_any<T, true> : depthwise_any<T, false>, args, args.out_size[0],
        args.out_size[1]);
  return true;
}

// Threads of a block of depthwise_channels_last_weight: along channels so many that few idle.
dim3 threads_of_units(int64_t units) {
  const auto widest = static_cast<unsigned>(std::min<int64_t>(units, 32));
  unsigned best = widest, most = 0;
  for (unsigned across = widest; across >= std::min(widest, 8u); --across)
    if (const unsigned busy = kDepthwiseThreads / across * across;
        units % across == 0 && busy > most)
      best = across, most = busy;
  return {best, kDepthwiseThreads / best};
}

// The passes whose images have channels that lie last. False, and nothing done, for other windows
// and channels.
template <class T>
bool make_channels_last(Part part, DepthwiseArgs<T> args, float* to_float) {
  constexpr int64_t kMostBlocks = 65535;  // along y and z
  // The gradient of the weight is cut for the 132 multiprocessors of an H200. Other GPUs add in the
  // same order so. A run has at least 4 columns.
  constexpr int64_t kProcessors = 132, kShortestRun = 4;
  const auto all = [](const int(&x)[2], int value) { return x[0] == value && x[1] == value; };
  const bool steps = all(args.stride, 2);
  const int64_t units = args.channels / kDepthwiseUnit;
  const T* const memory[] = {args.image, args.weight, args.grad, args.out};
  for (const T* x : memory)
    if (!is_aligned<kDepthwiseUnit>(x)) return false;
  if (args.channels % kDepthwiseUnit != 0 || !all(args.kernel, kDepthwiseWindow) ||
      !all(args.dilation, 1) || !(steps || all(args.stride, 1)) || args.samples > kMostBlocks)
    return false;
  if (part == Part::wgrad) {
    const dim3 block = threads_of_units(units);
    const int64_t wide = ceil_div(units, int64_t{block.x}), width = args.out_size[1];
    const int64_t bands =
        args.samples * ceil_div(int64_t{args.out_size[0]}, int64_t{kDepthwiseWeightRows});
    if (steps) {
      const int64_t at_once = std::max<int64_t>(2 * kProcessors / wide, 1) * block.y;
      int64_t least = 0;
      for (int64_t run = width; run >= std::min(width, kShortestRun); --run) {
        const int64_t rounds = ceil_div(bands * ceil_div(width, run), at_once);
        const int64_t columns = rounds * (run + kDepthwiseWindow - 1);
        if (least == 0 || columns < least) least = columns, args.run = counted(run);
      }
      args.part = counted(ceil_div(bands * ceil_div(width, int64_t{args.run}), at_once) * block.y);
    } else {
      const int64_t wanted =
          std::min(ceil_div(4 * kProcessors, wide), ceil_div(bands * width, int64_t{block.y} * 4));
      args.run = 1, args.part = counted(ceil_div(bands * width, wanted));
    }
    const int64_t runs = bands * ceil_div(width, int64_t{args.run});
    const int64_t parts = ceil_div(runs, int64_t{args.part}),
                  results = int64_t{args.channels} * kDepthwiseTaps;
    const Scratch partial(static_cast<size_t>(parts * results) * sizeof(float));
    args.partial = partial.as<float>();
    launch_pdl(steps ? depthwise_channels_last_weight<T, 2> : depthwise_channels_last_weight<T, 1>,
               {dim3(static_cast<unsigned>(wide), static_cast<unsigned>(parts)), block}, args);
    MatmulArgs<float, T> sum{};
    sum.out = args.out, sum.m = 1, sum.n = results;
    add_parts(args.partial, parts, sum, to_float);
    return true;
  }
  const bool of_input = part == Part::dgrad;
  const auto start = [&](auto* kernel, int64_t rows, int64_t columns, auto... rest) {
    if (rows > kMostBlocks) return false;
    const int64_t threads = columns * units, wide = ceil_div(threads, int64_t{kDepthwiseThreads});
    const int64_t block = ceil_div(ceil_div(threads, wide), int64_t{32}) * 32;
    launch_pdl(kernel,
               {dim3(static_cast<unsigned>(wide), static_cast<unsigned>(rows),
                     static_cast<unsigned>(args.samples)),
                static_cast<unsigned>(block)},
               args, rest...);
    return true;
  };
  if (of_input && steps) {
    const auto pairs = [&](int d) { return (args.out_size[d] + args.padding[d] + 1) / 2; };
    return start(depthwise_channels_last_halved<T>, ceil_div(pairs(0), kDepthwisePairs), pairs(1),
                 pairs(1));
  }
  for (int& padding : args.padding)
    if (of_input) padding = kDepthwiseWindow - 1 - padding;
  return start(of_input ? depthwise_channels_last<T, 1, true>
               : steps  ? depthwise_channels_last<T, 2, false>
                        : depthwise_channels_last<T, 1, false>,
               ceil_div(args.out_size[0], depthwise_band(args.stride[0])), args.out_size[1]);
}

template <class T>
bool make(Part part, const Convolution& shape, const Tensor& a, const Tensor& b, const Tensor& bias,
          const Tensor& out, bool channels_last) {
  const auto data = [](const Tensor& x) {
    return x.defined() ? static_cast<const T*>(x.data_ptr()) : nullptr;
  };
  const bool of_input = part == Part::dgrad, of_weight = part == Part::wgrad;
  DepthwiseArgs<T> args{};
  args.image = of_weight ? data(b) : data(a);
  args.weight = of_weight ? nullptr : data(b);
  args.grad = of_weight ? data(a) : nullptr;
  args.bias = data(bias);
  float* const to_float = out.dtype() == a.dtype() ? nullptr : out.data_ptr<float>();
  if (!to_float) args.out = static_cast<T*>(out.data_ptr());
  args.samples = counted(shape.batch), args.channels = counted(shape.channels);
  bool plain = true;
  for (int d = 0; d < 2; ++d) {
    const WindowDim& w = shape.dim[kSpatial - 2 + d];
    args.image_size[d] = counted(of_input ? w.out : w.in);
    args.out_size[d] = counted(of_input ? w.in : w.out);
    args.kernel[d] = counted(w.kernel), args.stride[d] = counted(w.stride);
    args.padding[d] = counted(w.padding), args.dilation[d] = counted(w.dilation);
    const Phase phase = phase_of(w, 0);
    args.tap_step[d] = phase.tap_step, args.reach[d] = phase.reach;
    plain = plain && w.stride == 1 && w.dilation == 1;
  }
  return channels_last ? make_channels_last(part, args, to_float)
                       : make(part, shape.taps(), args, plain, to_float);
}

}  // namespace

bool depthwise_convolution(Part part, const Convolution& shape, const Tensor& a, const Tensor& b,
                           const Tensor& bias, const Tensor& out) {
  const int64_t elements = shape.batch * shape.channels * (shape.inputs() + shape.outputs());
  if (!is_depthwise(shape) || shape.spatial > 2 || elements > 1 << 30) return false;
  const auto lie = [&](MemoryFormat of_images) {
    using enum MemoryFormat;
    return a.is_contiguous(of_images) &&
           b.is_contiguous(part == Part::wgrad ? of_images : Contiguous) &&
           out.is_contiguous(part == Part::wgrad ? Contiguous : of_images);
  };
  const bool last = !lie(MemoryFormat::Contiguous);
  if (last && (shape.spatial != 2 || !lie(MemoryFormat::ChannelsLast))) return false;
  switch (a.dtype()) {
    case kHalf:
      return make<Half>(part, shape, a, b, bias, out, last);
    case kBFloat16:
      return make<BFloat16>(part, shape, a, b, bias, out, last);
    case kFloat:
      return make<float>(part, shape, a, b, bias, out, last);
    default:
      return false;
  }
}

}  // namespace gradus::cuda
