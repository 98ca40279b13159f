// Backend::convolution on CUDA: the product that a part is, its tile, and how its depth is cut up.
#include "gradus/cuda/kernels/windows/convolution.cuh"

#include <limits>
#include <utility>

#include "gradus/cuda/backend.h"
#include "gradus/cuda/kernels/matmul_sum.cuh"
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
  const bool of_input = part == Part::input;
  ConvolutionArgs<T> args{};
  args.shape = s;
  for (int d = 0; d < kSpatial; ++d)
    args.gathered[d] = {counted(of_input ? s.dim[d].out : s.dim[d].in),
                        of_input ? static_cast<int>(s.dim[d].stride) : 1};
  args.linear = args.gathered[0].spread * args.gathered[1].spread * args.gathered[2].spread == 1;
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
      args.columns = counted(s.batch * s.inputs());
      args.depth = counted(s.group_filters() * s.taps());
      args.a_row = s.taps(), args.out_row = s.inputs();
      break;
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

// The gradient of a weight sums over all places of all samples: so many terms are cut up, and the
// sums of the parts added in order, by the shapes alone.
template <class T, class Shape>
void run_weight(ConvolutionArgs<T> args, const Context& context) {
  constexpr int64_t kLeastTerms = 128, kBlocks = 1024, kMostSums = 1 << 26;
  constexpr int64_t kFewResults = 1 << 14;  // many parts of which are a long way for one thread
  const int64_t results = args.shape.filters * int64_t{args.columns};
  const int64_t parts = std::max<int64_t>(
      1, std::min({args.depth / kLeastTerms, ceil_div(kBlocks, tiles_of<Shape>(args)),
                   kMostSums / results}));
  if (parts == 1) return run_tiles<T, Shape, Part::weight>(args, context);
  args.part = static_cast<int>(
      ceil_div(ceil_div(int64_t{args.depth}, parts), int64_t{Shape::kDepth}) * Shape::kDepth);
  args.parts = ceil_div(args.depth, args.part);
  const Scratch partial(static_cast<size_t>(args.parts * results) * sizeof(T));
  T* const out = std::exchange(args.out, partial.template as<T>());
  args.part_out = results;
  run_tiles<T, Shape, Part::weight>(args, context);
  MatmulArgs<T> sum{};
  sum.out = out, sum.m = args.shape.filters, sum.n = args.columns;
  const int lane_bits = results < kFewResults && args.parts >= 64 ? 5 : 0;
  const auto blocks =
      static_cast<unsigned>(ceil_div(results << lane_bits, int64_t{kReduceThreads}));
  launch(matmul_sum<T>, {dim3(blocks), kReduceThreads, 0, context.stream},
         static_cast<const T*>(partial.template as<T>()), int64_t{args.parts}, lane_bits, sum);
}

template <class T, class Shape>
void run_shape(Part part, const ConvolutionArgs<T>& args, const Context& context) {
  switch (part) {
    case Part::output:
      return run_tiles<T, Shape, Part::output>(args, context);
    case Part::input:
      return run_tiles<T, Shape, Part::input>(args, context);
    case Part::weight:
      return run_weight<T, Shape>(args, context);
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
  const Context context(out);
  visit_floating("convolution", out.dtype(), [&]<class T>(TypeTag<T>) {
    run_product<T>(part,
                   product_of<T>(part, shape, static_cast<const T*>(a.data_ptr()),
                                 static_cast<const T*>(b.data_ptr()),
                                 bias.defined() ? static_cast<const T*>(bias.data_ptr()) : nullptr,
                                 out.data_ptr<T>()),
                   context);
  });
}

}  // namespace gradus::cuda
