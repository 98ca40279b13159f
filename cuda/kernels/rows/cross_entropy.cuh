// Cross entropy of rows of logits against class numbers, and its gradient. Each reads the logits
// once: the forward pass keeps what the gradient needs of a row, its largest element and the
// logarithm of the sum of powers of e about it. A team goes over a row as in softmax.cuh. Logits of
// a type S are computed with in T: halves in float.
#pragma once

#include "gradus/cuda/kernels/index.cuh"
#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/rows/softmax.cuh"
#include "gradus/tensor/base/cross_entropy_rule.h"

namespace gradus::cuda {

template <class T>
struct Targets {
  CrossEntropyRule rule;
  T smoothing;
  const int64_t* number;
  Fault* fault;
};

// The sums of each row: the factor of its loss, its largest element, and log(sum(e^(x - largest))).
template <class T>
struct RowSums {
  T *factor, *top, *log_sum;
};

template <class T, class S, class Team>
__global__ void __launch_bounds__(Team::kThreads, Team::kBlocks)
    cross_entropy_kernel(SoftmaxArgs<2> args, Team team, Targets<T> targets, RowSums<T> rows,
                         const T* weight, T* loss, const S* x) {
  wait_for_earlier_kernels();
  using Max = scalar::Reduction<ReduceOp::amax>;
  using Sum = scalar::Reduction<ReduceOp::sum>;
  const int64_t line = team.line();
  const bool valid = line < args.lines.numel;
  const auto at = offsets_of(args.lines, valid ? line : 0);
  x += at.at[1];
  Share<S, 2, Team::kEdges> share{team.lane(), team.size(), args.vectors};
  share.align(args, at, x);
  const S* const first_vector = x - share.skip;
  const int64_t n = args.n + share.skip;
  const int length = share.tile_length();
  constexpr T least = scalar::least<T>();
  const auto padding = static_cast<S>(least);

  const bool decides = valid && team.lane() == 0;
  const int64_t number = decides ? targets.number[line] : 0;
  Tile<S, 2> tile;
  // This thread's largest element so far, the sum of powers of e about it and, for smoothing, of
  // its `own` elements.
  T top = least, powers = 0, own = 0, total = 0;
  for (int64_t first = 0; first < n; first += length) {
    share.begin = first == 0 ? share.skip : 0;
    const int count = valid ? static_cast<int>(::min(n - first, int64_t{length})) : 0;
    share.load(tile, first_vector + first, 1, count, padding);
    T next = top;
    share.for_each(count, [&](int k) { next = Max::combine(next, static_cast<T>(tile.at[k])); });
    const T about = center(next);
    powers *= scalar::exp(top - about);
    share.for_each(count,
                   [&](int k) { powers += scalar::exp(static_cast<T>(tile.at[k]) - about); });
    if (targets.smoothing != 0) {
      total += own * (center(top) - about);
      share.for_own(count, 1, [&](int k, int64_t i, auto some) {
        for (int v = 0; v < some.value; ++v)
          if (i + v >= share.begin && i + v < count)
            total += static_cast<T>(tile.at[k + v]) - about, own += 1;
      });
    }
    top = next;
  }
  // Read while others fold, and most likely still in the cache.
  const bool names_class = decides && targets.rule.classes.allows(number);
  const T picked = names_class ? static_cast<T>(x[number]) : T(0);
  const T about = center(team.template fold<Max>(top));
  const auto fold = [&](T value) {
    if (team.size() > 32) __syncthreads();  // the memory of the fold before is used again
    return team.template fold<Sum>(value);
  };
  powers = fold(top == least ? T(0) : powers * scalar::exp(top - about));
  if (targets.smoothing != 0) total = fold(total + own * (center(top) - about));
  if (!decides) return;

  const T log_sum = scalar::log(powers);
  rows.top[line] = about;
  rows.log_sum[line] = log_sum;
  rows.factor[line] = loss[line] = 0;
  if (number == targets.rule.ignored || !in_range(targets.fault, targets.rule.classes, number))
    return;
  const T factor = weight == nullptr ? T(1) : weight[number];
  T value = log_sum - (1 - targets.smoothing) * (picked - about);
  if (targets.smoothing != 0) value -= targets.smoothing * (total / static_cast<T>(args.n));
  rows.factor[line] = factor;
  loss[line] = factor * value;
}

// The sum of n losses over that of their factors, which are divided by it; by one block.
inline constexpr int kAverageThreads = 1024;
template <class T>
__global__ void __launch_bounds__(kAverageThreads)
    average_losses_kernel(int64_t n, const T* loss, T* factor, T* mean) {
  wait_for_earlier_kernels();
  using Sum = scalar::Reduction<ReduceOp::sum>;
  T sum = 0, divisor = 0;
#pragma unroll 8
  for (int64_t i = threadIdx.x; i < n; i += kAverageThreads) sum += loss[i], divisor += factor[i];
  sum = fold_lanes<Sum>(sum, kAverageThreads);
  __syncthreads();  // the memory of the fold before is used again
  divisor = fold_lanes<Sum>(divisor, kAverageThreads);
#pragma unroll 8
  for (int64_t i = threadIdx.x; i < n; i += kAverageThreads) factor[i] /= divisor;
  if (threadIdx.x == 0) *mean = sum / divisor;
}

// out = grad factor (softmax(x) - the shares of the classes). Fewer blocks have room for doubles.
template <class T, class S, class Team>
__global__ void __launch_bounds__(Team::kThreads, (sizeof(T) > sizeof(float) ? 2 : Team::kBlocks))
    cross_entropy_grad_kernel(SoftmaxArgs<2> args, Team team, Targets<T> targets, RowSums<T> rows,
                              const T* grad, int64_t grad_step, S* out, const S* x) {
  wait_for_earlier_kernels();
  const int64_t line = team.line();
  if (line >= args.lines.numel) return;
  const auto at = offsets_of(args.lines, line);
  x += at.at[1];
  Share<S, 2, Team::kEdges> share{team.lane(), team.size(), args.vectors};
  share.align(args, at, x);
  x -= share.skip;
  out += at.at[0] - share.skip;
  const int64_t n = args.n + share.skip;
  const int length = share.tile_length();

  const int64_t number = targets.number[line];
  const bool ignored = number == targets.rule.ignored;
  const T scale = rows.factor[line] * grad[line * grad_step];
  const T top = rows.top[line], log_sum = rows.log_sum[line];
  const T each = targets.smoothing / static_cast<T>(args.n);
  Tile<S, 2> tile;
  for (int64_t first = 0; first < n; first += length) {
    share.begin = first == 0 ? share.skip : 0;
    const int count = static_cast<int>(::min(n - first, int64_t{length}));
    share.load(tile, x + first, 1, count, S(0));
    const int target = share.place_of(number + share.skip - first);
    share.for_each(count, [&](int k) {
      T power = scalar::exp((static_cast<T>(tile.at[k]) - top) - log_sum) - each;
      if (k == target) power -= 1 - targets.smoothing;
      tile.at[k] = static_cast<S>(ignored ? T(0) : scale * power);
    });
    share.store(tile, out + first, 1, count);
  }
}

}  // namespace gradus::cuda
