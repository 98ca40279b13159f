// Backend::convolution on CUDA: the product that a part is, its tile, and how its depth is cut up.
#include "gradus/cuda/kernels/windows/convolution.cuh"

#include <limits>
#include <numeric>
#include <utility>

#include "gradus/cuda/backend.h"
#include "gradus/cuda/kernels/matmul_sum.cuh"
#include "gradus/cuda/ops/cudnn.h"
#include "gradus/cuda/runtime/context.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

namespace {

using Part = ConvolutionPart;

// rows, columns, depth of a block; rows, columns of a warp; of a thread; blocks a multiprocessor.
template <class T>
struct ConvolutionShapes {
  using Large = BlockShape<128, 128, 8, 64, 32, 8, 8, 2>;
  using Medium = BlockShape<64, 128, 8, 32, 64, 8, 8, 3>;
  using Small = BlockShape<64, 64, 8, 32, 32, 8, 4, 4>;
  using Wide = BlockShape<16, 128, 8, 16, 32, 4, 4, 4>;
};
template <>
struct ConvolutionShapes<double> {
  using Large = BlockShape<64, 64, 8, 32, 16, 4, 4, 2>;
  using Medium = Large;
  using Small = Large;
  using Wide = BlockShape<16, 128, 8, 16, 32, 4, 4, 2>;
};

// Terms and columns are counted in 32 bits; so are the elements of a channel.
int counted(int64_t count) {
  check<NotImplementedError>(count <= std::numeric_limits<int>::max() / 2, "convolution: ", count,
                             " places or taps are more than a kernel counts; split the batch");
  return static_cast<int>(count);
}

template <class T>
ConvolutionArgs<T> product_of(Part part, const Convolution& s, const T* x, const T* y,
                              const T* bias, T* out) {
  ConvolutionArgs<T> args{};
  args.shape = s;
  for (int d = 0; d < kSpatial; ++d)
    args.gathered[d] = counted(part == Part::input ? s.dim[d].out : s.dim[d].in);
  const int64_t taps = s.group_channels() * s.taps();
  args.out = out, args.bias = bias;
  args.parts = 1;
  switch (part) {
    case Part::output:
      args.a = y, args.b = x;
      args.rows = counted(s.group_filters());
      args.columns = counted(s.batch * s.outputs());
      args.depth = counted(taps);
      args.a_row = taps, args.out_row = s.outputs();
      break;
    case Part::input:
      args.a = y, args.b = x;
      args.rows = counted(s.group_channels());
      args.a_row = s.taps(), args.out_row = s.inputs();
      break;  // a phase sets the rest
    case Part::weight:
      args.a = x, args.b = y;
      args.rows = counted(s.group_filters());
      args.columns = counted(taps);
      args.depth = counted(s.batch * s.outputs());
      args.a_row = s.outputs(), args.out_row = taps;
      break;
  }
  args.part = args.depth;
  return args;
}

template <class Shape, class T>
int64_t tiles_of(const ConvolutionArgs<T>& args) {
  return int64_t{ceil_div(args.rows, Shape::kRows)} * ceil_div(args.columns, Shape::kCols) *
         args.shape.groups;
}

template <class T, class Shape, Part part>
void run_tiles(const ConvolutionArgs<T>& args, const Context& context) {
  const int64_t blocks = tiles_of<Shape>(args) * args.parts;
  launch(convolution_kernel<T, Shape, part>,
         {dim3(static_cast<unsigned>(blocks)), unsigned(Shape::kThreads), 0, context.stream}, args);
}

// Parts of the depth, each a block's work, for `blocks` blocks in all: where tiles are few, or the
// depth is all places of all samples. By the shapes alone.
template <class Shape, class T>
int64_t parts_of(const ConvolutionArgs<T>& args, int64_t least_terms, int64_t blocks,
                 int64_t results) {
  constexpr int64_t kMostSums = 1 << 26;
  return std::max<int64_t>(
      1, std::min({args.depth / least_terms, ceil_div(blocks, tiles_of<Shape>(args)),
                   kMostSums / results}));
}

// The product, by parts where there are several; their sums are added in order.
template <class T, class Shape, Part part>
void run_parts(ConvolutionArgs<T> args, int64_t parts, int64_t results, const Context& context) {
  constexpr int64_t kFewResults = 1 << 14;  // many parts of which are a long way for one thread
  if (parts == 1) return run_tiles<T, Shape, part>(args, context);
  args.part = static_cast<int>(
      ceil_div(ceil_div(int64_t{args.depth}, parts), int64_t{Shape::kDepth}) * Shape::kDepth);
  args.parts = ceil_div(args.depth, args.part);
  const Scratch partial(static_cast<size_t>(args.parts * results) * sizeof(T));
  T* const out = std::exchange(args.out, partial.template as<T>());
  args.part_out = results;
  run_tiles<T, Shape, part>(args, context);
  MatmulArgs<T> sum{};
  sum.out = out, sum.m = 1, sum.n = results;
  const int lane_bits = results < kFewResults && args.parts >= 64 ? 5 : 0;
  const auto blocks =
      static_cast<unsigned>(ceil_div(results << lane_bits, int64_t{kReduceThreads}));
  launch(matmul_sum<T>, {dim3(blocks), kReduceThreads, 0, context.stream},
         static_cast<const T*>(partial.template as<T>()), int64_t{args.parts}, lane_bits, sum);
}

// The elements of the input that are `stride` apart from element `first` on, in one dimension.
Phase phase_of(const WindowDim& dim, int64_t first) {
  const int64_t step = dim.stride / std::gcd(dim.stride, dim.dilation);
  Phase out{};
  out.first = counted(first), out.stride = counted(dim.stride);
  out.count = counted(ceil_div(dim.in - first, dim.stride));
  out.tap_step = counted(step), out.reach = counted(step * dim.dilation / dim.stride);
  for (int64_t tap = 0; tap < std::min(step, dim.kernel); ++tap)
    if (const int64_t place = first + dim.padding - tap * dim.dilation; place % dim.stride == 0) {
      out.tap = counted(tap), out.taps = counted(ceil_div(dim.kernel - tap, step));
      out.place = static_cast<int>(place / dim.stride);
    }
  return out;
}

// f(args) for each phase.
template <class T, class F>
void for_phases(ConvolutionArgs<T> args, const F& f) {
  const Convolution& s = args.shape;
  const auto phases = [&](int d) { return std::min(s.dim[d].stride, s.dim[d].in); };
  for (int64_t i = 0; i < phases(0) * phases(1) * phases(2); ++i) {
    args.phase[0] = phase_of(s.dim[0], i / phases(2) / phases(1));
    args.phase[1] = phase_of(s.dim[1], i / phases(2) % phases(1));
    args.phase[2] = phase_of(s.dim[2], i % phases(2));
    int64_t columns = s.batch, depth = s.group_filters();
    for (const Phase& phase : args.phase) columns *= phase.count, depth *= phase.taps;
    args.columns = counted(columns), args.depth = args.part = counted(depth);
    f(args);
  }
}

template <class T, class Shape>
void run_shape(Part part, const ConvolutionArgs<T>& args, const Context& context) {
  // Measured with few channels on an H100: below these numbers a block waits for memory.
  constexpr int64_t kLeastTerms = 64, kBlocks = 512;
  const Convolution& s = args.shape;
  const int64_t outputs = s.batch * s.filters * s.outputs(),
                weights = s.filters * int64_t{args.columns};
  switch (part) {
    case Part::output:
      return run_parts<T, Shape, Part::output>(
          args, parts_of<Shape>(args, kLeastTerms, kBlocks, outputs), outputs, context);
    case Part::input: {
      const int64_t inputs = s.batch * s.channels * s.inputs();
      return run_parts<T, Shape, Part::input>(
          args,
          args.columns * s.channels < inputs ? 1
                                             : parts_of<Shape>(args, kLeastTerms, kBlocks, inputs),
          inputs, context);
    }
    case Part::weight:
      return run_parts<T, Shape, Part::weight>(
          args, parts_of<Shape>(args, 2 * kLeastTerms, 2 * kBlocks, weights), weights, context);
  }
}

template <class T>
void run_product(Part part, const ConvolutionArgs<T>& args, const Context& context) {
  using Shapes = ConvolutionShapes<T>;
  if (args.rows <= 16)
    run_shape<T, typename Shapes::Wide>(part, args, context);
  else if (args.columns <= 64)
    run_shape<T, typename Shapes::Small>(part, args, context);
  else if (args.rows <= 64)
    run_shape<T, typename Shapes::Medium>(part, args, context);
  else
    run_shape<T, typename Shapes::Large>(part, args, context);
}

}  // namespace

void CudaBackend::convolution(ConvolutionPart part, const Convolution& shape, const Tensor& a,
                              const Tensor& b, const Tensor& bias, const Tensor& out) {
  if (convolves_by_cudnn()) return cudnn_convolution(part, shape, a, b, bias, out);
  const Context context(out);
  visit_floating("convolution", out.dtype(), [&]<class T>(TypeTag<T>) {
    const auto args = product_of<T>(
        part, shape, static_cast<const T*>(a.data_ptr()), static_cast<const T*>(b.data_ptr()),
        bias.defined() ? static_cast<const T*>(bias.data_ptr()) : nullptr, out.data_ptr<T>());
    const auto run = [&](const auto& product) { run_product<T>(part, product, context); };
    part == ConvolutionPart::input ? for_phases(args, run) : run(args);
  });
}

}  // namespace gradus::cuda
