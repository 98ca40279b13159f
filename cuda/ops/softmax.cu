#include "gradus/cuda/kernels/softmax.cuh"

#include <bit>
#include <cstdlib>

#include "gradus/cuda/backend.h"
#include "gradus/cuda/ops/division.h"

namespace gradus::cuda {

namespace {

// Lines along dim of tensors of one shape.
template <class T, int N>
SoftmaxArgs<N> args_of(bool log, int64_t dim, const std::array<const Tensor*, N>& tensors) {
  constexpr int V = vector_width<T>;
  SoftmaxArgs<N> args{};
  Dims sizes = tensors[0]->impl().sizes;
  args.n = sizes[dim];
  args.log = log;
  sizes[dim] = 1;
  std::array<IntArrayRef, N> strides;
  for (int t = 0; t < N; ++t) {
    strides[t] = tensors[t]->strides();
    args.step[t] = strides[t][dim];
  }
  args.lines = collapse<N>(sizes, strides);
  args.vectors = args.n % V == 0;
  for (int t = 0; t < N; ++t) {
    args.vectors &= args.step[t] == 1 && is_aligned<V>(static_cast<T*>(tensors[t]->data_ptr()));
    for (int d = 0; d < args.lines.dims; ++d) args.vectors &= args.lines.stride[t][d] % V == 0;
  }
  return args;
}

// Threads for a line: as few as have it in their registers, but at least as many as read whole
// sectors of memory; up to a warp for lines that this has, and up to a block for longer ones.
template <class T, int N>
int lanes_for(int64_t n, bool vectors) {
  constexpr int64_t kOwn = Tile<T, N>::kSize;
  const int64_t most = n > 32 * kOwn ? kReduceThreads : 32;
  const int64_t lanes = vectors ? std::max<int64_t>(ceil_div(n, kOwn), 2) : n;
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::min(lanes, most))));
}

// Calls start(team, grid, threads) with the team for these lines.
template <class T, int N, class F>
void with_team(const SoftmaxArgs<N>& args, const F& start) {
  const Strided<N>& lines = args.lines;
  const auto blocks = [&](int64_t each) {
    return dim3(static_cast<unsigned>(ceil_div(lines.numel, each)));
  };
  const int64_t next = lines.dims > 0 ? lines.stride[1][lines.dims - 1] : 0;
  if (lines.numel > 1 && std::abs(next) < std::abs(args.step[1])) {
    const Division division = divide_block(lines.numel, next, args.n, args.step[1]);
    return start(ColumnTeam{division}, blocks(division.kept), division.kept * division.reduced);
  }
  const int lanes = lanes_for<T, N>(args.n, args.vectors);
  const int threads = lanes > 32 ? lanes : kReduceThreads;
  start(RowTeam{lanes}, blocks(threads / lanes), threads);
}

}  // namespace

void CudaBackend::softmax(bool log, const Tensor& x, int64_t dim, const Tensor& out) {
  const Context context(out);
  visit_floating("softmax", x.dtype(), [&]<class T>(TypeTag<T>) {
    const auto args = args_of<T, 2>(log, dim, {&out, &x});
    with_team<T>(args, [&]<class Team>(Team team, dim3 grid, int threads) {
      launch(softmax_kernel<T, Team>, {grid, static_cast<unsigned>(threads), 0, context.stream},
             args, team, static_cast<T*>(out.data_ptr()), static_cast<const T*>(x.data_ptr()));
    });
  });
}

void CudaBackend::softmax_grad(bool log, const Tensor& grad, const Tensor& y, int64_t dim,
                               const Tensor& out) {
  const Context context(out);
  visit_floating("softmax", y.dtype(), [&]<class T>(TypeTag<T>) {
    const auto args = args_of<T, 3>(log, dim, {&out, &grad, &y});
    with_team<T>(args, [&]<class Team>(Team team, dim3 grid, int threads) {
      launch(softmax_grad_kernel<T, Team>,
             {grid, static_cast<unsigned>(threads), 0, context.stream}, args, team,
             static_cast<T*>(out.data_ptr()), static_cast<const T*>(grad.data_ptr()),
             static_cast<const T*>(y.data_ptr()));
    });
  });
}

}  // namespace gradus::cuda
