// Sums, extremes, norms and variances over any dimensions.
#include "gradus/cuda/kernels/rows/reduce_short.cuh"
#include "gradus/cuda/kernels/rows/reduce_sources.cuh"

#include "gradus/cuda/backend.h"
#include "gradus/cuda/ops/division.h"
#include "gradus/cuda/ops/elementwise.cuh"
#include "gradus/tensor/base/batch_invariant.h"
#include "gradus/tensor/raw/raw.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

namespace {

// A reduction as two walks, over the outputs (in out and x) and over the elements behind each.
struct Problem {
  Strided<2> kept;
  Strided<1> reduced;
  int64_t count;  // original elements behind each output
};

Problem problem_of(const Tensor& x, const Tensor& out) {
  const ReductionWalks walks = reduction_walks(x.sizes(), x.strides(), out.sizes(), out.strides());
  return {walks.kept, walks.reduced, walks.reduced.numel};
}

// The fold of a table with a row for each of `splits` partial results.
Problem fold_of_partials(const Problem& problem, int64_t splits) {
  Problem fold = problem;
  int64_t stride = 1;
  for (int d = fold.kept.dims; d-- > 0; stride *= fold.kept.size[d])
    fold.kept.stride[1][d] = stride;
  fold.reduced = {.dims = 1, .numel = splits, .size = {splits}, .stride = {{stride}}};
  return fold;
}

// How the reduced elements are split over blockIdx.y. There are enough parts to fill the device. A
// part has at least `least` elements, a multiple of 64, so that parts are aligned alike, and no
// more than 32 bits can count.
struct Split {
  int64_t segment;
  unsigned parts;
};
Split split(const Context& context, const Problem& problem, int64_t blocks, int64_t least) {
  constexpr int64_t kBlocksPerMultiprocessor = 8, kGranule = 64, kLongest = int64_t{1} << 30;
  constexpr int64_t kAlike = 1 << 16;  // elements of a part that depends on n alone
  const int64_t n = problem.reduced.numel;
  const int64_t wanted = gradus::detail::batch_invariant()
                             ? n / kAlike
                             : context.multiprocessors * kBlocksPerMultiprocessor / blocks;
  const int64_t parts = std::max(std::min(wanted, n / least), ceil_div(n, kLongest));
  if (parts <= 1) return {n, 1};
  const int64_t segment = ceil_div(ceil_div(n, parts), kGranule) * kGranule;
  return {segment, static_cast<unsigned>(ceil_div(n, segment))};
}

template <int N>
int64_t last_stride(const Strided<N>& walk, int n) {
  return walk.dims > 0 ? walk.stride[n][walk.dims - 1] : 0;
}

bool is_rows(const Problem& problem) {
  return problem.reduced.dims == 1 && problem.reduced.stride[0][0] == 1;
}

// Threads for a row of n: two vectors each up to a warp, and a block for a long row.
int lanes_for(int64_t n, int vector) {
  if (n > 1024) return kReduceThreads;
  const int64_t lanes = ceil_div(n, int64_t{2} * vector);
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::clamp<int64_t>(lanes, 1, 32))));
}

template <int V, class T>
bool is_ready_for_vectors(const Plain<T>& x) {
  return is_aligned<V>(x.data);
}
template <int V, class T>
bool is_ready_for_vectors(const Converted<T>&) {
  return true;
}

template <int V, class T, class S, class F>
bool is_ready_for_vectors(const Through<T, S, F>& x) {
  return is_aligned<Through<T, S, F>::template width<V>>(x.data);
}

// How many neighbouring outputs a thread has, where they lie so.
template <class Source, class T>
inline constexpr int outputs_of_thread = std::max(vector_width<typename Source::Value, T>, 1);

template <class Source, class T>
bool takes_vectors(const Problem& problem, const Source& x, const Results<T>& out) {
  constexpr int V = outputs_of_thread<Source, T>;
  const Strided<2>& kept = problem.kept;
  const int last = kept.dims - 1;
  if (last < 0 || kept.stride[0][last] != 1 || kept.stride[1][last] != 1) return false;
  bool ok = kept.size[last] % V == 0 && is_ready_for_vectors<V>(x) && out.template is_aligned<V>();
  for (int d = 0; d < last; ++d) ok &= kept.stride[0][d] % V == 0 && kept.stride[1][d] % V == 0;
  for (int d = 0; d < problem.reduced.dims; ++d) ok &= problem.reduced.stride[0][d] % V == 0;
  return ok;
}

template <class Op, class Source, class T>
void run(const Context& context, const Op& op, const Problem& problem, const Source& x,
         const Results<T>& out);

// Calls pass(table); where there are several parts, folds what it wrote there into out.
template <class Op, class T, class Pass>
void run_parts(const Context& context, const Op& op, const Problem& problem, unsigned parts,
               const Results<T>& out, const Pass& pass) {
  using State = StateOf<Op, T>;
  if (parts == 1) return pass(static_cast<State*>(nullptr));
  const Scratch table(parts * static_cast<size_t>(problem.kept.numel) * sizeof(State));
  pass(table.as<State>());
  run(context, op, fold_of_partials(problem, parts), Parts<State>{{table.as<State>()}}, out);
}

template <class Op, class Source, class T>
void run_rows(const Context& context, const Op& op, const Problem& problem, const Source& x,
              const Results<T>& out) {
  const int64_t n = problem.reduced.numel;
  const int lanes = lanes_for(n, vector_width<T>);
  const int64_t blocks = ceil_div(problem.kept.numel * lanes, int64_t{kReduceThreads});
  const Split parts = split(context, problem, blocks, 8192);
  run_parts(context, op, problem, parts.parts, out, [&](StateOf<Op, T>* table) {
    launch_pdl(
        reduce_rows<Op, Source, T>,
        {dim3(static_cast<unsigned>(blocks), parts.parts), kReduceThreads, 0, context.stream}, op,
        problem.kept, n, parts.segment, std::countr_zero(static_cast<unsigned>(lanes)), x, table,
        out);
  });
}

// Whether reduce_short_rows does this.
template <class Source>
bool has_short_rows(const Problem& problem, const Source& x) {
  const int64_t n = problem.reduced.numel;
  return n > 1 && n <= kLongestShortRow && problem.kept.dims == 1 &&
         !gradus::detail::batch_invariant() && problem.kept.stride[1][0] == n &&
         is_ready_for_vectors<vector_width<typename Source::Value>>(x);
}

template <class Op, class Source, class T>
void run_short_rows(const Context& context, const Op& op, const Problem& problem, const Source& x,
                    const Results<T>& out) {
  const auto n = static_cast<int>(problem.reduced.numel);
  const int64_t rows = problem.kept.numel;
  const int64_t blocks = ceil_div(rows, int64_t{rows_of_block<typename Source::Value>(n)});
  launch_pdl(reduce_short_rows<Op, Source, T>,
             {dim3(static_cast<unsigned>(blocks)), kReduceThreads, 0, context.stream}, op, rows, n,
             problem.kept.stride[0][0], x, out);
}

template <int V, class Op, class Source, class T>
void run_strided(const Context& context, const Op& op, const Problem& problem, const Source& x,
                 const Results<T>& out) {
  const int64_t outputs = problem.kept.numel / V, n = problem.reduced.numel;
  // Where the outputs of a warp would leave most multiprocessors idle, those of 128 bytes will do.
  const bool few = outputs < 32 * context.multiprocessors;
  // Parts of rows are added as those of one row are.
  const int64_t beside = Source::partial && gradus::detail::batch_invariant() ? 1 : outputs;
  const Division division =
      divide_block(beside, last_stride(problem.kept, 1), n, last_stride(problem.reduced, 0),
                   few ? std::max(1, 128 / (V * static_cast<int>(sizeof(T)))) : 32);
  const int64_t blocks = ceil_div(outputs, int64_t{division.kept});
  const Split parts =
      Source::partial ? Split{n, 1} : split(context, problem, blocks, division.reduced * 16);
  const auto threads = static_cast<unsigned>(division.kept * division.reduced);
  run_parts(context, op, problem, parts.parts, out, [&](StateOf<Op, T>* table) {
    launch_pdl(reduce_strided<Op, Source, V, T>,
               {dim3(static_cast<unsigned>(blocks), parts.parts), threads, 0, context.stream}, op,
               problem.kept, problem.reduced, parts.segment, problem.count, division, x, table,
               out);
  });
}

template <class Op, class Source, class T>
void run(const Context& context, const Op& op, const Problem& problem, const Source& x,
         const Results<T>& out) {
  if constexpr (!Source::partial)
    if (is_rows(problem))
      return has_short_rows(problem, x) ? run_short_rows(context, op, problem, x, out)
                                        : run_rows(context, op, problem, x, out);
  if (takes_vectors(problem, x, out))
    return run_strided<outputs_of_thread<Source, T>>(context, op, problem, x, out);
  run_strided<1>(context, op, problem, x, out);
}

template <class T>
Results<T> results_in(const Tensor& out) {
  return {out.data_ptr(), out.scalar_type()};
}

template <class T, class Op, class Source>
void reduce_source(const Op& op, const Tensor& x, const Source& source, const Tensor& out) {
  if (out.numel() == 0) return;
  run(Context(out), op, problem_of(x, out), source, results_in<T>(out));
}
template <class T, class Op>
void reduce_plain(const Op& op, const Tensor& x, const Tensor& out) {
  reduce_source<T>(op, x, Plain<T>{static_cast<const T*>(x.data_ptr())}, out);
}
template <class T, class S, class Op, class F>
void reduce_through(const Op& op, const Tensor& x, const F& f, const Tensor& out) {
  reduce_source<T>(op, x, Through<T, S, F>{static_cast<const S*>(x.data_ptr()), f}, out);
}
template <class T, class Op>
void reduce_tensor(const Op& op, const Tensor& x, const Tensor& out) {
  if (x.scalar_type() == dtype_of<T>) return reduce_plain<T>(op, x, out);
  // The most common conversions have kernels of their own.
  if constexpr (std::is_same_v<Op, scalar::Reduction<ReduceOp::sum>> && std::is_same_v<T, float>) {
    if (x.dtype() == kHalf) return reduce_through<T, Half>(op, x, ConvertTo<T>{}, out);
    if (x.dtype() == kBFloat16) return reduce_through<T, BFloat16>(op, x, ConvertTo<T>{}, out);
  }
  if constexpr (std::is_same_v<T, int64_t>)
    if (isFloatingType(x.scalar_type())) return reduce_plain<T>(op, raw::to(x, kLong), out);
  reduce_source<T>(op, x, Converted<T>{elements_of(x)}, out);
}

// The columns of a large matrix that can be read by vectors but for their number: their dimension,
// and how many are too many for whole vectors. The count is 0 elsewhere.
struct OddColumns {
  int64_t dim = 0, count = 0;
};
OddColumns odd_columns(const Tensor& x, const Tensor& out) {
  constexpr int64_t kWidth = 8, kLarge = 1 << 20;
  if (x.dim() != 2 || x.numel() < kLarge || reinterpret_cast<uintptr_t>(x.data_ptr()) % 16 != 0)
    return {};
  for (const int64_t d : {0, 1})
    if (out.sizes()[d] > kWidth && out.sizes()[1 - d] == 1 && x.strides()[d] == 1 &&
        out.strides()[d] == 1 && x.strides()[1 - d] % kWidth == 0)
      return {d, out.sizes()[d] % kWidth};
  return {};
}

}  // namespace

void CudaBackend::reduce(ReduceOp op, const Tensor& x, const Tensor& out) {
  if (const auto [dim, odd] = odd_columns(x, out); odd > 0) {
    const int64_t even = out.sizes()[dim] - odd;
    reduce(op, raw::narrow(x, dim, 0, even), raw::narrow(out, dim, 0, even));
    return reduce(op, raw::narrow(x, dim, even, odd), raw::narrow(out, dim, even, odd));
  }
  const bool picks = op == ReduceOp::amax || op == ReduceOp::amin;
  const bool bytes = picks && out.element_size() == 1 && out.dtype() != kChar;
  const bool truths = picks && out.dtype() == kBool && x.dtype() != kBool;
  const ScalarType compute = computed_type(out.scalar_type());
  if (compute != out.scalar_type() && !bytes && !isFloatingType(out.dtype())) {
    const Tensor wide = raw::empty(out.sizes(), compute, out.device());
    reduce(op, x, wide);
    return copy(wide, out);
  }
  visit_op(op, [&](auto row) {
    constexpr scalar::Reduction<row.value> fold;
    const auto visitor = [&]<class T>(TypeTag<T>) { reduce_tensor<T>(fold, x, out); };
    if constexpr (row.value == ReduceOp::amax || row.value == ReduceOp::amin) {
      if (truths)
        return visit_real_bits(x.element_size(), [&]<class Bits>(TypeTag<Bits>) {
          const IsNotZero<Bits> is_true{static_cast<Bits>(value_bits(x.dtype()))};
          reduce_through<uint8_t, Bits>(fold, x, is_true, out);
        });
      if (bytes) return reduce_plain<uint8_t>(fold, x, out);
    }
    if constexpr (scalar::folds_integers(row.value))
      visit_numbers(name_of(op), compute, visitor);
    else
      visit_floating(name_of(op), compute, visitor);
  });
}

void CudaBackend::norm(double p, const Tensor& x, const Tensor& out) {
  if (x.dtype() != out.dtype()) return norm(p, raw::to(x, out.scalar_type()), out);
  visit_floating("norm", out.dtype(), [&]<class T>(TypeTag<T>) {
    reduce_through<T, T>(PowerNorm(p), x, PowerOf<T>{static_cast<T>(p)}, out);
  });
}

void CudaBackend::mean_square(const Tensor& x, const Tensor& y, const Tensor& out) {
  Dims ones = Dims::filled(x.dim(), 1);
  const ReductionWalks walks = reduction_walks(x.sizes(), x.strides(), ones, ones);
  visit_floating("mse_loss", x.dtype(), [&]<class T>(TypeTag<T>) {
    run_rows(Context(out), scalar::Reduction<ReduceOp::mean>{},
             Problem{walks.kept, walks.reduced, walks.reduced.numel},
             SquaredDifference<T>{static_cast<const T*>(x.data_ptr()),
                                  static_cast<const T*>(y.data_ptr())},
             results_in<T>(out));
  });
}

void CudaBackend::mean_square_grad(const Tensor& grad, const Tensor& x, const Tensor& y,
                                   const Tensor& out) {
  visit_floating("mse_loss", x.dtype(), [&]<class T>(TypeTag<T>) {
    const SquaredDifferenceGrad<T> f{static_cast<T>(2 / static_cast<double>(x.numel())),
                                     static_cast<const T*>(grad.data_ptr())};
    elementwise<T, T>(f, out, x, y);
  });
}

void CudaBackend::aminmax(const Tensor& x, const Tensor& out) {
  if (const ScalarType compute = computed_type(x.scalar_type()); compute != x.scalar_type()) {
    const Tensor wide = raw::empty({2}, compute, x.device());
    aminmax(raw::to(x, compute), wide);
    return copy(wide, out);
  }
  Dims ones = Dims::filled(x.dim(), 1);
  const ReductionWalks walks = reduction_walks(x.sizes(), x.strides(), ones, ones);
  visit_numbers("aminmax", x.dtype(), [&]<class T>(TypeTag<T>) {
    run(Context(out), BothExtremes{}, Problem{walks.kept, walks.reduced, walks.reduced.numel},
        Plain<T>{static_cast<const T*>(x.data_ptr())}, results_in<Extremes<T>>(out));
  });
}

void CudaBackend::variance(bool root, double divisor, const Tensor& x, const Tensor& out) {
  visit_floating("var", computed_type(out.scalar_type()), [&]<class T>(TypeTag<T>) {
    reduce_tensor<T>(Variance{divisor, root}, x, out);
  });
}

}  // namespace gradus::cuda
