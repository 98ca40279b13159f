// Normalisations by rows, and the sums that their gradients need.
#include "gradus/cuda/kernels/rows/normalize_columns.cuh"
#include "gradus/cuda/kernels/rows/normalize_grads.cuh"

#include <bit>

#include "gradus/cuda/backend.h"
#include "gradus/cuda/ops/matmul/column_sums.h"
#include "gradus/cuda/ops/matmul/merge.h"
#include "gradus/cuda/ops/windows/batch_statistics.cuh"
#include "gradus/cuda/ops/windows/normalize_columns.h"
#include "gradus/cuda/ops/windows/normalize_groups.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/tensor/raw/raw.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

namespace {

template <class T>
const T* data(const Tensor& x) {
  return x.defined() ? static_cast<const T*>(x.data_ptr()) : nullptr;
}

// Threads for n elements: as many as keep their vectors; up to a warp, and for longer rows up to a
// block.
int lanes_for(int64_t n, int width) {
  const int64_t vectors = ceil_div<int64_t>(n, width),
                wanted = ceil_div<int64_t>(vectors, kNormVectors);
  const int64_t lanes =
      wanted <= 32 ? std::min<int64_t>(vectors, 32) : std::min<int64_t>(wanted, kMostNormThreads);
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(lanes)));
}

// Whether rows of these tensors begin and end between vectors, as runs of one weight do.
template <class T>
bool has_vectors(const NormalizedRows& rows, std::initializer_list<const Tensor*> tensors) {
  constexpr int V = vector_width<T>;
  bool out = rows.length % V == 0 && (rows.inner == 1 || rows.inner % V == 0);
  for (const Tensor* x : tensors)
    out &= !x->defined() || is_aligned<V>(static_cast<const T*>(x->data_ptr()));
  return out;
}

// Whether vectors of G's elements, as many as those of T have, begin at x.
template <class T, class G>
bool has_vectors_of(const Tensor& x) {
  return is_aligned<vector_width<T>>(data<G>(x));
}

HalfCopy copy_to(const Tensor& low) {
  return low.defined() ? HalfCopy{low.data_ptr(), low.dtype() == kBFloat16} : HalfCopy{};
}

// f(a constant, the width of vectors).
template <class T, class F>
void with_width(bool vectors, const F& f) {
  if (vectors)
    f(std::integral_constant<int, vector_width<T>>());
  else
    f(std::integral_constant<int, 1>());
}

// Threads count the elements of a row in 32 bits, and step beyond its end.
void check_length(const NormalizedRows& rows) {
  constexpr int64_t kMost = (int64_t{1} << 31) - (1 << 16);
  check<NotImplementedError>(rows.length <= kMost, "normalize: a row has ", rows.length,
                             " elements, expected at most ", kMost,
                             " on a GPU; make more groups, or compute it on the CPU");
}

LaunchConfig config_for(const Context& context, int64_t teams, int lanes) {
  const int threads = lanes > 32 ? lanes : kNormThreads;
  return {dim3(static_cast<unsigned>(ceil_div<int64_t>(teams, threads / lanes))),
          dim3(static_cast<unsigned>(threads)), 0, context.stream};
}

// A row of sums (2, n).
Tensor row_of(const Tensor& sums, int64_t i) {
  return raw::alias(raw::narrow(sums, 0, i, 1), {sums.size(1)}, {1});
}

// The moments of groups of rows, for what `make`(a type's tag) gives: its take() gets them.
template <class Make>
void group_moments(const NormalizedRows& rows, const Tensor& x, const Make& make) {
  check_length(rows);
  const Context context(x);
  const Tensor table = raw::empty({2, rows.rows}, x.dtype(), x.device());
  visit_floating("normalize", x.dtype(), [&]<class T>(TypeTag<T> type) {
    T *const means = table.data_ptr<T>(), *const squares = means + rows.rows;
    const T* const none = nullptr;
    with_width<T>(has_vectors<T>(rows, {&x}), [&](auto width) {
      const int lanes = lanes_for(rows.length, width);
      launch_pdl(normalize_kernel<T, width, true, false, false>,
                 config_for(context, rows.rows, lanes), NormTeam<width>{rows, lanes}, 0.0,
                 data<T>(x), none, none, none, means, squares, Bounds<T>{},
                 static_cast<T*>(nullptr), HalfCopy{});
    });
    const auto of = make(type);
    launch_pdl(group_moments_kernel<T, std::remove_const_t<decltype(of)>>,
               config_for(context, rows.groups, 32), rows, static_cast<const T*>(means),
               static_cast<const T*>(squares), of);
  });
}

template <int V, class In>
void normalize_few(const Context& context, int64_t rows, int lanes, float eps, const Tensor& x,
                   const Tensor& weight, const Tensor& bias, const Tensor& mean, const Tensor& rstd,
                   const Tensor& out) {
  const auto length = static_cast<int>(x.numel() / rows);
  const NormalizedRowArgs args{length,
                               lanes,
                               eps,
                               data<In>(x),
                               data<In>(weight),
                               data<In>(bias),
                               mean.data_ptr<float>(),
                               rstd.data_ptr<float>(),
                               out.data_ptr()};
  launch_pdl(
      normalize_few_rows<V, In>,
      {dim3(static_cast<unsigned>(rows)), dim3(static_cast<unsigned>(lanes)), 0, context.stream},
      length, eps, data<In>(x), data<In>(weight), data<In>(bias), args.mean, args.rstd,
      static_cast<In*>(out.data_ptr()));
  if (rows == 1 && V == vector_width<In>) note_norm(args, x, weight, bias, mean, rstd, out);
}

// Rows of half types, with statistics of their own, computed in float32. A thread keeps one vector
// where rows are no longer than a block's.
void normalize_halves(const NormalizedRows& rows, double eps, const Tensor& x, const Tensor& weight,
                      const Tensor& bias, const Tensor& mean, const Tensor& rstd,
                      const Tensor& out) {
  const Context context(out);
  const auto run = [&]<class In>(TypeTag<In>) {
    with_width<In>(has_vectors<In>(rows, {&x, &weight, &bias, &out}), [&](auto width) {
      const int64_t vectors =
          std::min<int64_t>(ceil_div<int64_t>(rows.length, width), kNormThreads);
      const int lanes = std::max(lanes_for(rows.length, width),
                                 static_cast<int>(std::bit_ceil(static_cast<unsigned>(vectors))));
      constexpr int64_t kFewRows = 32;
      if (rows.rows <= kFewRows && rows.groups == 1 && rows.inner == 1 && lanes >= 32 &&
          lanes <= kNormThreads && rows.length <= int64_t{lanes} * width)
        return normalize_few<width, In>(context, rows.rows, lanes, static_cast<float>(eps), x,
                                        weight, bias, mean, rstd, out);
      launch_pdl(normalize_kernel<float, width, false, false, false, In>,
                 config_for(context, rows.rows, lanes), NormTeam<width>{rows, lanes}, eps,
                 data<In>(x), static_cast<const In*>(nullptr), data<In>(weight), data<In>(bias),
                 mean.data_ptr<float>(), rstd.data_ptr<float>(), Bounds<float>{},
                 static_cast<In*>(out.data_ptr()), HalfCopy{});
    });
  };
  x.dtype() == kHalf ? run(TypeTag<Half>{}) : run(TypeTag<BFloat16>{});
}

void normalize_by_rows(const NormalizedRows& rows, const AfterNorm& after, double eps,
                       const Tensor& x, const Tensor& identity, const Tensor& weight,
                       const Tensor& bias, const Tensor& mean, const Tensor& rstd,
                       const Tensor& out, const Tensor& low) {
  check_length(rows);
  const Context context(out);
  visit_floating("normalize", x.dtype(), [&]<class T>(TypeTag<T>) {
    const bool vectors =
        has_vectors<T>(rows, {&x, &identity, &weight, &bias, &out}) && has_vectors_of<T, Half>(low);
    with_width<T>(vectors, [&](auto width) {
      const int lanes = lanes_for(rows.length, width);
      with_after(after, [&](auto adds, auto clamps) {
        launch_pdl(normalize_kernel<T, width, false, adds, clamps>,
                   config_for(context, rows.rows, lanes), NormTeam<width>{rows, lanes}, eps,
                   data<T>(x), data<T>(identity), data<T>(weight), data<T>(bias),
                   mean.data_ptr<T>(), rstd.data_ptr<T>(), bounds_as<T>(after.bounds),
                   out.data_ptr<T>(), copy_to(low));
      });
    });
  });
}

// Rows of half types that share statistics, computed in float32.
void normalize_halves_by(const NormalizedRows& rows, double eps, const Tensor& x,
                         const Tensor& weight, const Tensor& bias, const Tensor& mean,
                         const Tensor& rstd, const Tensor& out) {
  check_length(rows);
  const Context context(out);
  const auto run = [&]<class In>(TypeTag<In>) {
    with_width<In>(has_vectors<In>(rows, {&x, &out}), [&](auto width) {
      const int lanes = lanes_for(rows.length, width);
      launch_pdl(normalize_kernel<float, width, false, false, false, In, float>,
                 config_for(context, rows.rows, lanes), NormTeam<width>{rows, lanes}, eps,
                 data<In>(x), static_cast<const In*>(nullptr), data<float>(weight),
                 data<float>(bias), mean.data_ptr<float>(), rstd.data_ptr<float>(), Bounds<float>{},
                 static_cast<In*>(out.data_ptr()), HalfCopy{});
    });
  };
  x.dtype() == kHalf ? run(TypeTag<Half>{}) : run(TypeTag<BFloat16>{});
}

void grad_by_rows(const NormalizedRows& rows, const AfterNorm& after, const Tensor& grad,
                  const Tensor& x, const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                  const Tensor& bias, const Tensor& products, const Tensor& sums,
                  const Tensor& out) {
  check_length(rows);
  const Context context(out);
  visit_floating("normalize", x.dtype(), [&]<class T>(TypeTag<T>) {
    with_width<T>(has_vectors<T>(rows, {&grad, &x, &weight, &out}), [&](auto width) {
      const int lanes = lanes_for(rows.length, width);
      with_flag(after.clamps, [&](auto clamps) {
        launch_pdl(normalize_grad_kernel<T, width, clamps>, config_for(context, rows.rows, lanes),
                   NormTeam<width>{rows, lanes}, data<T>(grad), data<T>(x), data<T>(mean),
                   data<T>(rstd), data<T>(weight), data<T>(bias), data<T>(products), data<T>(sums),
                   bounds_as<T>(after.bounds), out.data_ptr<T>());
      });
    });
  });
}

// The sums for weights (2, lines, groups * weights), whose lines are still to be added up. after,
// y, passed: as for columns.
Tensor table_of_sums(const NormalizedRows& rows, const AfterNorm& after, const Tensor& grad,
                     const Tensor& x, const Tensor& y, const Tensor& weight, const Tensor& bias,
                     const Tensor& mean, const Tensor& rstd, const Tensor& passed) {
  check_length(rows);
  const Context context(x);
  const bool by_element = !rows.shared && rows.inner == 1 && rows.groups == 1;
  // Lines of sums, which are added up after this: one for each sample, or for so many rows that
  // every multiprocessor has a few blocks.
  constexpr int64_t kBlocks = 512, kLeastRows = 32;
  const int64_t width = rows.groups * rows.weights();
  const int64_t wanted = ceil_div<int64_t>(kBlocks, ceil_div<int64_t>(rows.length, 128));
  const int64_t most = ceil_div<int64_t>(rows.rows, kLeastRows);
  const int64_t share = ceil_div<int64_t>(rows.rows, std::min(wanted, most));
  const int64_t lines = by_element ? ceil_div<int64_t>(rows.rows, share) : rows.rows / rows.groups;
  const Tensor table = raw::empty({2, lines, width}, x.dtype(), x.device());
  visit_floating("normalize", x.dtype(), [&]<class T>(TypeTag<T>) {
    T *const weight_sums = table.data_ptr<T>(), *const bias_sums = weight_sums + lines * width;
    // Runs begin between vectors, too.
    const bool aligned = by_element || rows.inner % vector_width<T> == 0;
    const bool vectors = has_vectors<T>(rows, {&grad, &x, &y, &passed, &table});
    with_width<T>(aligned && vectors, [&](auto vector) {
      if (by_element) {
        const auto blocks = static_cast<unsigned>(ceil_div<int64_t>(rows.length, 32 * vector));
        launch_pdl(column_sums_kernel<T, vector>,
                   {dim3(blocks, static_cast<unsigned>(lines)), kNormThreads, 0, context.stream},
                   rows, share, data<T>(grad), data<T>(x), data<T>(mean), data<T>(rstd),
                   weight_sums, bias_sums);
      } else {
        const int lanes = std::min(lanes_for(rows.inner, vector), kNormThreads);
        with_mask(after, [&](auto adds, auto clamps) {
          launch_pdl(run_sums_kernel<T, vector, adds, clamps>,
                     config_for(context, rows.rows * rows.weights(), lanes), rows, lanes,
                     data<T>(grad), data<T>(x), data<T>(y), data<T>(mean), data<T>(rstd),
                     data<T>(weight), data<T>(bias), bounds_as<T>(after.bounds),
                     const_cast<T*>(data<T>(passed)), weight_sums, bias_sums);
        });
      }
    });
  });
  return table;
}

}  // namespace

void CudaBackend::normalize(const NormalizedRows& rows, double eps, const Tensor& x,
                            const Tensor& weight, const Tensor& bias, const Tensor& mean,
                            const Tensor& rstd, const Tensor& out) {
  if (rows.columns)
    return normalize_by_columns(rows, {}, kNoEps, x, {}, weight, bias, mean, rstd, out);
  if (x.dtype() == kHalf || x.dtype() == kBFloat16) {
    check_length(rows);
    return normalize_halves(rows, eps, x, weight, bias, mean, rstd, out);
  }
  normalize_by_rows(rows, {}, rows.shared ? kNoEps : eps, x, {}, weight, bias, mean, rstd, out, {});
}

void CudaBackend::normalize_twice(const NormalizedRows& rows, double eps, const Tensor& x,
                                  const Tensor& weight, const Tensor& bias, const Tensor& mean,
                                  const Tensor& rstd, const Tensor& out, const Tensor& low) {
  normalize_by_rows(rows, {}, eps, x, {}, weight, bias, mean, rstd, out, low);
}

void CudaBackend::moments(const NormalizedRows& rows, const Tensor& x, const Tensor& mean,
                          const Tensor& variance) {
  if (rows.columns) return moments_of_columns(rows, x, mean, variance);
  group_moments(rows, x, [&]<class T>(TypeTag<T>) {
    return GivenMoments<T>{mean.data_ptr<T>(), variance.data_ptr<T>()};
  });
}

void CudaBackend::batch_statistics(const NormalizedRows& rows, double eps, double momentum,
                                   const Tensor& x, const Tensor& running_mean,
                                   const Tensor& running_var, const Tensor& count,
                                   const Tensor& mean, const Tensor& rstd) {
  if (rows.in_groups()) return statistics_of_groups(rows, eps, x, mean, rstd);
  const auto fits = [&](const Tensor& t, ScalarType dtype) {
    return !t.defined() || (t.dtype() == dtype && t.device() == x.device() && t.is_contiguous());
  };
  if (!fits(running_mean, mean.scalar_type()) || !fits(running_var, mean.scalar_type()) ||
      !fits(count, kLong))
    return Backend::batch_statistics(rows, eps, momentum, x, running_mean, running_var, count, mean,
                                     rstd);
  if (rows.columns)
    return statistics_of_columns(rows, eps, momentum, x, running_mean, running_var, count, mean,
                                 rstd);
  group_moments(rows, x, [&]<class T>(TypeTag<T>) {
    return batch_statistics_of<T>(rows, eps, momentum, running_mean, running_var, count, mean,
                                  rstd);
  });
}

void CudaBackend::batch_normalize(const NormalizedRows& rows, AfterNorm after, double eps,
                                  const Tensor& x, const Tensor& identity, const Tensor& weight,
                                  const Tensor& bias, const Tensor& mean, const Tensor& rstd,
                                  const Tensor& out) {
  if (rows.in_groups()) return normalize_by_groups(rows, after, x, weight, bias, mean, rstd, out);
  if (rows.columns)
    return normalize_by_columns(rows, after, eps, x, identity, weight, bias, mean, rstd, out);
  if (x.dtype() != kHalf && x.dtype() != kBFloat16)
    return normalize_by_rows(rows, after, eps, x, identity, weight, bias, mean, rstd, out, {});
  if (after.adds || after.clamps)
    return Backend::batch_normalize(rows, after, eps, x, identity, weight, bias, mean, rstd, out);
  normalize_halves_by(rows, eps, x, weight, bias, mean, rstd, out);
}

void CudaBackend::batch_normalize_grads(const NormalizedRows& rows, AfterNorm after,
                                        const Tensor& of_y, const Tensor& x, const Tensor& y,
                                        const Tensor& weight, const Tensor& bias,
                                        const Tensor& mean, const Tensor& rstd,
                                        const Tensor& of_weight, const Tensor& of_bias,
                                        const Tensor& of_x, const Tensor& of_identity) {
  if (rows.in_groups())
    return grads_by_groups(rows, after, of_y, x, weight, bias, mean, rstd, of_weight, of_bias,
                           of_x);
  // Where a sum is clamped, the sums write the gradient of the identity, which stands for that of y
  // in the second pass.
  const bool of_sum = after.clamps_a_sum();
  const Tensor &grad = of_sum ? of_identity : of_y, &result = of_sum ? y : of_identity;
  const AfterNorm in_second = of_sum ? AfterNorm{} : after;
  if (!rows.columns) {
    const Tensor table =
        table_of_sums(rows, after, of_y, x, result, weight, bias, mean, rstd, of_identity);
    for (const bool biases : {false, true})
      reduce(ReduceOp::sum, raw::narrow(table, 0, biases, 1),
             raw::alias(biases ? of_bias : of_weight, {1, 1, rows.groups}, {1, 1, 1}));
    if (of_x.defined())
      grad_by_rows(rows, in_second, grad, x, mean, rstd, weight, bias, of_weight, of_bias, of_x);
    return;
  }
  sums_of_columns(rows, after, of_y, x, result, weight, bias, mean, rstd, of_weight, of_bias,
                  of_identity);
  if (of_x.defined())
    grad_by_columns(rows, in_second, grad, x, weight, bias, mean, rstd, of_weight, of_bias, of_x);
}

void CudaBackend::normalize_grad(const NormalizedRows& rows, const Tensor& grad, const Tensor& x,
                                 const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                                 const Tensor& sums, const Tensor& out) {
  if (rows.columns)
    return grad_by_columns(rows, {}, grad, x, weight, Tensor(), mean, rstd, row_of(sums, 0),
                           row_of(sums, 1), out);
  const auto of_groups = [&](int64_t i) { return rows.shared ? row_of(sums, i) : Tensor(); };
  grad_by_rows(rows, {}, grad, x, mean, rstd, weight, Tensor(), of_groups(0), of_groups(1), out);
}

void CudaBackend::normalize_sums(const NormalizedRows& rows, const Tensor& grad, const Tensor& x,
                                 const Tensor& mean, const Tensor& rstd, const Tensor& sums) {
  if (rows.columns)
    return sums_of_columns(rows, {}, grad, x, {}, {}, {}, mean, rstd, row_of(sums, 0),
                           row_of(sums, 1), {});
  reduce(ReduceOp::sum, table_of_sums(rows, {}, grad, x, {}, {}, {}, mean, rstd, {}),
         raw::unsqueeze(sums, 1));
}

namespace {
template <class T, int V, int kVectors, int kBlock, bool kSums, class G>
void launch_grads(const Context& context, const NormalizedRows& rows, int lanes, const Tensor& grad,
                  const Tensor& x, const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                  const Tensor& other, const Tensor& of_weight, const Tensor& of_bias,
                  const Tensor& out, const Tensor& low, const Tensor& low_sums) {
  // All blocks run at once, each team with a few rows at least.
  constexpr int64_t kLeastRows = 4;
  constexpr bool kTeams = kBlock <= kGradsThreads;
  const int threads = kTeams ? kBlock : lanes, teams = threads / lanes;
  const int64_t blocks =
      kTeams ? grads_blocks(kVectors, kBlock, kSums) : kMostGradsThreads / threads;
  const int64_t lines =
      std::min(context.multiprocessors * blocks, ceil_div(rows.rows, kLeastRows * teams));
  constexpr unsigned kTables = kSums ? 3 : 2;
  const Tensor tables = raw::empty({kTables, lines, rows.length}, x.dtype(), x.device());
  launch_pdl(
      normalize_grads_kernel<T, V, kVectors, kBlock, G, kSums>,
      {dim3(static_cast<unsigned>(lines)), static_cast<unsigned>(threads), 0, context.stream}, rows,
      lanes, data<G>(grad), data<T>(x), data<T>(mean), data<T>(rstd), data<T>(weight),
      data<T>(other), tables.data_ptr<T>(), out.data_ptr<T>(), copy_to(low));
  const int n = static_cast<int>(rows.length);
  launch_pdl(column_totals<T>,
             {dim3(static_cast<unsigned>(ceil_div(n, kTotalColumns)), kTables),
              dim3(kTotalColumns, kTotalLines), 0, context.stream},
             n, static_cast<int>(lines), static_cast<const T*>(tables.data_ptr<T>()),
             of_weight.data_ptr<T>(), of_bias.data_ptr<T>(),
             kSums ? static_cast<T*>(low_sums.data_ptr()) : nullptr);
}

// Threads that share a row where each has up to `vectors` of `width`: a power of two.
int grads_lanes(int64_t length, int width, int vectors) {
  const auto least = static_cast<unsigned>(ceil_div<int64_t>(length, int64_t{width} * vectors));
  return std::max(32, static_cast<int>(std::bit_ceil(least)));
}
}  // namespace

void CudaBackend::normalize_grads(const NormalizedRows& rows, const Tensor& grad, const Tensor& x,
                                  const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                                  const Tensor& other, const Tensor& of_weight,
                                  const Tensor& of_bias, const Tensor& out, const Tensor& low,
                                  const Tensor& low_sums) {
  const auto by_default = [&] {
    Backend::normalize_grads(rows, grad, x, mean, rstd, weight, other, of_weight, of_bias, out, low,
                             low_sums);
  };
  if (rows.columns || (low.defined() && x.dtype() != kFloat)) return by_default();
  const Context context(x);
  const bool by_element = !rows.shared && rows.inner == 1 && rows.groups == 1;
  const auto run = [&]<class T, class G>(TypeTag<T>, TypeTag<G>) {
    const bool vectors = has_vectors<T>(rows, {&x, &weight, &other, &out}) &&
                         has_vectors_of<T, G>(grad) && has_vectors_of<T, Half>(low);
    with_width<T>(vectors, [&](auto width) {
      const int64_t most = int64_t{kMostGradsThreads} * width * kGradsVectors;
      if (!by_element || rows.length > most) return by_default();
      // Kernels for gradients and sums of the types that autocast makes are enough.
      constexpr bool kMaySum = std::is_same_v<T, float> && !std::is_same_v<G, float> && width > 1;
      const auto launch = [&](auto count, auto block, int lanes) {
        const auto run_with = [&](auto sums) {
          launch_grads<T, width, count, block, sums, G>(context, rows, lanes, grad, x, mean, rstd,
                                                        weight, other, of_weight, of_bias, out, low,
                                                        low_sums);
        };
        if constexpr (kMaySum && block <= kGradsThreads)
          if (low_sums.defined()) return run_with(std::true_type());
        run_with(std::false_type());
        if (low_sums.defined()) sum_columns_of(low, low_sums);
      };
      using Few = std::integral_constant<int, kGradsVectors>;
      using Many = std::integral_constant<int, kManyGradsVectors>;
      using Block = std::integral_constant<int, kGradsThreads>;
      const int few = grads_lanes(rows.length, width, kGradsVectors),
                many = grads_lanes(rows.length, width, kManyGradsVectors);
      if (many <= kGradsThreads && (many < few || many == 32))
        launch(Many(), Block(), many);
      else if (few <= kGradsThreads)
        launch(Few(), Block(), few);
      else
        launch(Few(), std::integral_constant<int, kMostGradsThreads>(), few);
    });
  };
  if (grad.dtype() == kHalf) return run(TypeTag<float>{}, TypeTag<Half>{});
  if (grad.dtype() == kBFloat16) return run(TypeTag<float>{}, TypeTag<BFloat16>{});
  visit_floating("normalize", x.dtype(), [&]<class T>(TypeTag<T> type) { run(type, type); });
}

}  // namespace gradus::cuda
