// Runs the rung wgmma: describes operands to the tensor memory accelerator, and cuts sums into
// parts where tiles are few.
#include "gradus/cuda/ops/matmul/wgmma.h"

#include <atomic>
#include <limits>

#include "gradus/tensor/base/warning.h"

namespace gradus::cuda {
namespace {
bool is_hopper(const DeviceProperties& device) { return device.major == 9 && device.minor == 0; }
}  // namespace

std::string warning_without_wgmma(const DeviceProperties& device) {
  if (!is_hopper(device) || device.simulated) return "";
  return "matmul: this build of gradus lacks the kernels of compute capability 9.0, which the "
         "device \"" +
         device.name +
         "\" has. Products, convolutions and attention are slower without them. Configure with "
         "-DCMAKE_CUDA_ARCHITECTURES=90.";
}
}  // namespace gradus::cuda

// A compiler that does not optimize (-G) moves registers while products write them.
#if !defined(GRADUS_HOPPER) || defined(__CUDACC_DEBUG__)

namespace gradus::cuda {
bool built_with_wgmma() { return false; }
bool has_wgmma() {
  static std::atomic<bool> warned = false;
  const DeviceProperties& device = getDeviceProperties(current_device());
  if (is_hopper(device) && warns_again(warned)) warn(warning_without_wgmma(device));
  return false;
}
double wgmma_cost(const MatmulArgs<float>&, int64_t, int64_t) {
  has_wgmma();
  return std::numeric_limits<double>::infinity();
}
void wgmma_matmul(const MatmulArgs<float>&, int64_t, int64_t) {}
bool wgmma_matmul_half(const Tensor&, const Tensor&, const Tensor&, const Tensor&) {
  return has_wgmma();
}
}  // namespace gradus::cuda

#else

#include <algorithm>
#include <cstdlib>
#include <string>

#include "gradus/cuda/kernels/hopper/matmul_wgmma.cuh"
#include "gradus/cuda/kernels/hopper/matmul_wgmma_split.cuh"
#include "gradus/cuda/ops/matmul/sum_parts.h"
#include "gradus/cuda/runtime/context.h"
#include "gradus/cuda/runtime/device.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/cuda/runtime/launch.h"
#include "gradus/cuda/runtime/tensor_maps.h"

namespace gradus::cuda {

bool built_with_wgmma() { return true; }
bool has_wgmma() {
  static const std::string wanted = [] {
    const char* const value = std::getenv("GRADUS_WGMMA");
    return value ? value : "";
  }();
  const DeviceProperties& device = getDeviceProperties(current_device());
  return is_hopper(device) && (device.simulated ? wanted == "1" : wanted != "0");
}

namespace {
constexpr int64_t kMostCoordinate = std::numeric_limits<int>::max() - 1024;

// Matrices of 16 bits, one for each z, whose lines are contiguous. Strides are in elements.
struct BoxedMatrices {
  const void* data;
  bool brain;  // bfloat16
  int64_t width, lines, count;
  int64_t line, matrix;
};

CUtensorMap boxes_of(const BoxedMatrices& of) {
  const auto type = of.brain ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  return map_of(
      Boxes{of.data, type, 2, {of.width, of.lines, of.count}, {of.line, of.matrix}, {64, 64, 1}},
      "matmul", "set_matmul_kernel(\"tensor_cores\")");
}

// Blocks come in clusters, which take tile after tile.
dim3 clusters_of(int64_t blocks, int64_t tiles, int64_t multiprocessors) {
  return dim3(static_cast<unsigned>(blocks * std::min(tiles, multiprocessors / blocks)));
}

// --- float32
// The planes of an operand whose outer dimension has `outers` elements.
PlanesSource planes_source(const MatmulOperand<float>& x, int64_t outers, int64_t terms,
                           int64_t batches) {
  const bool along = x.along_outer;
  return {x.data,  x.batch == 0 ? 1 : batches, along ? terms : outers,   along ? outers : terms,
          x.batch, along ? x.depth : x.outer,  along ? x.outer : x.depth};
}
int64_t planes_pitch(const PlanesSource& source) { return ceil_div(source.count, int64_t{8}) * 8; }
int64_t planes_elements(const PlanesSource& source) {
  return 3 * source.batches * source.lines * planes_pitch(source);
}

// The tiles of 256 x 128 outputs, how many parts their sums are cut into, and the time of it.
struct SplitPlan {
  int64_t parts = 1, steps = 1;  // of 64 terms, a part
  double cost = std::numeric_limits<double>::infinity();
};

SplitPlan split_plan(const MatmulArgs<float>& args, int64_t batches, int64_t multiprocessors) {
  // Measured on an H100: steps, the start and end of a tile, planes, passes of their own.
  constexpr double kStep = 4.5e5, kTile = 6e5, kPlane = 0.29, kPass = 4e5, kSumEach = 0.4;
  const int64_t tiles = wgmma_tiles(args.m, args.n, batches, 256, 128);
  const int64_t steps = ceil_div(args.k, int64_t{64}), clusters = multiprocessors / 2;
  const double planes =
      static_cast<double>(planes_elements(planes_source(args.a, args.m, args.k, batches)) +
                          planes_elements(planes_source(args.b, args.n, args.k, batches)));
  SplitPlan best;
  for (int64_t parts = 1; parts <= std::min<int64_t>(32, steps / 4 + 1); ++parts) {
    const int64_t each = ceil_div(steps, parts);
    if (parts > 1 && (parts - 1) * each >= steps) continue;  // the last one would be empty
    const auto rounds = static_cast<double>(ceil_div(tiles * parts, clusters));
    double cost =
        rounds * (static_cast<double>(each) * kStep + kTile) + planes * kPlane + 2 * kPass;
    if (parts > 1)
      cost += kPass + kSumEach * static_cast<double>(args.m * args.n * batches * parts);
    if (cost < best.cost) best = {parts, each, cost};
    if (tiles * parts >= 4 * clusters) break;
  }
  return best;
}

// The planes of an operand in `to`, and the boxes that they are read in.
CUtensorMap make_planes(const PlanesSource& source, uint16_t* to) {
  const int64_t pitch = planes_pitch(source), units = planes_elements(source) / 24;
  launch_pdl(
      split_planes,
      {static_cast<unsigned>(std::min(ceil_div(units, int64_t{256}), int64_t{1} << 30)), 256},
      source, pitch, to);
  return boxes_of(
      {to, true, source.count, source.lines, 3 * source.batches, pitch, source.lines * pitch});
}

constexpr WgmmaSplitRun* kSplitRuns[2][2] = {
    {matmul_wgmma_split<false, false>, matmul_wgmma_split<false, true>},
    {matmul_wgmma_split<true, false>, matmul_wgmma_split<true, true>}};
}  // namespace

double wgmma_cost(const MatmulArgs<float>& args, int64_t batches, int64_t multiprocessors) {
  constexpr auto kNever = std::numeric_limits<double>::infinity();
  if (!has_wgmma() || std::max({args.m, args.n, args.k, 3 * batches * 32}) > kMostCoordinate)
    return kNever;
  // A sixteenth of the memory is what planes may take.
  const int64_t planes = planes_elements(planes_source(args.a, args.m, args.k, batches)) +
                         planes_elements(planes_source(args.b, args.n, args.k, batches));
  if (2 * planes > getDeviceProperties(current_device()).total_memory / 16) return kNever;
  return split_plan(args, batches, multiprocessors).cost;
}

void wgmma_matmul(const MatmulArgs<float>& args, int64_t batches, int64_t multiprocessors) {
  const PlanesSource a = planes_source(args.a, args.m, args.k, batches);
  const PlanesSource b = planes_source(args.b, args.n, args.k, batches);
  const SplitPlan plan = split_plan(args, batches, multiprocessors);
  // Both begin where boxes may.
  const int64_t first = ceil_div(planes_elements(a), int64_t{128}) * 128;
  const Scratch planes(2 * static_cast<size_t>(first + planes_elements(b)));
  auto* const to = planes.as<uint16_t>();
  WgmmaSplitArgs split{
      make_planes(a, to),        make_planes(b, to + first),   args,
      static_cast<int>(batches), static_cast<int>(plan.parts), static_cast<int>(plan.steps),
      a.batches == 1 ? 0 : 3,    b.batches == 1 ? 0 : 3};
  const int64_t outputs = args.m * args.n * batches;
  const Scratch partial(plan.parts > 1 ? static_cast<size_t>(outputs * plan.parts) * 4 : 0);
  if (plan.parts > 1) split.product.out = partial.as<float>(), split.product.bias = nullptr;
  const int64_t tiles = wgmma_tiles(args.m, args.n, batches, 256, 128);
  launch_pdl(kSplitRuns[args.a.along_outer][args.b.along_outer],
             {clusters_of(2, tiles * plan.parts, multiprocessors), WgmmaSplitTile::kThreads,
              WgmmaSplitTile::kSharedBytes},
             split);
  if (plan.parts == 1) return;
  MatmulArgs<float> sum = args;
  for (int64_t i = 0; i < batches; ++i) {
    sum_parts(partial.as<float>() + i * plan.parts * args.m * args.n, plan.parts, sum);
    sum.out += args.m * args.n;
  }
}

// --- Half types
namespace {
// x (B, ., .), of whose last two dimensions one is contiguous, and which of them. Whether TMA takes
// it.
bool boxed(const Tensor& x, int outer, int depth, BoxedMatrices& to, bool& along_outer) {
  const IntArrayRef sizes = x.sizes(), strides = x.strides();
  along_outer = strides[outer] == 1 && (strides[depth] != 1 || sizes[depth] == 1);
  const int inner = along_outer ? outer : depth, across = along_outer ? depth : outer;
  to = {x.data_ptr(), x.scalar_type() == kBFloat16,
        sizes[inner], sizes[across],
        sizes[0],     strides[across],
        strides[0]};
  if (sizes[across] == 1) to.line = ceil_div(sizes[inner], int64_t{8}) * 8;
  if (sizes[0] == 1 || strides[0] == 0) to.count = 1, to.matrix = to.line * to.lines;
  return strides[inner] == 1 && to.line % 8 == 0 && to.matrix % 8 == 0 && to.line >= to.width &&
         to.matrix > 0 && reinterpret_cast<uintptr_t>(to.data) % 16 == 0 &&
         (strides[0] != 0 || sizes[0] == 1) && x.numel() < kMostCoordinate * 8 &&
         std::max(to.width, to.lines) < kMostCoordinate;
}

template <class T, size_t kTile>
void run_half(const WgmmaArgs<T>& args, bool along_a, bool along_b) {
  constexpr WgmmaTileCost of = kWgmmaTiles[kTile];
  using Tile = WgmmaTile<of.height / of.blocks / 64, of.width, of.blocks>;
  constexpr WgmmaRun<T>* runs[2][2] = {
      {matmul_wgmma<T, Tile, false, false>, matmul_wgmma<T, Tile, false, true>},
      {matmul_wgmma<T, Tile, true, false>, matmul_wgmma<T, Tile, true, true>}};
  const int64_t tiles = wgmma_tiles(args.m, args.n, args.batches, of.height, of.width);
  const int64_t multiprocessors = getDeviceProperties(current_device()).multiprocessors;
  launch_pdl(runs[along_a][along_b],
             {clusters_of(of.blocks, tiles, multiprocessors), Tile::kThreads, Tile::kSharedBytes},
             args);
}
}  // namespace

bool wgmma_matmul_half(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out) {
  BoxedMatrices left, right, result;
  bool along_a, along_b, along_out;
  const int64_t m = a.sizes()[1], k = a.sizes()[2], n = b.sizes()[2], batches = a.sizes()[0];
  if (!has_wgmma() || out.scalar_type() != a.scalar_type() || !boxed(a, 1, 2, left, along_a) ||
      !boxed(b, 2, 1, right, along_b) || wgmma_tiles(m, n, batches, 64, 64) > kMostCoordinate ||
      (bias.defined() && bias.numel() > 1 && bias.strides()[0] != 1))
    return false;
  const bool boxes = boxed(out, 1, 2, result, along_out) && !along_out;
  const size_t tile =
      wgmma_tile(m, k, n, batches, getDeviceProperties(current_device()).multiprocessors);
  const auto run = [&]<class T>(TypeTag<T>) {
    const WgmmaArgs<T> args = {boxes_of(left),
                               boxes_of(right),
                               boxes ? boxes_of(result) : CUtensorMap{},
                               boxes ? nullptr : out.data_ptr<T>(),
                               bias.defined() ? bias.data_ptr<T>() : nullptr,
                               static_cast<int>(m),
                               static_cast<int>(n),
                               static_cast<int>(k),
                               static_cast<int>(batches)};
    [&]<size_t... i>(std::index_sequence<i...>) {
      ((i == tile ? run_half<T, i>(args, along_a, along_b) : void()), ...);
    }
    (std::make_index_sequence<kWgmmaTiles.size()>());
  };
  a.scalar_type() == kHalf ? run(TypeTag<Half>{}) : run(TypeTag<BFloat16>{});
  return true;
}

}  // namespace gradus::cuda

#endif
