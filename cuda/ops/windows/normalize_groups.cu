// Starts the kernels of group norm with channels last.
#include "gradus/cuda/ops/windows/normalize_groups.h"

#include <initializer_list>
#include <type_traits>

#include "gradus/cuda/kernels/rows/normalize_groups.cuh"
#include "gradus/cuda/runtime/block_counters.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/tensor/base/batch_invariant.h"
#include "gradus/tensor/raw/raw.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

namespace {

template <class T>
T* data_of(const Tensor& x) {
  return x.defined() ? static_cast<T*>(x.data_ptr()) : nullptr;
}

// f(x's type, other's, a constant: the columns of a thread, which are of one group). lists: with a
// number for each column, or undefined.
template <class F>
void with_types(const NormalizedRows& rows, const Tensor& x, const Tensor& other,
                std::initializer_list<const Tensor*> lists, const F& f) {
  check<NotImplementedError>(rows.length <= 1 << 30, "group_norm: ", rows.length,
                             " channels are more than a kernel counts; split them");
  const auto start = [&]<class T, class O>(TypeTag<T> type, TypeTag<O> of_other) {
    constexpr int V = vector_width<T>;
    const auto aligned = [](const Tensor& t) {
      return reinterpret_cast<uintptr_t>(t.data_ptr()) % kAccessBytes == 0;
    };
    bool vectors = rows.length / rows.groups % V == 0 && aligned(x) && aligned(other);
    for (const Tensor* list : lists) vectors &= !list->defined() || aligned(*list);
    if (vectors)
      f(type, of_other, std::integral_constant<int, V>());
    else
      f(type, of_other, std::integral_constant<int, 1>());
  };
  const auto of_half = [&](auto type) {
    other.dtype() == kFloat ? start(type, TypeTag<float>{}) : start(type, type);
  };
  if (x.dtype() == kHalf) return of_half(TypeTag<Half>{});
  if (x.dtype() == kBFloat16) return of_half(TypeTag<BFloat16>{});
  visit_floating("group_norm", x.dtype(), [&](auto type) { start(type, type); });
}

int64_t rows_of_sample(const NormalizedRows& rows) { return rows.rows / rows.samples; }

template <int V>
Columns<V> sample_columns(const NormalizedRows& rows) {
  return {rows_of_sample(rows), static_cast<int>(rows.length)};
}

// The grid has about `blocks` blocks: they lie along columns, rows and samples. A thread has at
// least `least` rows where there are so many.
LaunchConfig samples_config(const Context& context, const NormalizedRows& rows, int width,
                            int64_t blocks, int threads, int64_t least) {
  const int64_t most_across = width > 1 ? 8 : 32;  // 8 threads of 16 bytes have a line of the cache
  const int64_t across = ceil_div(rows.length, int64_t{width});
  const dim3 block = block_of_rows(std::min(across, most_across), static_cast<unsigned>(threads));
  const int64_t wide = ceil_div(across, int64_t{block.x});
  const int64_t most = ceil_div(rows_of_sample(rows), int64_t{block.y} * least);
  const int64_t down = std::max<int64_t>(1, std::min(most, blocks / (wide * rows.samples)));
  return {dim3(static_cast<unsigned>(wide), static_cast<unsigned>(down),
               static_cast<unsigned>(rows.samples)),
          block, 0, context.stream};
}
// So many fit an H100 at once. The order of sums may not depend on the GPU.
constexpr int64_t kBlocks = 132 * 8, kBlocksOfSums = 132;

template <int V>
LaunchConfig elements_config(const Context& context, const NormalizedRows& rows) {
  return samples_config(context, rows, V, kBlocks, kColumnThreads, /*least=*/4);
}

// Adds up the terms of each sample's columns and hands the totals to `of`.
template <class S, int V, class Terms, class Take>
void total_of_samples(const Context& context, const NormalizedRows& rows, const Terms& terms,
                      const Take& of) {
  // One block adds up where the order of sums may not depend on the batch.
  const int64_t blocks = gradus::detail::batch_invariant() ? 1 : kBlocksOfSums;
  const auto config = samples_config(context, rows, V, blocks, kColumnSumThreads, /*least=*/1);
  // Where places have several blocks, there are few places.
  static_assert(kBlocksOfSums / 2 <= kBlockCounters);
  const Scratch table(sizeof(S) * 2 * V * config.block.x * config.grid.x * config.grid.y *
                      config.grid.z);
  launch_pdl(column_sums<Terms, S, V, Take>, config, sample_columns<V>(rows), terms,
             table.template as<S>(), config.grid.y > 1 ? block_counters() : nullptr, of);
}

// A warp for each of n.
LaunchConfig warps_config(const Context& context, int64_t n) {
  return {dim3(static_cast<unsigned>(ceil_div(n * 32, int64_t{kGroupThreads}))), kGroupThreads, 0,
          context.stream};
}

template <class S>
GroupLists<S> group_lists(const NormalizedRows& rows, const Tensor& weight, const Tensor& bias,
                          const Tensor& mean, const Tensor& rstd) {
  return {static_cast<int>(rows.groups), data_of<const S>(weight), data_of<const S>(bias),
          data_of<const S>(mean), data_of<const S>(rstd)};
}

}  // namespace

void statistics_of_groups(const NormalizedRows& rows, double eps, const Tensor& x,
                          const Tensor& mean, const Tensor& rstd) {
  const Context context(x);
  const Tensor moments = raw::empty({2, rows.samples * rows.length}, mean.dtype(), mean.device());
  with_types(rows, x, x, {}, [&]<class T, int V>(TypeTag<T>, auto, std::integral_constant<int, V>) {
    using S = Computed<T>;
    S *const means = data_of<S>(moments), *const variances = means + rows.samples * rows.length;
    total_of_samples<S, V>(context, rows, SampleMomentTerms<T, V>{{data_of<const T>(x), {}}},
                           SampleMoments<T, S>{rows_of_sample(rows), static_cast<int>(rows.length),
                                               data_of<const T>(x), means, variances});
    const int64_t groups = rows.statistics();
    launch_pdl(group_statistics<S>, warps_config(context, groups), static_cast<int>(groups),
               static_cast<int>(rows.length / rows.groups), rows_of_sample(rows), eps,
               static_cast<const S*>(means), static_cast<const S*>(variances), data_of<S>(mean),
               data_of<S>(rstd));
  });
}

void normalize_by_groups(const NormalizedRows& rows, const AfterNorm& after, const Tensor& x,
                         const Tensor& weight, const Tensor& bias, const Tensor& mean,
                         const Tensor& rstd, const Tensor& out) {
  const Context context(out);
  with_types(rows, x, out, {&weight, &bias},
             [&]<class T, class O, int V>(TypeTag<T>, TypeTag<O>, std::integral_constant<int, V>) {
               launch_pdl(group_normalize<T, O, V>, elements_config<V>(context, rows),
                          sample_columns<V>(rows), data_of<const T>(x),
                          group_lists<Computed<T>>(rows, weight, bias, mean, rstd), after.silu,
                          data_of<O>(out));
             });
}

void grads_by_groups(const NormalizedRows& rows, const AfterNorm& after, const Tensor& grad,
                     const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& mean,
                     const Tensor& rstd, const Tensor& of_weight, const Tensor& of_bias,
                     const Tensor& of_x) {
  const Context context(x);
  const int64_t columns = rows.samples * rows.length, groups = rows.statistics();
  const Tensor table = raw::empty({2 * (columns + groups)}, mean.dtype(), mean.device());
  with_types(rows, x, grad, {&weight, &bias, &of_x},
             [&]<class T, class G, int V>(TypeTag<T>, TypeTag<G>, std::integral_constant<int, V>) {
               using S = Computed<T>;
               S *const products = data_of<S>(table), *const sums = products + columns,
                        *const of_groups = sums + columns;
               const auto lists = group_lists<S>(rows, weight, bias, mean, rstd);
               const auto* const from = data_of<const G>(grad);
               const auto* const at = data_of<const T>(x);
               total_of_samples<S, V>(context, rows,
                                      GroupGradTerms<G, T, V>{from, at, lists, after.silu, {}},
                                      SampleSums<S>{static_cast<int>(rows.length), products, sums});
               launch_pdl(group_totals<S>, warps_config(context, groups + rows.length),
                          static_cast<int>(rows.samples), static_cast<int>(rows.length),
                          static_cast<double>(rows.elements()), lists,
                          GroupTotals<S>{products, sums, data_of<S>(of_weight), data_of<S>(of_bias),
                                         of_groups, of_groups + groups});
               if (of_x.defined())
                 launch_pdl(group_grads<G, T, V>, elements_config<V>(context, rows),
                            sample_columns<V>(rows), from, at, lists, after.silu,
                            static_cast<const S*>(of_groups),
                            static_cast<const S*>(of_groups + groups), data_of<T>(of_x));
             });
}

}  // namespace gradus::cuda
