// Backend::convolution on CUDA: the product that a part is, its tile, and how its depth is cut up.
#include "gradus/cuda/kernels/windows/convolution.cuh"

#include <algorithm>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "gradus/cuda/backend.h"
#include "gradus/cuda/ops/cudnn.h"
#include "gradus/cuda/ops/matmul/kernel.h"
#include "gradus/cuda/ops/windows/convolution_direct.h"
#include "gradus/cuda/ops/windows/convolution_kernel.h"
#include "gradus/cuda/ops/windows/convolution_wgmma.h"
#include "gradus/cuda/ops/windows/depthwise.h"
#include "gradus/cuda/runtime/context.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/tensor/base/precision.h"
#include "gradus/tensor/raw/raw.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

namespace {

using Part = ConvolutionPass;

// rows, columns, depth of a block; rows, columns of a warp; of a thread; blocks a multiprocessor.
template <class T>
struct ConvolutionShapes {
  using Square = BlockShape<64, 64, 8, 32, 32, 8, 4, 4>;
  using Wide = BlockShape<16, 128, 8, 16, 32, 4, 4, 4>;
};
template <>
struct ConvolutionShapes<double> {
  using Square = BlockShape<64, 64, 8, 32, 16, 4, 4, 2>;
  using Wide = BlockShape<16, 128, 8, 16, 32, 4, 4, 2>;
};

// The tensors of a convolution, in the order of Backend::convolution.
template <class T>
struct Operands {
  const T *first, *second, *bias;
  T *out = nullptr, *sums = nullptr;  // sums: of the rows of a
  // If not null, get the results of half types in float32, not out and sums.
  Computed<T>*wide = nullptr, *wide_sums = nullptr;

  bool has_sums() const { return sums || wide_sums; }

  void give(Part part, ConvolutionArgs<T>& args) const {
    const bool of_weight = part == Part::wgrad;
    args.a = of_weight ? first : second, args.b = of_weight ? second : first;
    args.bias = bias, args.out = out;
  }
};

template <class T>
ConvolutionArgs<T> product_of(Part part, const Convolution& s, const Operands<T>& operands) {
  ConvolutionArgs<T> args{};
  operands.give(part, args);
  args.shape = s;
  for (int d = 0; d < kSpatial; ++d) {
    const WindowDim& w = s.dim[d];
    args.gathered[d] = counted(part == Part::dgrad ? w.out : w.in);
    counted(w.in + 2 * w.padding);  // steps are no longer than that
  }
  const int64_t taps = s.group_channels() * s.taps();
  args.parts = 1;
  switch (part) {
    case Part::fprop:
      args.rows = counted(s.group_filters());
      args.columns = counted(s.batch * s.outputs());
      args.depth = counted(taps);
      args.a_row = taps, args.out_row = s.outputs();
      break;
    case Part::dgrad:
      args.rows = counted(s.group_channels());
      args.a_row = s.taps(), args.out_row = s.inputs();
      break;  // a phase sets the rest
    case Part::wgrad:
      args.rows = counted(s.group_filters());
      args.columns = counted(taps);
      args.depth = counted(s.batch * s.outputs());
      args.a_row = s.outputs(), args.out_row = taps;
      break;
  }
  args.part = args.depth;
  return args;
}

template <class T, class S>
ConvolutionKernel<T> by_multiply_adds(Part part) {
  const auto kernel = [](auto* run) -> ConvolutionKernel<T> {
    return {run, S::kRows, S::kCols, S::kDepth, S::kThreads};
  };
  switch (part) {
    case Part::fprop:
      return kernel(convolution_kernel<T, S, Part::fprop>);
    case Part::dgrad:
      return kernel(convolution_kernel<T, S, Part::dgrad>);
    case Part::wgrad:
      break;
  }
  return kernel(convolution_kernel<T, S, Part::wgrad>);
}

// Nothing for half types where their products are not direct.
template <class T>
std::optional<ConvolutionKernel<T>> kernel_for(Part part, ConvolutionArgs<T>& args) {
  if constexpr (!std::is_same_v<T, double>)
    if (is_direct(part, args.shape, std::is_same_v<T, float>))
      if (const auto direct = direct_convolution(part, args)) return direct;
  if constexpr (std::is_same_v<T, float>)
    if (has_tensor_cores()) return tensor_core_convolution(part, args);
  if constexpr (is_half<T>) {
    return std::nullopt;
  } else {
    using Shapes = ConvolutionShapes<T>;
    return args.rows <= 16 ? by_multiply_adds<T, typename Shapes::Wide>(part)
                           : by_multiply_adds<T, typename Shapes::Square>(part);
  }
}

// So many of the samples that there are, as exact numbers.
struct Share {
  int64_t samples = 1, of = 1;
  int64_t of_number(int64_t number) const { return number / of * samples; }
};

// A product, and the kernel that makes it.
template <class T>
struct Product {
  ConvolutionArgs<T> args;
  ConvolutionKernel<T> kernel;

  int64_t tiles(const Share& share = {}) const {
    if (kernel.tiles >= 0) return kernel.tiles;
    const int64_t columns = share.of_number(args.columns);
    return int64_t{ceil_div(args.rows, kernel.rows)} * ceil_div(columns, int64_t{kernel.columns}) *
           args.shape.groups;
  }
  void cut(int64_t parts) {
    args.part = ceil_div(ceil_div(args.depth, static_cast<int>(parts)), kernel.step) * kernel.step;
    args.parts = static_cast<int>(parts);
  }
};

// The time of products that run one after the other, for a share of their columns and results,
// where their depth is cut into parts; each part is a block's work. A model of an H100 decides by
// the shapes alone, so that every GPU adds in the same order. The unit is the time of a term of 64
// x 128 results, where a multiprocessor works on three blocks.
template <class T>
double time_of(const std::vector<Product<T>>& products, int64_t results, const Share& share,
               int64_t parts) {
  constexpr int kMultiprocessors = 132;
  constexpr double kOfBlock = 48, kOfResult = 1.5e-5, kOfTerm = 1. / (64 * 128);
  constexpr double kShare[] = {0, 0.5, 0.8};  // of the time of three, for so many blocks
  double time =
      parts > 1 ? static_cast<double>(share.of_number(results) * (parts + 1)) * kOfResult : 0;
  for (const auto& product : products) {
    const auto& [args, kernel] = product;
    const int64_t blocks = ceil_div(product.tiles(share) * parts, int64_t{kMultiprocessors});
    const int64_t terms =
        ceil_div(ceil_div(int64_t{args.depth}, parts), int64_t{kernel.step}) * kernel.step;
    time += (static_cast<double>(blocks / 3) + kShare[blocks % 3]) *
            (static_cast<double>(terms * kernel.rows * kernel.columns) * kOfTerm + kOfBlock);
  }
  return time;
}

// The number of parts that loses least against the best one for each share.
template <class T>
int64_t best_parts(const std::vector<Product<T>>& products, int64_t results,
                   const std::vector<Share>& shares, int64_t most) {
  constexpr int kLeastTerms = 64, kMostSums = 1 << 26;
  constexpr double kGain = 0.98;
  int64_t deepest = 1;
  for (const auto& product : products)
    deepest = std::max(deepest, int64_t{product.args.depth / kLeastTerms});
  const int64_t largest = std::max<int64_t>(1, shares.back().of_number(results));
  most = std::min({most, deepest, std::max<int64_t>(1, kMostSums / largest)});
  // Not every number is tried where many are possible.
  std::vector<int64_t> tried;
  for (int64_t parts = 1; parts <= most; parts += 1 + parts / 16) tried.push_back(parts);
  std::vector<double> losses(tried.size(), 0);
  for (const Share& share : shares) {
    std::vector<double> times;
    for (const int64_t parts : tried) times.push_back(time_of(products, results, share, parts));
    const double least = *std::min_element(times.begin(), times.end());
    for (size_t i = 0; i < tried.size(); ++i) losses[i] = std::max(losses[i], times[i] / least);
  }
  size_t best = 0;
  for (size_t i = 1; i < tried.size(); ++i)
    if (losses[i] < losses[best] * kGain) best = i;
  return tried[best];
}

// The product of a part, or one for each phase; none where one has no kernel.
template <class T>
std::vector<Product<T>> products_of(Part part, ConvolutionArgs<T> args) {
  std::vector<Product<T>> out;
  bool all = true;
  const auto add = [&] {
    const auto kernel = kernel_for(part, args);
    if (kernel) out.push_back({args, *kernel});
    all = all && kernel;
  };
  if (part != Part::dgrad) return add(), out;
  const Convolution& s = args.shape;
  const auto phases = [&](int d) { return std::min(s.dim[d].stride, s.dim[d].in); };
  for (int64_t i = 0; i < phases(0) * phases(1) * phases(2); ++i) {
    args.phase[0] = phase_of(s.dim[0], i / phases(2) / phases(1));
    args.phase[1] = phase_of(s.dim[1], i / phases(2) % phases(1));
    args.phase[2] = phase_of(s.dim[2], i % phases(2));
    int64_t columns = s.batch, depth = s.group_filters();
    for (const Phase& phase : args.phase) columns *= phase.count, depth *= phase.taps;
    args.columns = counted(columns), args.depth = args.part = counted(depth);
    add();
  }
  if (!all) out.clear();
  return out;
}

// All of a convolution but its operands: the products, and into how many parts their depth is cut.
template <class T>
struct Plan {
  Part part;
  Convolution shape;
  // The choice of kernels depends on these beside the shape.
  bool aligned, tensor_cores, alike = gradus::detail::batch_invariant();
  int64_t shared_bytes;
  std::vector<Product<T>> products;
  int parts = 1;

  Plan(Part part_, const Convolution& shape_, bool aligned_, int64_t results,
       const Operands<T>& operands)
      : part(part_),
        shape(shape_),
        aligned(aligned_),
        tensor_cores(has_tensor_cores()),
        shared_bytes(most_shared_bytes()),
        products(products_of(part_, product_of(part_, shape_, operands))),
        parts(given_parts().value_or(static_cast<int>(chosen_parts(results)))) {
    if (products.size() == 1) {  // none of the parts is empty
      products[0].cut(parts);
      parts = std::max(1, ceil_div(products[0].args.depth, std::max(1, products[0].args.part)));
    }
    for (Product<T>& product : products) {
      if (parts > 1) product.cut(parts);
      if constexpr (std::is_same_v<T, float>)
        if (alike) product.kernel = tile_for_batch(part, product.args, product.kernel);
    }
  }
  // Whether another kernel adds the parts, and rounds their sum.
  bool is_summed() const { return parts > 1 || (is_half<T> && part == Part::wgrad); }
  // Results of samples may not depend on how many there are: their sums are cut as suits one and
  // some. The number of parts is small, as parts of large batches take memory.
  int64_t chosen_parts(int64_t results) const {
    if (!alike || part == Part::wgrad)
      return best_parts(products, results, {Share{}}, std::numeric_limits<int64_t>::max());
    for (const Product<T>& product : products)
      if (product.kernel.tiles >= 0) return 1;  // which depend on the batch
    constexpr int64_t kMostParts = 16, kFewSamples = 1, kManySamples = 8;
    return best_parts(products, results, {{kFewSamples, shape.batch}, {kManySamples, shape.batch}},
                      kMostParts);
  }
  // Where a kernel of a phase knows its parts, all phases have as many.
  std::optional<int> given_parts() const {
    for (const Product<T>& product : products)
      if (product.kernel.parts > 0) return product.kernel.parts;
    return std::nullopt;
  }
  bool is_of(Part part_, const Convolution& shape_, bool aligned_) const {
    return part == part_ && aligned == aligned_ && shape == shape_ &&
           alike == gradus::detail::batch_invariant() && tensor_cores == has_tensor_cores() &&
           shared_bytes == most_shared_bytes();
  }
};

// A thread keeps its last plans, so that a step of training makes none anew.
template <class T>
const Plan<T>& plan_of(Part part, const Convolution& shape, int64_t results,
                       const Operands<T>& operands) {
  constexpr size_t kMostPlans = 256;
  thread_local std::vector<Plan<T>> plans;
  thread_local size_t oldest = 0;
  const auto is_aligned = [](const T* data) { return reinterpret_cast<uintptr_t>(data) % 16 == 0; };
  const bool aligned = is_aligned(operands.first) && is_aligned(operands.second);
  for (const Plan<T>& plan : plans)
    if (plan.is_of(part, shape, aligned)) return plan;
  Plan<T> made(part, shape, aligned, results, operands);
  if (plans.size() < kMostPlans) return plans.emplace_back(std::move(made));
  return plans[oldest++ % kMostPlans] = std::move(made);
}

// Multiplies in parts where that is faster; the sums of the parts are added in order.
template <class T>
void run(const Plan<T>& plan, const Operands<T>& operands, int64_t results,
         const Context& context) {
  const int64_t sums = operands.has_sums() ? plan.shape.filters : 0;  // behind those of a part
  const auto launch_all = [&](Computed<T>* partial) {
    for (const Product<T>& product : plan.products) {
      ConvolutionArgs<T> args = product.args;
      operands.give(plan.part, args);
      args.partial = partial, args.part_out = results + sums;
      if (sums > 0 && partial)
        args.row_sums = partial + results;
      else if constexpr (!is_half<T>)
        args.row_sums = operands.sums;
      launch_pdl(product.kernel.run,
                 {dim3(static_cast<unsigned>(product.tiles() * args.parts)),
                  static_cast<unsigned>(product.kernel.threads),
                  static_cast<size_t>(product.kernel.shared_bytes), context.stream},
                 args);
    }
  };
  if (!plan.is_summed()) return launch_all(nullptr);
  if (plan.parts == 1 && sums == 0 && operands.wide) return launch_all(operands.wide);
  const Scratch partial(static_cast<size_t>(plan.parts * (results + sums)) * sizeof(Computed<T>));
  launch_all(partial.template as<Computed<T>>());
  MatmulArgs<Computed<T>, T> sum{};
  sum.out = operands.out, sum.row_sums = operands.sums;
  sum.m = sums > 0 ? sums : 1, sum.n = results / sum.m;
  add_parts(partial.template as<Computed<T>>(), plan.parts, sum, operands.wide, operands.wide_sums);
}

// Runs the kernels of convolution.cuh or convolution_direct.cuh; sums: receives the sums of a's
// rows where it is defined. Returns false, and does nothing, where no kernel makes these sums. It
// does so for half types that are not direct, too. REQUIRES: all tensors are contiguous.
template <class T>
bool multiply(Part part, const Convolution& shape, const Tensor& a, const Tensor& b,
              const Tensor& bias, const Tensor& out, const Tensor& sums) {
  const auto data = [](const Tensor& x) { return x.defined() ? x.data_ptr() : nullptr; };
  Operands<T> operands{static_cast<T*>(data(a)), static_cast<T*>(data(b)),
                       static_cast<T*>(data(bias))};
  if (out.dtype() == a.dtype())
    operands.out = static_cast<T*>(data(out)), operands.sums = static_cast<T*>(data(sums));
  else
    operands.wide = static_cast<Computed<T>*>(data(out)),
    operands.wide_sums = static_cast<Computed<T>*>(data(sums));
  const Plan<T>& plan = plan_of(part, shape, out.numel(), operands);
  if (plan.products.empty() || (operands.has_sums() && !plan.products[0].kernel.sums_rows))
    return false;
  run(plan, operands, out.numel(), Context(out));
  return true;
}
bool multiply(Part part, const Convolution& shape, const Tensor& a, const Tensor& b,
              const Tensor& bias, const Tensor& out, const Tensor& sums = {}) {
  switch (a.dtype()) {
    case kHalf:
      return multiply<Half>(part, shape, a, b, bias, out, sums);
    case kBFloat16:
      return multiply<BFloat16>(part, shape, a, b, bias, out, sums);
    case kFloat:
      return multiply<float>(part, shape, a, b, bias, out, sums);
    default:
      return multiply<double>(part, shape, a, b, bias, out, sums);
  }
}

bool may_choose() { return !chosen_tile() && !convolves_by_wgmma() && !convolves_by_cudnn(); }
// Whether all are contiguous (NCHW), and no kernel was forced.
bool takes_contiguous(const Tensor& a, const Tensor& b, const Tensor& out) {
  return a.is_contiguous() && b.is_contiguous() && out.is_contiguous() && may_choose();
}
bool is_exact(const Tensor& a) {
  return a.dtype() == kFloat && !gradus::detail::allows_tf32_convolutions();
}
// A small convolution, in every type: tiles of tensor cores would be nearly empty, and want
// channels last. False, and nothing done, where it is none.
bool small_convolution(Part part, const Convolution& shape, const Tensor& a, const Tensor& b,
                       const Tensor& bias, const Tensor& out, const Tensor& sums = {}) {
  return out.dtype() != kDouble && takes_contiguous(a, b, out) &&
         is_direct(part, shape, is_exact(a)) && multiply(part, shape, a, b, bias, out, sums);
}

// --- The ways to make a convolution
// Tensors of Backend::convolution.
struct Call {
  Part part;
  const Convolution& shape;
  const Tensor &a, &b, &bias, &out;

  bool is_half() const { return a.dtype() == kHalf || a.dtype() == kBFloat16; }
};
// Makes a convolution; or returns false, and does nothing, where it is not for it.
using ConvolutionWay = bool(CudaBackend&, const Call&);

bool depthwise_way(CudaBackend&, const Call& c) {
  return may_choose() && depthwise_convolution(c.part, c.shape, c.a, c.b, c.bias, c.out);
}
bool direct_way(CudaBackend&, const Call& c) {
  return small_convolution(c.part, c.shape, c.a, c.b, c.bias, c.out);
}
// Half types and TF32, by tensor cores.
bool channels_last_way(CudaBackend&, const Call& c) {
  if (convolves_by_cudnn()) return false;
  if (c.is_half()) return half_convolution(c.part, c.shape, c.a, c.b, c.bias, c.out);
  return c.a.dtype() == kFloat && gradus::detail::allows_tf32_convolutions() &&
         has_tensor_cores() && tf32_convolution(c.part, c.shape, c.a, c.b, c.bias, c.out);
}
// The ways that follow want contiguous tensors.
bool contiguous_way(CudaBackend& backend, const Call& c) {
  if (c.a.is_contiguous() && c.b.is_contiguous() && c.out.is_contiguous()) return false;
  const Tensor made = raw::empty(c.out.sizes(), c.out.scalar_type(), c.out.device());
  backend.convolution(c.part, c.shape, raw::contiguous(c.a), raw::contiguous(c.b), c.bias, made);
  backend.copy(made, c.out);
  return true;
}
// Half types as float32.
bool wide_way(CudaBackend& backend, const Call& c) {
  if (!c.is_half()) return false;
  const auto wide = [](const Tensor& x) { return x.defined() ? raw::to(x, kFloat) : x; };
  const bool of_floats = c.out.dtype() == kFloat;
  const Tensor sums = of_floats ? c.out : raw::empty(c.out.sizes(), kFloat, c.out.device());
  backend.convolution(c.part, c.shape, wide(c.a), wide(c.b), of_floats ? Tensor() : wide(c.bias),
                      sums);
  if (!of_floats) backend.copy(sums, c.out);
  return true;
}
bool cudnn_way(CudaBackend&, const Call& c) {
  if (!convolves_by_cudnn()) return false;
  cudnn_convolution(c.part, c.shape, c.a, c.b, c.bias, c.out);
  return true;
}
// Gradients of weights, exact, by wgmma.
bool planes_way(CudaBackend&, const Call& c) {
  return c.part == Part::wgrad && c.out.dtype() == kFloat &&
         split_weight_gradient(c.shape, c.a, c.b, c.out);
}
bool gathered_way(CudaBackend&, const Call& c) {
  return multiply(c.part, c.shape, c.a, c.b, c.bias, c.out);
}
// The first one that makes a convolution is its way (docs/backends.md).
constexpr ConvolutionWay* kWays[] = {depthwise_way, direct_way, channels_last_way, contiguous_way,
                                     wide_way,      cudnn_way,  planes_way,        gathered_way};
}  // namespace

void CudaBackend::convolution_sums(const Convolution& shape, const Tensor& grad,
                                   const Tensor& input, const Tensor& out, const Tensor& sums) {
  if (is_depthwise(shape) ||
      !(small_convolution(Part::wgrad, shape, grad, input, Tensor(), out, sums) ||
        (is_exact(grad) && !convolves_by_cudnn() &&
         multiply(Part::wgrad, shape, grad, input, Tensor(), out, sums))))
    Backend::convolution_sums(shape, grad, input, out, sums);
}

void CudaBackend::convolution(ConvolutionPass part, const Convolution& shape, const Tensor& a,
                              const Tensor& b, const Tensor& bias, const Tensor& out) {
  check<NotImplementedError>(
      !gradus::detail::batch_invariant() || !(convolves_by_cudnn() || convolves_by_wgmma()),
      "convolution: the kernel '", convolution_kernel(),
      "' may add in an order that depends on the batch, which setBatchInvariant(true) forbids; "
      "pick "
      "another with set_convolution_kernel(\"automatic\")");
  const Call call = {part, shape, a, b, bias, out};
  if (part == Part::dgrad && bias.defined()) {
    const bool direct = takes_contiguous(a, b, out) && is_direct(part, shape, is_exact(a));
    if (shape.groups == 1 && !direct && channels_last_way(*this, call)) return;
    const Tensor made = raw::empty_like(out);
    convolution(part, shape, a, b, Tensor(), made);
    return raw::zip_(BinaryOp::add, out, made);
  }
  for (ConvolutionWay* const way : kWays)
    if (way(*this, call)) return;
}

}  // namespace gradus::cuda
