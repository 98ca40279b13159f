// Runs convolutions by wgmma: describes their tensors to the tensor memory accelerator, and chooses
// tiles.
#include "gradus/cuda/ops/windows/convolution_wgmma.h"

#include "gradus/cuda/ops/cudnn.h"
#include "gradus/cuda/ops/matmul/wgmma.h"

// A compiler that does not optimize (-G) moves registers while products write them.
#if !defined(GRADUS_HOPPER) || defined(__CUDACC_DEBUG__)

namespace gradus::cuda {
template <class T>
bool wgmma_convolution(ConvolutionPass, const Convolution&, const std::vector<ChannelsLastArgs<T>>&,
                       const Tensor&, double) {
  return false;
}
bool split_weight_gradient(const Convolution&, const Tensor&, const Tensor&, const Tensor&) {
  return false;
}

#else

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "gradus/cuda/kernels/hopper/convolution_wgmma.cuh"
#include "gradus/cuda/kernels/hopper/convolution_wgmma_weight.cuh"
#include "gradus/cuda/kernels/hopper/convolution_wgmma_weight_split.cuh"
#include "gradus/cuda/kernels/hopper/convolution_wgmma_weight_tf32.cuh"
#include "gradus/cuda/ops/windows/convolution_channels_last.cuh"
#include "gradus/cuda/runtime/context.h"
#include "gradus/cuda/runtime/device.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/cuda/runtime/launch.h"
#include "gradus/cuda/runtime/tensor_maps.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::cuda {
namespace {

// Floats are rounded to TF32 as they are copied to shared memory, and stay as they are else.
template <class T>
constexpr CUtensorMapDataType type_of(bool rounds) {
  if (std::is_same_v<T, BFloat16>) return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  if (std::is_same_v<T, Half>) return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  return rounds ? CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 : CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
}
// A model of an H100, in seconds: a step of 128 bytes of two blocks of a multiprocessor, or of one
// alone, and what else a tile and a launch take. It decides by the shapes alone, so that every
// Hopper adds in the same order. Fitted to 26 shapes of ResNet-50 and ResNet-18: mean error 0.14;
// those of half types' weights to 34 of ResNet-50 and MobileNetV2, 0.2.
struct WgmmaTimes {
  double pair, alone, tile, launch;
};
constexpr WgmmaTimes kNarrow = {0.68e-6, 0.4e-6, 0.68e-6, 5.7e-6};
// One block a multiprocessor.
constexpr WgmmaTimes kWide = {0.86e-6, 0.43e-6, 2.3e-6, 4e-6};
constexpr WgmmaTimes kWidest = {1.22e-6, 0.61e-6, 4e-6, 4e-6};
constexpr WgmmaTimes kNarrowWeight = {0.48e-6, 0.33e-6, 0, 2.9e-6};
constexpr WgmmaTimes kWideWeight = {0.75e-6, 0.55e-6, 2e-6, 0};
constexpr WgmmaTimes kLoneWeight = {0.96e-6, 0.48e-6, 1.2e-6, 0};
constexpr WgmmaTimes kTf32Weight = {1.6e-6, 0.8e-6, 1e-6, 6e-6};
constexpr WgmmaTimes kWideSplit = {5.2e-6, 2.6e-6, 2e-6, 8e-6};
constexpr WgmmaTimes kNarrowSplit = {3.6e-6, 1.8e-6, 2e-6, 8e-6};
constexpr int64_t kMultiprocessors = 132;

// `tiles` for `at_once` places, each of which takes two at a time.
double time_of(const WgmmaTimes& of, int64_t tiles, int64_t at_once, int64_t steps) {
  const int64_t rounds = ceil_div(tiles, at_once);
  const auto count = static_cast<double>(steps);
  return of.launch + static_cast<double>(rounds / 2) * (count * of.pair + 2 * of.tile) +
         static_cast<double>(rounds % 2) * (count * of.alone + of.tile);
}

template <class Described>
CUtensorMap described(const Described& tensor) {
  return map_of(tensor, "convolution", "set_convolution_kernel(\"large_tiles\")");
}
// Lines of boxes are of contiguous elements.
template <class T>
CUtensorMap boxes_of(const T* data, std::array<int64_t, 4> sizes, std::array<int64_t, 3> strides,
                     std::array<int, 4> box, bool rounds = true) {
  return described(Boxes{data, type_of<T>(rounds), sizeof(T), sizes, strides, box});
}

// The same dimension for the accelerator, which knows no dimension without taps.
GatheredDim with_a_tap(GatheredDim dim) {
  if (dim.taps == 0) dim.rows = 1, dim.first = 0, dim.reach = 0;
  return dim;
}
int upper_corner(const GatheredDim& dim) {
  return lower_corner(dim) + (dim.rows - 1) * dim.step - (dim.size - 1);
}
bool reaches(const GatheredDim& of) {
  const GatheredDim dim = with_a_tap(of);
  const auto corner = [](int at) { return at >= -128 && at <= 127; };
  return corner(lower_corner(dim)) && corner(upper_corner(dim)) && dim.step <= 8 &&
         dim.out_step <= 8 && std::max(dim.taps - 1, 0) * std::abs(dim.reach) <= 255;
}
template <class T>
CUtensorMap columns_of(const ChannelsLastArgs<T>& product, int64_t samples, int pixels) {
  const GatheredDim down = with_a_tap(product.dim[0]), across = with_a_tap(product.dim[1]);
  return described(PixelColumns{product.gathered,
                                type_of<T>(true),
                                sizeof(T),
                                {product.channels, across.size, down.size, samples},
                                int64_t{product.pitch} * vector_width<T>,
                                {lower_corner(across), lower_corner(down)},
                                {upper_corner(across), upper_corner(down)},
                                {across.step, down.step},
                                pixels,
                                128 / static_cast<int>(sizeof(T))});
}

// A phase of the input's gradient that no tap reaches.
template <class T>
bool has_nothing_to_add(const ChannelsLastArgs<T>& of) {
  return of.adds && of.dim[0].taps * of.dim[1].taps == 0;
}

// The places of a phase in the result.
template <class T>
CUtensorMap result_pixels(const ChannelsLastArgs<T>& product, int64_t samples) {
  const GatheredDim &down = product.dim[0], &across = product.dim[1];
  const auto upper = [](const GatheredDim& dim) {
    return dim.out_first + (dim.rows - 1) * dim.out_step - (dim.out - 1);
  };
  return described(PixelColumns{product.out,
                                type_of<T>(false),
                                sizeof(T),
                                {product.columns, across.out, down.out, samples},
                                product.columns,
                                {across.out_first, down.out_first},
                                {upper(across), upper(down)},
                                {across.out_step, down.out_step},
                                64,
                                128 / static_cast<int>(sizeof(T))});
}

template <class T, int N, bool kAcross>
void run_tiles(const ConvolutionWgmmaArgs<T>& args) {
  using Tile = ConvolutionWgmmaTile<T, N>;
  const int64_t tiles =
      ceil_div(int64_t{args.rows}, int64_t{256}) * ceil_div(int64_t{args.columns}, int64_t{N});
  const int64_t clusters = int64_t{getDeviceProperties(current_device()).multiprocessors} *
                           Tile::kBlocks / Tile::kCluster;
  launch_pdl(
      convolution_wgmma<T, N, kAcross>,
      {static_cast<unsigned>(2 * std::min(tiles, clusters)), Tile::kThreads, Tile::kSharedBytes},
      args);
}

// The weight as (channels, taps, filters).
Tensor turned_weight(const Tensor& weight, int64_t filters) {
  const IntArrayRef by = weight.sizes();
  const Tensor out = raw::empty({by[1], by[2], by[3], filters}, weight.scalar_type(),
                                weight.device(), "convolution");
  if (filters > by[0]) raw::fill_(raw::narrow(out, 3, by[0], filters - by[0]), 0);
  raw::copy_(raw::as_strided(out, {by[0], by[1], by[2], by[3]},
                             {1, by[2] * by[3] * filters, by[3] * filters, filters}, 0),
             weight);
  return out;
}

template <class T, int N>
void run_products(ConvolutionPass pass, const Convolution& shape,
                  const std::vector<ChannelsLastArgs<T>>& products, const Tensor& turned) {
  using Tile = ConvolutionWgmmaTile<T, N>;
  for (const ChannelsLastArgs<T>& of : products) {
    const int64_t taps = int64_t{of.dim[0].weight} * of.dim[1].weight;
    ConvolutionWgmmaArgs<T> args{};
    args.dim[0] = of.dim[0], args.dim[1] = of.dim[1], args.bias = of.bias;
    args.rows = of.rows, args.columns = of.columns, args.channels = of.channels;
    args.gathered = columns_of(of, shape.batch, Tile::kRows);
    const auto weights = [&](const T* data, int64_t lines, std::array<int, 4> box, int64_t inner) {
      return boxes_of<T>(data, {inner, taps, lines}, {inner, taps * inner}, box);
    };
    if (turned.defined())
      args.weight = weights(static_cast<const T*>(turned.data_ptr()), of.columns,
                            {Tile::kLine, 1, N / 2}, of.channels);
    else if (pass == ConvolutionPass::fprop)
      args.weight = weights(of.other, of.columns, {Tile::kLine, 1, N / 2}, of.channels);
    else
      args.weight = weights(of.other, of.lines, {64, 1, 32}, of.tap_pitch);
    if (has_nothing_to_add(of)) continue;
    args.in_order = of.dim[0].out_step == 1 && of.dim[1].out_step == 1, args.adds = of.adds;
    args.out = args.in_order ? boxes_of<T>(of.out, {of.columns, of.rows, 1},
                                           {of.columns, int64_t{of.columns} * of.rows},
                                           {Tile::kLine, 64, 1}, false)
                             : result_pixels(of, shape.batch);
    if constexpr (is_half<T>)
      if (pass == ConvolutionPass::dgrad) {
        run_tiles<T, N, true>(args);
        continue;
      }
    run_tiles<T, N, false>(args);
  }
}

// One way to make the output, or the gradient of the input: by tiles of so many columns.
template <class T>
struct ProductWay {
  int columns;
  WgmmaTimes times;
  void (*run)(ConvolutionPass, const Convolution&, const std::vector<ChannelsLastArgs<T>>&,
              const Tensor& turned);

  double time(const std::vector<ChannelsLastArgs<T>>& products) const {
    double sum = 0;
    for (const ChannelsLastArgs<T>& of : products)
      if (!has_nothing_to_add(of))
        sum += time_of(times, int64_t{ceil_div(of.rows, 256)} * ceil_div(of.columns, columns),
                       kMultiprocessors / 2,
                       int64_t{of.dim[0].taps} * of.dim[1].taps *
                           ceil_div(of.channels, 128 / static_cast<int>(sizeof(T))));
    return sum;
  }
};
template <class T>
constexpr ProductWay<T> kProductWays[] = {{256, kWidest, run_products<T, 256>},
                                          {128, kWide, run_products<T, 128>},
                                          {64, kNarrow, run_products<T, 64>}};

// One way to make the gradient of a weight: a kernel, and its tiles.
template <class Args>
struct WeightWay {
  void (*kernel)(Args);
  WgmmaTimes times;
  int rows, boxes, line, places;  // boxes of columns in a tile, of `line` channels each
  int resident, threads, shared_bytes;
};
template <class Tile, class Args>
constexpr WeightWay<Args> way_of(void (*kernel)(Args), const WgmmaTimes& times) {
  return {kernel,        times,           Tile::kRows,    Tile::kBoxesB,     Tile::kLine,
          Tile::kPlaces, Tile::kResident, Tile::kThreads, Tile::kSharedBytes};
}
template <class T>
constexpr auto kWeightWays = std::array{
    way_of<WeightWgmmaTile<64, 2>>(convolution_wgmma_weight<T, 64, 2>, kNarrowWeight),
    way_of<WeightWgmmaTile<64, 1>>(convolution_wgmma_weight<T, 64, 1>, kNarrowWeight),
    way_of<WeightWgmmaTile<128, 2>>(convolution_wgmma_weight<T, 128, 2>, kWideWeight),
    way_of<WeightWgmmaTile<128, 2, 1>>(convolution_wgmma_weight<T, 128, 2, 1>, kLoneWeight)};
template <>
constexpr auto kWeightWays<float> =
    std::array{way_of<WeightTf32Tile<2>>(convolution_wgmma_weight_tf32<2>, kTf32Weight),
               way_of<WeightTf32Tile<1>>(convolution_wgmma_weight_tf32<1>, kTf32Weight)};
// Exact gradients: a float is three planes.
constexpr std::array kSplitWays = {
    way_of<WeightSplitTile<2>>(convolution_wgmma_weight_split<2>, kWideSplit),
    way_of<WeightSplitTile<1>>(convolution_wgmma_weight_split<1>, kNarrowSplit)};

// A way, and into how many parts it cuts the places.
template <class Args>
struct WeightPlan {
  const WeightWay<Args>* way = nullptr;
  int parts = 1;
  double time = std::numeric_limits<double>::infinity();
};
template <class T, class Args, size_t kCount>
WeightPlan<Args> weight_plan(const ChannelsLastArgs<T>& of, int taps,
                             const std::array<WeightWay<Args>, kCount>& ways) {
  // A single tile fills the device in as many parts as blocks fit at once.
  constexpr int kLeastSteps = 8, kMostParts = 2 * kMultiprocessors;
  // Seconds of a second pass, and of each number that it reads and that was written for it.
  constexpr double kOfPass = 3.5e-6, kOfSum = 8 / 4.4e12;
  const double results = static_cast<double>(of.rows) * taps * of.channels;
  WeightPlan<Args> best;
  for (const WeightWay<Args>& way : ways) {
    const int steps = ceil_div(of.depth, way.places);
    const int boxes = taps * ceil_div(of.channels, way.line);
    const int64_t tiles = int64_t{ceil_div(of.rows, way.rows)} * ceil_div(boxes, way.boxes);
    const int most = std::clamp(steps / kLeastSteps, 1, kMostParts);
    for (int wanted = 1; wanted <= most; ++wanted) {
      const int part = ceil_div(steps, wanted), parts = ceil_div(steps, part);
      double time = time_of(way.times, tiles * parts, kMultiprocessors, part);
      if (parts > 1) time += kOfPass + results * parts * kOfSum;
      if (time < best.time) best = {&way, parts, time};
    }
  }
  return best;
}

// Runs a way whose args have all but how the places are cut. Where they are, another kernel adds
// the parts. wide: if not null, gets the results in float32, not args.out.
template <class T, class Args>
void run_weight(const WeightPlan<Args>& plan, Args args, float* wide) {
  const WeightWay<Args>& way = *plan.way;
  const int parts = plan.parts, taps = args.dim[0].taps * args.dim[1].taps;
  const int steps = ceil_div(args.places, way.places);
  const int64_t tiles = int64_t{ceil_div(taps * ceil_div(args.channels, way.line), way.boxes)} *
                        ceil_div(args.rows, way.rows) * parts;
  const int64_t blocks =
      int64_t{getDeviceProperties(current_device()).multiprocessors} * way.resident;
  MatmulArgs<float, T> sum{};
  sum.out = args.out, sum.m = int64_t{args.rows} * taps, sum.n = args.channels;
  const Scratch partial(parts > 1 ? static_cast<size_t>(sum.m * sum.n * parts) * 4 : 0);
  args.parts = parts, args.part = ceil_div(steps, parts);
  args.partial = parts > 1 ? partial.as<float>() : wide;
  launch_pdl(way.kernel,
             {dim3(static_cast<unsigned>(std::min(tiles, blocks))),
              static_cast<unsigned>(way.threads), static_cast<size_t>(way.shared_bytes)},
             args);
  if (parts > 1) add_parts(partial.as<float>(), parts, sum, wide);
}

template <class T>
void run_weight(const WeightPlan<WeightWgmmaArgs<T>>& plan, const ChannelsLastArgs<T>& of,
                int64_t samples) {
  const WeightWay<WeightWgmmaArgs<T>>& way = *plan.way;
  WeightWgmmaArgs<T> args{};
  args.dim[0] = of.dim[0], args.dim[1] = of.dim[1];
  args.rows = of.rows, args.channels = args.gathered_plane = of.channels, args.places = of.depth;
  args.grad = boxes_of<T>(of.other, {of.rows, of.depth, 1},
                          {of.other_pitch, of.other_pitch * of.depth}, {way.line, way.places, 1});
  args.gathered = columns_of(of, samples, way.places);
  args.out = of.out;
  run_weight<T>(plan, args, of.wide);
}

// The planes of x, a contiguous tensor of float32, with a pitch of `pitch` channels.
void make_planes(const Tensor& x, int64_t pixels, int64_t pitch, uint16_t* to) {
  const int64_t samples = x.sizes()[0], channels = x.sizes()[1];
  const int64_t blocks =
      samples * ceil_div(pixels, int64_t{kSplitPixels}) * ceil_div(pitch, int64_t{kSplitChannels});
  launch_pdl(
      split_channels, {dim3(static_cast<unsigned>(blocks)), kSplitThreads},
      ChannelsSource{x.data_ptr<float>(), counted(samples), counted(channels), counted(pixels)},
      counted(pitch), to);
}
}  // namespace

bool split_weight_gradient(const Convolution& shape, const Tensor& grad, const Tensor& input,
                           const Tensor& out) {
  if (!has_wgmma() || chosen_tile() || shape.groups > 1 || shape.spatial > 2) return false;
  const WindowDim &down = shape.dim[kSpatial - 2], &across = shape.dim[kSpatial - 1];
  const int64_t pixels = down.in * across.in, outputs = down.out * across.out;
  const auto whole = [](int64_t count) { return ceil_div(count, int64_t{8}) * 8; };
  const int64_t pitch = whole(shape.channels), grad_pitch = whole(shape.filters);
  ChannelsLastArgs<BFloat16> of{};
  of.channels = counted(3 * pitch);
  of = channels_last_products(ConvolutionPass::wgrad, shape, of)[0];
  if (of.depth == 0 || !reaches(of.dim[0]) || !reaches(of.dim[1])) return false;

  // Seconds of an element of the planes, and of a multiply-add of the kernel by mma.sync.
  constexpr double kOfPlanes = 10 / 2e12, kOfOthers = 2 / 30e12;
  const auto taps = static_cast<int>(shape.taps());
  of.channels = counted(shape.channels);
  WeightPlan plan = weight_plan(of, taps, kSplitWays);
  const int64_t of_input = shape.batch * pixels * pitch,
                of_grad = shape.batch * outputs * grad_pitch;
  // A sixteenth of the memory is what planes may take.
  if (6 * (of_input + of_grad) > getDeviceProperties(current_device()).total_memory / 16)
    return false;
  plan.time += static_cast<double>(of_input + of_grad) * kOfPlanes;
  if (!convolves_by_wgmma() && plan.time > static_cast<double>(out.numel()) * of.depth * kOfOthers)
    return false;

  const Context context(out);
  const int64_t first = ceil_div(3 * of_input, int64_t{64}) * 64;  // where maps may begin
  const Scratch planes(2 * static_cast<size_t>(first + 3 * of_grad));
  auto* const to = planes.as<uint16_t>();
  make_planes(input, pixels, pitch, to);
  make_planes(grad, outputs, grad_pitch, to + first);
  of.channels = counted(3 * pitch), of.pitch = of.channels / vector_width<BFloat16>;
  of.gathered = reinterpret_cast<const BFloat16*>(to);
  WeightSplitArgs args{};
  args.dim[0] = of.dim[0], args.dim[1] = of.dim[1];
  args.rows = of.rows, args.channels = counted(shape.channels), args.places = of.depth;
  args.grad_plane = counted(grad_pitch), args.gathered_plane = counted(pitch);
  args.grad = boxes_of(reinterpret_cast<const BFloat16*>(to + first), {3 * grad_pitch, of.depth, 1},
                       {3 * grad_pitch, 3 * grad_pitch * of.depth}, {64, 64, 1});
  args.gathered = columns_of(of, shape.batch, 64);
  args.grad_data = grad.data_ptr<float>(), args.input_data = input.data_ptr<float>();
  args.out = out.data_ptr<float>();
  run_weight<float>(plan, args, nullptr);
  return true;
}

template <class T>
bool wgmma_convolution(ConvolutionPass pass, const Convolution& shape,
                       const std::vector<ChannelsLastArgs<T>>& products, const Tensor& weight,
                       double time_of_others) {
  if (!has_wgmma() || chosen_tile()) return false;
  if (convolves_by_wgmma()) time_of_others = std::numeric_limits<double>::infinity();
  constexpr int kUnit = 16 / sizeof(T);
  for (const ChannelsLastArgs<T>& of : products)
    if (!of.whole_units || of.columns % kUnit != 0 || !reaches(of.dim[0]) || !reaches(of.dim[1]))
      return false;
  if (pass == ConvolutionPass::wgrad) {
    const ChannelsLastArgs<T>& of = products[0];
    const WeightPlan plan = weight_plan(of, of.dim[0].taps * of.dim[1].taps, kWeightWays<T>);
    if (of.channels != of.out_channels || plan.time > time_of_others) return false;
    run_weight(plan, of, shape.batch);
    return true;
  }
  const auto* const way = std::ranges::min_element(
      kProductWays<T>, {}, [&](const ProductWay<T>& each) { return each.time(products); });
  // Others would need another pass to add.
  if (!products[0].adds && way->time(products) > time_of_others) return false;
  Tensor turned;
  if (!is_half<T> && pass == ConvolutionPass::dgrad)
    turned = turned_weight(weight, products[0].channels);
  way->run(pass, shape, products, turned);
  return true;
}

#endif

template bool wgmma_convolution(ConvolutionPass, const Convolution&,
                                const std::vector<ChannelsLastArgs<Half>>&, const Tensor&, double);
template bool wgmma_convolution(ConvolutionPass, const Convolution&,
                                const std::vector<ChannelsLastArgs<BFloat16>>&, const Tensor&,
                                double);
template bool wgmma_convolution(ConvolutionPass, const Convolution&,
                                const std::vector<ChannelsLastArgs<float>>&, const Tensor&, double);

}  // namespace gradus::cuda
