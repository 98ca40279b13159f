// Starts the kernels of batch norm with channels last.
#include "gradus/cuda/ops/windows/normalize_columns.h"

#include "gradus/cuda/kernels/rows/normalize_columns.cuh"
#include "gradus/cuda/ops/windows/batch_statistics.cuh"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/tensor/raw/raw.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

namespace {

// f(a type, a constant: the columns of a thread) for what suits the tensors, which have x's type or
// are undefined.
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

// Blocks along columns and, so that `blocks` of them start, along rows.
LaunchConfig config_of(const Context& context, const NormalizedRows& rows, int width,
                       int64_t blocks) {
  constexpr int64_t kLeastRows = 4;  // of a thread
  const int64_t across = ceil_div(rows.length, int64_t{width});
  const dim3 block = block_of_rows(std::min<int64_t>(across, 32), kColumnThreads);
  const int64_t wide = ceil_div(across, int64_t{block.x});
  const int64_t most = ceil_div(rows.rows, int64_t{block.y} * kLeastRows);
  const int64_t down = std::min(most, std::max<int64_t>(1, blocks / wide));
  return {dim3(static_cast<unsigned>(wide), static_cast<unsigned>(down)), block, 0, context.stream};
}
// So many fit an H100 at once. The order of sums may not depend on the GPU.
constexpr int64_t kBlocks = 132 * 8, kBlocksOfSums = 132 * 3;

template <class T>
T* at(const Tensor& x) {
  return x.defined() ? static_cast<T*>(x.data_ptr()) : nullptr;
}

template <class S>
ColumnLists<S> lists_of(const Tensor& weight, const Tensor& bias, const Tensor& mean,
                        const Tensor& rstd) {
  return {at<const S>(weight), at<const S>(bias), at<const S>(mean), at<const S>(rstd)};
}

// Adds up the terms of each column and hands the totals to `of`.
template <class S, int V, class Terms, class Take>
void total(const Context& context, const NormalizedRows& rows, const Terms& terms, const Take& of) {
  const auto config = config_of(context, rows, V, kBlocksOfSums);
  const int count = static_cast<int>(rows.length), lines = static_cast<int>(config.grid.y);
  const Scratch table(sizeof(S) * 2 * config.grid.y * static_cast<size_t>(count));
  launch_pdl(column_sums<Terms, S, V>, config, Columns<V>{rows.rows, count}, terms, table.as<S>());
  launch_pdl(column_totals<S, Take>,
             {dim3(static_cast<unsigned>(ceil_div(count, kTotalColumns))),
              dim3(kTotalColumns, kTotalLines), 0, context.stream},
             count, lines, static_cast<const S*>(table.as<S>()), of);
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

void normalize_by_columns(const NormalizedRows& rows, const AfterNorm& after, const Tensor& x,
                          const Tensor& identity, const Tensor& weight, const Tensor& bias,
                          const Tensor& mean, const Tensor& rstd, const Tensor& out) {
  const Context context(out);
  with_columns(
      rows, x, {&identity, &out}, [&]<class T, int V>(TypeTag<T>, std::integral_constant<int, V>) {
        using S = Computed<T>;
        with_after(after, [&](auto adds, auto clamps) {
          launch_pdl(normalize_columns<T, S, V, adds, clamps>, config_of(context, rows, V, kBlocks),
                     Columns<V>{rows.rows, static_cast<int>(rows.length)}, at<const T>(x),
                     at<const T>(identity), lists_of<S>(weight, bias, mean, rstd),
                     bounds_as<S>(after.bounds), at<T>(out));
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
  with_columns(rows, x, {&grad, &y, &passed},
               [&]<class T, int V>(TypeTag<T>, std::integral_constant<int, V>) {
                 using S = Computed<T>;
                 with_mask(after, [&](auto adds, auto clamps) {
                   const GradTerms<T, V, adds, clamps> terms = {
                       at<const T>(grad),
                       at<const T>(x),
                       at<const T>(y),
                       at<T>(passed),
                       lists_of<S>(weight, bias, mean, rstd),
                       bounds_as<S>(after.bounds),
                       {}};
                   total<S, V>(context, rows, terms,
                               GradTotals<S>{at<const S>(rstd), at<S>(of_weight), at<S>(of_bias)});
                 });
               });
}

void grad_by_columns(const NormalizedRows& rows, const AfterNorm& after, const Tensor& grad, const Tensor& x,
                     const Tensor& weight, const Tensor& bias, const Tensor& mean,
                     const Tensor& rstd, const Tensor& of_weight, const Tensor& of_bias,
                     const Tensor& out) {
  const Context context(out);
  with_columns(
      rows, x, {&grad, &out}, [&]<class T, int V>(TypeTag<T>, std::integral_constant<int, V>) {
        using S = Computed<T>;
        with_flag(after.clamps, [&](auto clamps) {
          launch_pdl(column_grads<T, S, V, clamps>, config_of(context, rows, V, kBlocks),
                     Columns<V>{rows.rows, static_cast<int>(rows.length)}, at<const T>(grad),
                     at<const T>(x), lists_of<S>(weight, bias, mean, rstd),
                     bounds_as<S>(after.bounds), at<const S>(of_weight), at<const S>(of_bias),
                     at<T>(out));
        });
      });
}

}  // namespace gradus::cuda
