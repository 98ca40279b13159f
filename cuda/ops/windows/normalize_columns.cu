// Starts the kernels of batch norm with channels last.
#include "gradus/cuda/ops/windows/normalize_columns.h"

#include <cmath>
#include <initializer_list>
#include <type_traits>

#include "gradus/cuda/kernels/rows/normalize_columns.cuh"
#include "gradus/cuda/ops/windows/batch_statistics.cuh"
#include "gradus/cuda/runtime/block_counters.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/tensor/raw/raw.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

namespace {

// f(a type, a constant: the columns of a thread) for what suits the tensors: x, others of its type
// or undefined ones, and lists with a number for each column.
template <class F>
void with_columns(const NormalizedRows& rows, const Tensor& x,
                  std::initializer_list<const Tensor*> others, const F& f) {
  check<NotImplementedError>(rows.length <= 1 << 30, "batch_norm: ", rows.length,
                             " channels are more than a kernel counts; split them");
  const auto start = [&]<class T>(TypeTag<T> type) {
    constexpr int V = vector_width<T>;
    const auto aligned = [](const Tensor& t) {
      return is_aligned<V>(static_cast<const T*>(t.data_ptr()));
    };
    bool vectors = rows.length % V == 0 && aligned(x);
    for (const Tensor* other : others) vectors &= !other->defined() || aligned(*other);
    if (vectors)
      f(type, std::integral_constant<int, V>());
    else
      f(type, std::integral_constant<int, 1>());
  };
  if (x.dtype() == kHalf) return start(TypeTag<Half>{});
  if (x.dtype() == kBFloat16) return start(TypeTag<BFloat16>{});
  visit_floating("batch_norm", x.dtype(), start);
}

// The grid has about `blocks` blocks of `threads` threads, along columns and rows. A thread has at
// least `least` rows where there are so many.
LaunchConfig config_of(const Context& context, const NormalizedRows& rows, int width,
                       int64_t blocks, int threads = kColumnThreads, int64_t least = 4) {
  const int64_t most_across = width > 1 ? 8 : 32;  // 8 threads of 16 bytes have a line of the cache
  const int64_t across = ceil_div(rows.length, int64_t{width});
  const dim3 block = block_of_rows(std::min(across, most_across), static_cast<unsigned>(threads));
  const int64_t wide = ceil_div(across, int64_t{block.x});
  const int64_t most = ceil_div(rows.rows, int64_t{block.y} * least);
  const int64_t down = std::max<int64_t>(1, std::min(most, blocks / wide));
  return {dim3(static_cast<unsigned>(wide), static_cast<unsigned>(down)), block, 0, context.stream};
}
// So many fit an H100 at once. The order of sums may not depend on the GPU.
constexpr int64_t kBlocks = 132 * 8, kBlocksOfSums = 132;

template <class T>
T* at(const Tensor& x) {
  return x.defined() ? static_cast<T*>(x.data_ptr()) : nullptr;
}

template <class S>
ColumnLists<S> lists_of(const Tensor& weight, const Tensor& bias, const Tensor& mean,
                        const Tensor& rstd, double eps = kNoEps) {
  return {at<const S>(weight), at<const S>(bias), at<const S>(mean), at<const S>(rstd),
          static_cast<S>(eps)};
}

// f(what clamps, in S).
template <class S, class F>
void with_clamp(const AfterNorm& after, const F& f) {
  if (!after.clamps) return f(NoClamp<S>());
  const Bounds<S> bounds = bounds_as<S>(after.bounds);
  if (std::isnan(after.bounds.high)) return f(LowerBound<S>{bounds.low});
  f(TwoBounds<S>{bounds});
}

// Adds up the terms of each column and hands the totals to `of`.
template <class S, int V, class Terms, class Take>
void total(const Context& context, const NormalizedRows& rows, const Terms& terms, const Take& of) {
  const auto config = config_of(context, rows, V, kBlocksOfSums, kColumnSumThreads, /*least=*/1);
  // Where the grid is wider than the counters, it has one line of blocks: each is the last one.
  static_assert(kBlocksOfSums / 2 <= kBlockCounters);
  const Scratch table(sizeof(S) * 2 * V * config.block.x * config.grid.x * config.grid.y);
  launch_pdl(column_sums<Terms, S, V, Take>, config,
             Columns<V>{rows.rows, static_cast<int>(rows.length)}, terms, table.as<S>(),
             config.grid.y > 1 ? block_counters() : nullptr, of);
}

// The moments of columns for `make`(a type's tag), whose take() gets them.
template <class Make>
void total_moments(const NormalizedRows& rows, const Tensor& x, const Make& make) {
  const Context context(x);
  with_columns(rows, x, {}, [&]<class T, int V>(TypeTag<T>, std::integral_constant<int, V>) {
    using S = Computed<T>;
    const auto of = make(TypeTag<S>{});
    total<S, V>(
        context, rows, MomentTerms<T, V>{at<const T>(x), {}},
        MomentTotals<T, S, std::remove_const_t<decltype(of)>>{rows.rows, at<const T>(x), of});
  });
}

}  // namespace

void normalize_by_columns(const NormalizedRows& rows, const AfterNorm& after, double eps,
                          const Tensor& x, const Tensor& identity, const Tensor& weight,
                          const Tensor& bias, const Tensor& mean, const Tensor& rstd,
                          const Tensor& out) {
  const Context context(out);
  with_columns(rows, x, {&identity, &out, &weight, &bias, &mean, &rstd},
               [&]<class T, int V>(TypeTag<T>, std::integral_constant<int, V>) {
                 using S = Computed<T>;
                 with_clamp<S>(after, [&]<class Clamp>(const Clamp& clamp) {
                   with_flag(after.adds, [&](auto adds) {
                     launch_pdl(normalize_columns<T, S, V, adds, Clamp>,
                                config_of(context, rows, V, kBlocks),
                                Columns<V>{rows.rows, static_cast<int>(rows.length)},
                                at<const T>(x), at<const T>(identity),
                                lists_of<S>(weight, bias, mean, rstd, eps), clamp, at<T>(out));
                   });
                 });
               });
}

void moments_of_columns(const NormalizedRows& rows, const Tensor& x, const Tensor& mean,
                        const Tensor& variance) {
  total_moments(rows, x, [&]<class S>(TypeTag<S>) {
    return GivenMoments<S>{at<S>(mean), at<S>(variance)};
  });
}

void statistics_of_columns(const NormalizedRows& rows, double eps, double momentum, const Tensor& x,
                           const Tensor& running_mean, const Tensor& running_var,
                           const Tensor& count, const Tensor& mean, const Tensor& rstd) {
  total_moments(rows, x, [&]<class S>(TypeTag<S>) {
    return batch_statistics_of<S>(rows, eps, momentum, running_mean, running_var, count, mean,
                                  rstd);
  });
}

void sums_of_columns(const NormalizedRows& rows, const AfterNorm& after, const Tensor& grad,
                     const Tensor& x, const Tensor& y, const Tensor& weight, const Tensor& bias,
                     const Tensor& mean, const Tensor& rstd, const Tensor& of_weight,
                     const Tensor& of_bias, const Tensor& passed) {
  const Context context(x);
  with_columns(
      rows, x, {&grad, &y, &passed, &weight, &bias, &mean, &rstd},
      [&]<class T, int V>(TypeTag<T>, std::integral_constant<int, V>) {
        using S = Computed<T>;
        with_clamp<S>(after, [&]<class Clamp>(const Clamp& clamp) {
          // A sum that is not clamped passes all on.
          constexpr bool kClamps = !std::is_same_v<Clamp, NoClamp<S>>;
          with_flag(after.adds && kClamps, [&](auto adds) {
            if constexpr (kClamps || !adds) {
              const GradTerms<T, V, adds, Clamp> terms = {at<const T>(grad),
                                                          at<const T>(x),
                                                          at<const T>(y),
                                                          at<T>(passed),
                                                          lists_of<S>(weight, bias, mean, rstd),
                                                          clamp,
                                                          {}};
              total<S, V>(context, rows, terms,
                          GradTotals<S>{at<const S>(rstd), at<S>(of_weight), at<S>(of_bias)});
            }
          });
        });
      });
}

void grad_by_columns(const NormalizedRows& rows, const AfterNorm& after, const Tensor& grad,
                     const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& mean,
                     const Tensor& rstd, const Tensor& of_weight, const Tensor& of_bias,
                     const Tensor& out) {
  const Context context(out);
  with_columns(rows, x, {&grad, &out, &weight, &bias, &mean, &rstd, &of_weight, &of_bias},
               [&]<class T, int V>(TypeTag<T>, std::integral_constant<int, V>) {
                 using S = Computed<T>;
                 with_clamp<S>(after, [&]<class Clamp>(const Clamp& clamp) {
                   launch_pdl(column_grads<T, S, V, Clamp>, config_of(context, rows, V, kBlocks),
                              Columns<V>{rows.rows, static_cast<int>(rows.length)},
                              at<const T>(grad), at<const T>(x),
                              lists_of<S>(weight, bias, mean, rstd), clamp, at<const S>(of_weight),
                              at<const S>(of_bias), at<T>(out));
                 });
               });
}

}  // namespace gradus::cuda
