// Backend::matmul on CUDA, with split-K: chooses the kernel of a product, its grid and the parts of
// its sum.
#include "gradus/cuda/ops/matmul.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "gradus/cuda/backend.h"
#include "gradus/cuda/kernels/matmul/coalesced.cuh"
#include "gradus/cuda/kernels/matmul/dot.cuh"
#include "gradus/cuda/kernels/matmul/flat.cuh"
#include "gradus/cuda/kernels/matmul/naive.cuh"
#include "gradus/cuda/kernels/matmul/narrow.cuh"
#include "gradus/cuda/kernels/matmul/register_1d.cuh"
#include "gradus/cuda/kernels/matmul/register_2d.cuh"
#include "gradus/cuda/kernels/matmul/tiled.cuh"
#include "gradus/cuda/kernels/matmul/vectorized.cuh"
#include "gradus/cuda/ops/cublas.h"
#include "gradus/cuda/ops/matmul/kernel.h"
#include "gradus/cuda/ops/matmul/parts.cuh"
#include "gradus/cuda/ops/matmul/wgmma.h"
#include "gradus/cuda/runtime/context.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/cuda/runtime/launch.h"
#include "gradus/cuda/runtime/named_choice.h"
#include "gradus/tensor/base/batch_invariant.h"

namespace gradus::cuda {

// --- The choice by name
namespace {
enum class Choice : size_t {
  automatic,
  naive,
  coalesced,
  tiled,
  register_1d,
  register_2d,
  vectorized,
  tensor_cores,
  wgmma,
  cublas
};
constexpr std::array<std::string_view, 10> kNames = {
    "automatic",   "naive",      "coalesced",    "tiled", "register_1d",
    "register_2d", "vectorized", "tensor_cores", "wgmma", "cublas"};

NamedChoice& matmul_choice() {
  static NamedChoice chosen("matmul", "GRADUS_MATMUL", kNames);
  return chosen;
}
}  // namespace

ArrayRef<std::string_view> matmul_kernels() { return kNames; }
std::string_view matmul_kernel() { return matmul_choice().name(); }
void set_matmul_kernel(std::string_view name) {
  const size_t place = matmul_choice().place_of("set_matmul_kernel", name);
  if (static_cast<Choice>(place) == Choice::cublas) need_cublas();
  matmul_choice().set(place);
}

void check_batch_invariant(std::string_view name) {
  check<NotImplementedError>(
      !gradus::detail::batch_invariant() || (name != "cublas" && name != "wgmma"),
      "matmul: the kernel '", name,
      "' adds in an order that depends on the batch, which setBatchInvariant(true) forbids; pick "
      "another with set_matmul_kernel(\"automatic\")");
}

// --- The kernels
namespace {
template <class T>
using Kernel = MatmulKernel<T>;

template <class T>
constexpr Kernel<T> kDot = {matmul_dot<T>, 1, 1, 32, 32};
template <class T>
constexpr Kernel<T> kTiled = {matmul_tiled<T>, 32, 32, 1024, 2, 0.15};
constexpr Kernel<double> kDouble2d = {matmul_register_2d<double, 4>, 64, 64, 256, 3, 0.5};

template <class Shape>
constexpr Kernel<float> vectorized(double speed) {
  return {matmul_vectorized<Shape>, Shape::kRows,     Shape::kCols,
          Shape::kThreads,          Shape::kResident, speed};
}
// rows, columns, depth of a block; rows, columns of a warp; of a thread; blocks a multiprocessor.
constexpr auto kLarge = vectorized<BlockShape<128, 256, 8, 64, 64, 16, 8, 1>>(0.80);
constexpr auto kMedium = vectorized<BlockShape<128, 128, 16, 64, 32, 8, 8, 2>>(0.76);
constexpr auto kSmall = vectorized<BlockShape<64, 64, 16, 32, 32, 8, 4, 4>>(0.60);
constexpr auto kTiny = vectorized<BlockShape<32, 32, 16, 16, 32, 4, 4, 8>>(0.30);
constexpr auto kTall = vectorized<BlockShape<128, 16, 16, 64, 16, 8, 4, 6>>(0.45);
constexpr auto kWide = vectorized<BlockShape<16, 128, 16, 16, 64, 4, 8, 6>>(0.45);

// Split-K for tall, narrow products.
template <class S>
constexpr Kernel<float> kNarrowOf = {.runs = matmul_narrow<S>,
                                     .rows = S::kRows,
                                     .cols = S::kCols,
                                     .threads = S::kThreads,
                                     .resident = 4 * S::kResident,
                                     .shared_bytes = S::kSharedBytes};
constexpr std::array<Kernel<float>, 6> kNarrow = {
    kNarrowOf<NarrowShape<2>>, kNarrowOf<NarrowShape<4>>,  kNarrowOf<NarrowShape<6>>,
    kNarrowOf<NarrowShape<8>>, kNarrowOf<NarrowShape<10>>, kNarrowOf<NarrowShape<12>>};
constexpr int64_t kNarrowTerms = 2048;  // at least, a part

// The same of rows and their columns.
template <class S>
constexpr Kernel<float> kFlatOf = {.runs = matmul_flat<S>,
                                   .rows = S::kRows,
                                   .cols = S::kCols,
                                   .threads = S::kThreads,
                                   .resident = 4 * S::kResident};
constexpr std::array<Kernel<float>, 3> kFlat = {kFlatOf<FlatShape<4>>, kFlatOf<FlatShape<8>>,
                                                kFlatOf<FlatShape<12>>};
constexpr int64_t kFlatTerms = 512;  // at least, a part

// The kernels that "automatic" picks from for products that fill a tile.
template <class T>
constexpr std::array<Kernel<T>, 1> kTiles = {kTiled<T>};
template <>
constexpr std::array<Kernel<double>, 2> kTiles<double> = {kDouble2d, kTiled<double>};
template <>
const std::array<Kernel<float>, 10> kTiles<float> = {
    kTensorCores[0], kTensorCores[1], kTensorCores[2], kLarge, kMedium,
    kTensorCores[3], kSmall,          kTiny,           kTall,  kWide};

[[noreturn]] void refuse(Choice name, ScalarType dtype) {
  fail<NotImplementedError>("matmul: the kernel '", kNames[static_cast<size_t>(name)],
                            "' multiplies no ", dtype,
                            "; pick another with set_matmul_kernel(\"automatic\")");
}

template <class T>
Kernel<T> rung(Choice name) {
  if (name == Choice::naive) return {matmul_naive<T>, 32, 32, 1024};
  if (name == Choice::coalesced) return {matmul_coalesced<T>, 32, 32, 1024};
  if (name == Choice::tiled) return kTiled<T>;
  if constexpr (std::is_floating_point_v<T>) {
    if (name == Choice::register_1d) return {matmul_register_1d<T>, 64, 64, 512};
  }
  if constexpr (std::is_same_v<T, double>) {
    if (name == Choice::register_2d) return kDouble2d;
  }
  if constexpr (std::is_same_v<T, float>) {
    if (name == Choice::register_2d) return {matmul_register_2d<float, 8>, 128, 128, 256};
    if (name == Choice::vectorized) return kLarge;
    if (name == Choice::tensor_cores) {
      check<NotImplementedError>(has_tensor_cores(),
                                 "matmul: the kernel 'tensor_cores' needs a GPU of compute "
                                 "capability 8.0 and code for it; "
                                 "pick another with set_matmul_kernel(\"automatic\")");
      return kTensorCores[0];
    }
  }
  refuse(name, dtype_of<T>);
}

// --- The choice by shape
template <class T>
struct Plan {
  Kernel<T> kernel;
  int64_t parts = 1;
};

// The number of parts to cut the terms into, so that every multiprocessor has blocks to run.
template <class T>
int64_t useful_parts(const Kernel<T>& kernel, const MatmulArgs<T>& args, int64_t batches,
                     int64_t multiprocessors, int64_t least_terms) {
  if (batches > 1) return 1;
  const int64_t fill = kernel.resident * multiprocessors / tiles(kernel, args);
  const int64_t wanted = std::max<int64_t>(1, std::min(fill, args.k / least_terms));
  // Some more or fewer, where no terms are left for a launch of their own.
  for (int64_t more = 0; wanted > 1 && more <= wanted / 3; ++more)
    for (const int64_t parts : {wanted + more, wanted - more})
      if (args.k % (kPartAlignment * parts) == 0) return parts;
  return wanted;
}

// The time that a plan takes, in the unit of MatmulKernel.
template <class T>
double cost(const Plan<T>& plan, const MatmulArgs<T>& args, int64_t batches,
            int64_t multiprocessors) {
  constexpr double kSecondPass = 4e5, kSecondPassEach = 0.4;
  const Kernel<T>& kernel = plan.kernel;
  const int64_t blocks = ceil_div(tiles(kernel, args) * batches * plan.parts, multiprocessors);
  const double outputs = static_cast<double>(blocks * kernel.rows * kernel.cols) / kernel.speed;
  const double terms = static_cast<double>(ceil_div(args.k, plan.parts));
  const double first = std::max(outputs, kernel.alone) * terms;
  if (plan.parts == 1) return first;
  return first + kSecondPass + kSecondPassEach * static_cast<double>(args.m * args.n * plan.parts);
}

// The cheapest tile. parts_of(kernel): another number of parts than 1 that may be cheaper.
template <class T, class F>
Plan<T> best_tile(const MatmulArgs<T>& args, int64_t batches, int64_t multiprocessors,
                  int64_t fewest, const F& parts_of) {
  Plan<T> best = {};
  double least = std::numeric_limits<double>::infinity();
  for (const Kernel<T>& kernel : kTiles<T>) {
    if (kernel.uses_tensor_cores && !has_tensor_cores()) continue;
    for (const int64_t parts : {fewest, parts_of(kernel)}) {
      const Plan<T> plan = {kernel, parts};
      const double its = cost(plan, args, batches, multiprocessors);
      if (its < least) least = its, best = plan;
    }
  }
  return best;
}

// Whether both add the terms of an output in the same order. Tensor cores add eight after eight,
// whatever the tile, and each group of warps has its own.
template <class T>
bool adds_alike(const Kernel<T>& a, const Kernel<T>& b) {
  return a.runs.at[0][0] == b.runs.at[0][0] ||
         (a.uses_tensor_cores && b.uses_tensor_cores && a.groups == b.groups);
}
// The cheapest of the kernels that add as one does.
template <class T>
Kernel<T> best_alike(const Kernel<T>& one, const MatmulArgs<T>& args, int64_t parts) {
  Kernel<T> best = one;
  for (const Kernel<T>& kernel : kTiles<T>)
    if (adds_alike(one, kernel) && cost<T>({kernel, parts}, args, 1, kPlannedMultiprocessors) <
                                       cost<T>({best, parts}, args, 1, kPlannedMultiprocessors))
      best = kernel;
  return best;
}

// How a product adds, by n and k alone: a kernel that adds so, and the parts. The best way for one
// row, for some or for many may be another one. The chosen way loses least against these three.
template <class T>
Plan<T> order_for(MatmulArgs<T> args) {
  constexpr int64_t kRows[] = {1, 256, 2048}, kTerms = 4096, kMostParts = 64, kLeastTerms = 64;
  const int64_t fewest = std::clamp<int64_t>(args.k / kTerms, 1, kMostParts);
  std::vector<Plan<T>> plans;
  for (const Kernel<T>& kernel : kTiles<T>)
    for (int64_t parts = fewest; parts <= kMostParts; ++parts)
      if ((!kernel.uses_tensor_cores || has_tensor_cores()) &&
          (parts == fewest ||
           (args.k % (kPartAlignment * parts) == 0 && args.k / parts >= kLeastTerms)))
        plans.push_back({kernel, parts});
  std::vector<double> losses(plans.size(), 0);
  for (const int64_t rows : kRows) {
    args.m = rows;
    std::vector<double> costs;
    for (const Plan<T>& plan : plans)
      costs.push_back(cost<T>({best_alike(plan.kernel, args, plan.parts), plan.parts}, args, 1,
                              kPlannedMultiprocessors));
    const double least = *std::min_element(costs.begin(), costs.end());
    for (size_t i = 0; i < plans.size(); ++i) losses[i] = std::max(losses[i], costs[i] / least);
  }
  return plans[static_cast<size_t>(std::min_element(losses.begin(), losses.end()) -
                                   losses.begin())];
}

// The plan of a product whose rows have sums of one order in every batch. A thread keeps the orders
// that it found last.
template <class T>
Plan<T> plan_without_rows(const MatmulArgs<T>& args) {
  struct Known {
    int64_t n, k;
    bool tensor_cores;
    Plan<T> order;
  };
  constexpr size_t kMostKnown = 64;
  thread_local std::vector<Known> known;
  thread_local size_t oldest = 0;
  const bool tensor_cores = has_tensor_cores();
  const auto is_it = [&](const Known& of) {
    return of.n == args.n && of.k == args.k && of.tensor_cores == tensor_cores;
  };
  auto found = std::find_if(known.begin(), known.end(), is_it);
  if (found == known.end()) {
    const Known made{args.n, args.k, tensor_cores, order_for(args)};
    if (known.size() < kMostKnown)
      found = known.insert(known.end(), made);
    else
      *(found = known.begin() + static_cast<std::ptrdiff_t>(oldest++ % kMostKnown)) = made;
  }
  const int64_t parts = found->order.parts;
  return {best_alike(found->order.kernel, args, parts), parts};
}

template <class T>
Plan<T> plan_for(const MatmulArgs<T>& args, int64_t batches, int64_t multiprocessors) {
  if (gradus::detail::batch_invariant()) return plan_without_rows(args);
  constexpr int64_t kFewTerms = 64, kManyTerms = 128;
  const bool tiny =
      batches * args.m * args.n <= kDot<T>.resident * multiprocessors && args.k <= kFewTerms;
  const bool vector = (args.m == 1 || args.n == 1) && !args.a.along_outer && !args.b.along_outer &&
                      args.k >= kManyTerms;
  if (tiny || vector) return {kDot<T>, useful_parts(kDot<T>, args, batches, multiprocessors, 2048)};

  if constexpr (std::is_same_v<T, float>) {
    // Where the large operand comes from memory.
    const DeviceProperties& device = getDeviceProperties(current_device());
    const auto from_memory = [&](int64_t outers) {
      return outers * args.k * int64_t{sizeof(float)} > device.l2_bytes;
    };
    const auto plan_of = [&](const Kernel<float>& kernel, int64_t least_terms) {
      return Plan<T>{kernel, useful_parts(kernel, args, batches, multiprocessors, least_terms)};
    };
    const auto along_terms = [](const MatmulOperand<float>& x) {
      return x.aligned && !x.along_outer;
    };
    if (args.n <= kNarrow.back().cols && args.k >= kNarrowTerms && from_memory(args.m) &&
        along_terms(args.a) && along_terms(args.b)) {
      const Kernel<float>& kernel = kNarrow[static_cast<size_t>(args.n - 1) / 2];
      if (kernel.shared_bytes <= device.shared_per_block_optin)
        return plan_of(kernel, kNarrowTerms);
    }
    if (args.m <= kFlat.back().rows && args.n % 4 == 0 && args.k >= kFlatTerms &&
        from_memory(args.n) && args.b.aligned && args.b.along_outer)
      return plan_of(kFlat[static_cast<size_t>(args.m - 1) / 4], kFlatTerms);
  }

  return best_tile(args, batches, multiprocessors, 1, [&](const Kernel<T>& kernel) {
    return useful_parts(kernel, args, batches, multiprocessors, 64);
  });
}

// --- The arguments
// x (batches, ., .), whose rows or columns are the dimension `outer`, and whose terms are `depth`.
template <class T>
MatmulOperand<T> operand(const Tensor& x, int outer, int depth) {
  const IntArrayRef sizes = x.sizes(), strides = x.strides();
  MatmulOperand<T> out = {x.data_ptr<T>(), strides[0], strides[outer],
                          strides[depth],  false,      false};
  // The stride of a dimension of size 1 has no meaning.
  constexpr int64_t kFar = std::numeric_limits<int64_t>::max();
  out.along_outer = (sizes[outer] > 1 ? std::abs(out.outer) : kFar) <
                    (sizes[depth] > 1 ? std::abs(out.depth) : kFar);
  constexpr int64_t kWidth = 16 / sizeof(T);
  const int64_t along = out.along_outer ? out.outer : out.depth;
  const int64_t across = out.along_outer ? out.depth : out.outer;
  out.aligned = along == 1 && across % kWidth == 0 && (sizes[0] == 1 || out.batch % kWidth == 0) &&
                reinterpret_cast<uintptr_t>(out.data) % 16 == 0;
  return out;
}

template <class T>
void run_by_shape(MatmulArgs<T> args, int64_t batches, int64_t multiprocessors) {
  const Plan<T> plan = plan_for(args, batches, multiprocessors);
  if constexpr (std::is_same_v<T, float>) {
    if (args.k > 0 && !gradus::detail::batch_invariant() &&
        wgmma_cost(args, batches, multiprocessors) < cost(plan, args, batches, multiprocessors))
      return wgmma_matmul(args, batches, multiprocessors);
  }
  if (plan.parts == 1) return run(plan.kernel, args, batches);
  run_in_parts(plan.kernel, args, batches, plan.parts);
}

template <class T>
MatmulArgs<T> args_of(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out) {
  return {operand<T>(a, 1, 2),
          operand<T>(b, 2, 1),
          bias.defined() ? bias.data_ptr<T>() : nullptr,
          bias.defined() ? bias.strides()[0] : 0,
          out.data_ptr<T>(),
          a.sizes()[1],
          b.sizes()[2],
          a.sizes()[2]};
}

template <class T>
void multiply(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out,
              int64_t multiprocessors) {
  MatmulArgs<T> args = args_of<T>(a, b, bias, out);
  int64_t batches = out.sizes()[0];
  // All batches share one b: their rows make one product.
  if (batches > 1 && args.b.batch == 0 && args.a.batch == args.m * args.a.outer) {
    args.m *= batches;
    batches = 1;
  }

  const auto name = static_cast<Choice>(matmul_choice().place());
  if (name == Choice::automatic || args.k == 0)  // without terms there is nothing to choose
    return run_by_shape(args, batches, multiprocessors);
  check_batch_invariant(matmul_kernel());
  if (name == Choice::cublas) {
    if constexpr (std::is_floating_point_v<T>) {
      cublas_matmul(args, batches);
      args.m *= batches;
      if (args.bias) sum_parts<T>(args.out, 1, args);
    } else {
      refuse(name, out.dtype());
    }
  } else if (name == Choice::wgmma && std::is_same_v<T, float>) {
    if constexpr (std::is_same_v<T, float>) {
      check<NotImplementedError>(std::isfinite(wgmma_cost(args, batches, multiprocessors)),
                                 "matmul: the kernel 'wgmma' needs a GPU of compute capability "
                                 "9.0 and code for it, and a sixteenth of its memory for planes of "
                                 "the operands; "
                                 "pick another with set_matmul_kernel(\"automatic\")");
      wgmma_matmul(args, batches, multiprocessors);
    }
  } else {
    run(rung<T>(name), args, batches);
  }
}

// Whether the kernel of the product has summed up a's rows, too.
bool multiply_and_sum(const Tensor& a, const Tensor& b, const Tensor& out, const Tensor& sums,
                      int64_t multiprocessors) {
  if (out.dtype() != kFloat || uses_tf32(a, out) ||
      static_cast<Choice>(matmul_choice().place()) != Choice::automatic)
    return false;
  MatmulArgs<float> args = args_of<float>(a, b, Tensor(), out);
  const Plan<float> plan = plan_for(args, 1, multiprocessors);
  if (!plan.kernel.sums_rows || plan.parts > 1) return false;
  if (!gradus::detail::batch_invariant() &&
      wgmma_cost(args, 1, multiprocessors) < cost(plan, args, 1, multiprocessors))
    return false;
  args.row_sums = sums.data_ptr<float>();
  run(plan.kernel, args, 1);
  return true;
}
}  // namespace

void CudaBackend::matmul_sums(const Tensor& a, const Tensor& b, const Tensor& out,
                              const Tensor& sums) {
  if (a.dtype() == kHalf || a.dtype() == kBFloat16) {
    const Context context(out);
    return matmul_half_sums(a, b, out, sums);
  }
  if (!multiply_and_sum(a, b, out, sums, Context(out).multiprocessors))
    Backend::matmul_sums(a, b, out, sums);
}

// Half types are taken too, with out and bias of that type or Float.
void CudaBackend::matmul(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out) {
  if (out.numel() == 0) return;
  const Context context(out);
  if (a.dtype() == kHalf || a.dtype() == kBFloat16) return matmul_half(a, b, bias, out);
  switch (out.dtype()) {
    case kFloat:
      if (matmul_tf32(a, b, bias, out)) return;
      return multiply<float>(a, b, bias, out, context.multiprocessors);
    case kDouble:
      return multiply<double>(a, b, bias, out, context.multiprocessors);
    case kLong:
      return multiply<int64_t>(a, b, bias, out, context.multiprocessors);
    default:
      fail<TypeError>("matmul: dtype ", out.dtype(), " is not supported; convert with .to(kFloat)");
  }
}

}  // namespace gradus::cuda
