// softmax, log_softmax and their gradients along a dimension, and cross entropy of rows.
#include "gradus/cuda/kernels/rows/cross_entropy.cuh"
#include "gradus/cuda/kernels/rows/long_softmax.cuh"

#include <bit>
#include <cstdlib>

#include "gradus/cuda/backend.h"
#include "gradus/cuda/ops/division.h"
#include "gradus/cuda/runtime/check.h"
#include "gradus/tensor/base/batch_invariant.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::cuda {

namespace {

// A warp or a block for a line.
using Rows = RowTeam<kReduceThreads, 3, false>;
using EdgedRows = RowTeam<kReduceThreads, 3, true>;

// Lines along dim of tensors of one shape.
template <class T, int N>
SoftmaxArgs<N> args_of(bool log, int64_t dim, const std::array<const Tensor*, N>& tensors) {
  SoftmaxArgs<N> args{};
  Dims sizes = tensors[0]->impl().sizes;
  args.n = sizes[dim];
  args.log = log;
  sizes[dim] = 1;
  std::array<IntArrayRef, N> strides;
  for (int t = 0; t < N; ++t) {
    strides[t] = tensors[t]->strides();
    args.step[t] = strides[t][dim];
    args.before[t] = tensors[t]->storage_offset();
    args.from[t] =
        static_cast<int64_t>(tensors[t]->impl().storage->nbytes() / sizeof(T)) - args.before[t];
  }
  args.lines = collapse<N>(sizes, strides);
  return args;
}

// Whether lines are read by vectors: see SoftmaxArgs::vectors.
template <class T, int N>
bool has_vectors(const SoftmaxArgs<N>& args, const std::array<const Tensor*, N>& tensors,
                 bool edges) {
  constexpr int V = vector_width<T>;
  const auto place = [&](int t) {
    return static_cast<int64_t>(reinterpret_cast<uintptr_t>(tensors[t]->data_ptr()) / sizeof(T) %
                                V);
  };
  bool out = edges || args.n % V == 0;
  for (int t = 0; t < N; ++t) {
    out &= args.step[t] == 1 && place(t) == (edges ? place(0) : 0);
    for (int d = 0; d < args.lines.dims; ++d)
      out &= (args.lines.stride[t][d] - (edges ? args.lines.stride[0][d] : 0)) % V == 0;
  }
  return out;
}

// Threads for a line: as few as hold it in their registers, but at least as many as read whole
// sectors of memory. Lines that fit have up to a warp, longer ones up to a block.
template <class T, int N>
int lanes_for(int64_t n, bool vectors) {
  constexpr int64_t kOwn = Tile<T, N>::kSize;
  const int64_t most = n > 32 * kOwn ? kReduceThreads : 32;
  const int64_t lanes = vectors ? std::max<int64_t>(ceil_div(n, kOwn), 2) : n;
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::min(lanes, most))));
}

// The dynamic shared memory that a block may have.
int64_t shared_memory(Device device) {
  int bytes = 0;
  check_cuda(
      cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device.index()),
      "softmax");
  constexpr int kOwn = 2048;  // for the folds, and for what the system takes of a block
  return bytes - kOwn;
}

// Blocks that take `each` lines.
template <int N>
LaunchConfig config_of(const Strided<N>& lines, const Context& context, int64_t each, int threads,
                       int64_t shared = 0) {
  return LaunchConfig(dim3(static_cast<unsigned>(ceil_div(lines.numel, each))),
                      dim3(static_cast<unsigned>(threads)), static_cast<size_t>(shared),
                      context.stream);
}

// Calls start(team, config) with a team of neighbours that keeps nothing in shared memory.
template <class T, int N, class F>
void with_row_team(const SoftmaxArgs<N>& args, const Context& context, const F& start) {
  const int lanes = lanes_for<T, N>(args.n, args.vectors);
  const int threads = lanes > 32 ? lanes : kReduceThreads;
  start(Rows{lanes}, config_of(args.lines, context, threads / lanes, threads));
}

// Calls start(team, config) with the team for these lines, or start_long(vectors that a block keeps
// in shared memory, config) for those that are long enough for one.
template <class T, int N, class F, class G>
void with_team(SoftmaxArgs<N>& args, const std::array<const Tensor*, N>& tensors,
               const Context& context, const F& start, const G& start_long) {
  const Strided<N>& lines = args.lines;
  args.vectors = has_vectors<T, N>(args, tensors, false);
  const int64_t next = lines.dims > 0 ? lines.stride[1][lines.dims - 1] : 0;
  if (lines.numel > 1 && std::abs(next) < std::abs(args.step[1])) {
    const Division division = divide_block(lines.numel, next, args.n, args.step[1]);
    return start(ColumnTeam{division},
                 config_of(lines, context, division.kept, division.kept * division.reduced));
  }
  // Measured on an H100: from this length on a line in shared memory is worth a block for itself.
  constexpr int64_t kShort = (N == 2 ? 2 : 1) * int64_t{kReduceThreads} * Tile<T, N>::kSize;
  constexpr int64_t kMost = int64_t{1} << 30;  // what an int counts
  if (args.n <= kShort || args.n > kMost || !has_vectors<T, N>(args, tensors, true))
    return with_row_team<T, N>(args, context, start);
  constexpr int64_t kBytes = kAccessBytes * (N - 1);
  const int64_t kept = std::min(ceil_div<int64_t>(args.n, vector_width<T>) + 1,
                                shared_memory(tensors[0]->device()) / kBytes);
  start_long(static_cast<int>(kept), config_of(lines, context, 1, kLongThreads, kept * kBytes));
}

// Calls start(team, config) with the team for rows of which no element is read twice.
template <class T, class F>
void with_reading_team(SoftmaxArgs<2>& args, const std::array<const Tensor*, 2>& tensors,
                       const Context& context, const F& start) {
  args.vectors = has_vectors<T, 2>(args, tensors, false);
  if (args.vectors || args.n <= 32 * Tile<T, 2>::kSize || !has_vectors<T, 2>(args, tensors, true))
    return with_row_team<T, 2>(args, context, start);
  args.vectors = true;
  start(EdgedRows{kReduceThreads}, config_of(args.lines, context, 1, kReduceThreads));
}

// Few lines that are so long that blocks for them would leave most of the GPU idle: softmax and its
// gradient as reductions and elementwise operations, each on all of the GPU.
template <int N>
bool are_few(const Strided<N>& lines, int64_t n, const Context& context) {
  constexpr int64_t kLong = 1 << 17;  // from here on five launches pay on an H100
  return n >= kLong && lines.numel < context.multiprocessors / 4 &&
         !gradus::detail::batch_invariant();
}
void softmax_of_few(bool log, const Tensor& x, int64_t dim, const Tensor& out) {
  backend(out).zip(BinaryOp::sub, x, raw::reduce(ReduceOp::amax, x, IntArrayRef{dim}), out);
  const Tensor powers = log ? raw::map(UnaryOp::exp, out) : out;
  if (!log) raw::map_(UnaryOp::exp, out);
  const Tensor sum = raw::reduce(ReduceOp::sum, powers, IntArrayRef{dim});
  if (log)
    raw::zip_(BinaryOp::sub, out, raw::map(UnaryOp::log, sum));
  else
    raw::zip_(BinaryOp::div, out, sum);
}
void softmax_grad_of_few(bool log, const Tensor& grad, const Tensor& y, int64_t dim,
                         const Tensor& out) {
  const Tensor weights = log ? raw::map(UnaryOp::exp, y) : y;
  const Tensor products = log ? grad : raw::zip(BinaryOp::mul, grad, y);
  const Tensor sum = raw::reduce(ReduceOp::sum, products, IntArrayRef{dim});
  const Tensor share = raw::zip(BinaryOp::mul, weights, sum);
  backend(out).zip(BinaryOp::sub, products, share, out);
}

template <class T>
Targets<T> targets_of(const CrossEntropyRule& rule, const Tensor& target) {
  return {rule, static_cast<T>(rule.smoothing), target.data_ptr<int64_t>(), device_fault()};
}
// f(the type that is computed in, the type of logits x).
template <class F>
void visit_logits(const Tensor& x, const F& f) {
  if (x.dtype() == kHalf) return f(TypeTag<float>{}, TypeTag<Half>{});
  if (x.dtype() == kBFloat16) return f(TypeTag<float>{}, TypeTag<BFloat16>{});
  visit_floating("cross_entropy", x.dtype(), [&]<class T>(TypeTag<T> type) { f(type, type); });
}
template <class T>
RowSums<T> sums_of(const Tensor& rows) {
  T* const first = rows.data_ptr<T>();
  const int64_t count = rows.sizes()[1];
  return {first, first + count, first + 2 * count};
}

}  // namespace

void CudaBackend::softmax(bool log, const Tensor& x, int64_t dim, const Tensor& out) {
  const Context context(out);
  visit_floating("softmax", x.dtype(), [&]<class T>(TypeTag<T>) {
    const std::array tensors = {&out, &x};
    auto args = args_of<T, 2>(log, dim, tensors);
    if (are_few(args.lines, args.n, context)) return softmax_of_few(log, x, dim, out);
    T* const to = static_cast<T*>(out.data_ptr());
    const T* const from = static_cast<const T*>(x.data_ptr());
    with_team<T, 2>(
        args, tensors, context,
        [&]<class Team>(Team team, const LaunchConfig& config) {
          launch_pdl(softmax_kernel<T, Team>, config, args, team, to, from);
        },
        [&](int kept, const LaunchConfig& config) {
          launch_pdl(long_softmax_kernel<T>, config, args, kept, to, from);
        });
  });
}

void CudaBackend::softmax_grad(bool log, const Tensor& grad, const Tensor& y, int64_t dim,
                               const Tensor& out) {
  const Context context(out);
  visit_floating("softmax", y.dtype(), [&]<class T>(TypeTag<T>) {
    const std::array tensors = {&out, &grad, &y};
    auto args = args_of<T, 3>(log, dim, tensors);
    if (are_few(args.lines, args.n, context)) return softmax_grad_of_few(log, grad, y, dim, out);
    T* const to = static_cast<T*>(out.data_ptr());
    const T* const grads = static_cast<const T*>(grad.data_ptr());
    const T* const results = static_cast<const T*>(y.data_ptr());
    with_team<T, 3>(
        args, tensors, context,
        [&]<class Team>(Team team, const LaunchConfig& config) {
          launch_pdl(softmax_grad_kernel<T, Team>, config, args, team, to, grads, results);
        },
        [&](int kept, const LaunchConfig& config) {
          launch_pdl(long_softmax_grad_kernel<T>, config, args, kept, to, grads, results);
        });
  });
}

// More rows than this are averaged by several blocks.
constexpr int64_t kMostAveraged = 1 << 15;

void CudaBackend::cross_entropy(const CrossEntropyRule& rule, const Tensor& x, const Tensor& target,
                                const Tensor& weight, const Tensor& table, const Tensor& mean) {
  const Context context(x);
  const int64_t count = x.sizes()[0];
  visit_logits(x, [&]<class T, class S>(TypeTag<T>, TypeTag<S>) {
    const std::array tensors = {&x, &x};
    auto args = args_of<S, 2>(true, 1, tensors);
    with_reading_team<S>(args, tensors, context, [&]<class Team>(Team team, const auto& config) {
      launch_pdl(cross_entropy_kernel<T, S, Team>, config, args, team, targets_of<T>(rule, target),
                 sums_of<T>(raw::narrow(table, 0, 1, 3)),
                 weight.defined() ? weight.data_ptr<T>() : nullptr, table.data_ptr<T>(),
                 static_cast<const S*>(x.data_ptr()));
    });
    if (mean.defined() && count <= kMostAveraged)
      launch_pdl(average_losses_kernel<T>, {1, kAverageThreads, 0, context.stream}, count,
                 table.data_ptr<T>(), table.data_ptr<T>() + count, mean.data_ptr<T>());
  });
  if (!mean.defined() || count <= kMostAveraged) return;
  const Tensor sums = raw::reduce(ReduceOp::sum, raw::narrow(table, 0, 0, 2), IntArrayRef{1});
  const Tensor divisor = raw::narrow(sums, 0, 1, 1);
  raw::zip_(BinaryOp::div, raw::narrow(table, 0, 1, 1), divisor);
  raw::zip_into(BinaryOp::div, raw::as_strided(sums, {}, {}, 0), raw::as_strided(sums, {}, {}, 1),
                mean);
}

void CudaBackend::cross_entropy_grad(const CrossEntropyRule& rule, const Tensor& grad,
                                     const Tensor& x, const Tensor& target, const Tensor& rows,
                                     const Tensor& out) {
  const Context context(x);
  visit_logits(x, [&]<class T, class S>(TypeTag<T>, TypeTag<S>) {
    const std::array tensors = {&out, &x};
    auto args = args_of<S, 2>(true, 1, tensors);
    with_reading_team<S>(args, tensors, context, [&]<class Team>(Team team, const auto& config) {
      launch_pdl(cross_entropy_grad_kernel<T, S, Team>, config, args, team,
                 targets_of<T>(rule, target), sums_of<T>(rows), grad.data_ptr<T>(),
                 grad.strides()[0], static_cast<S*>(out.data_ptr()),
                 static_cast<const S*>(x.data_ptr()));
    });
  });
}

}  // namespace gradus::cuda
