// Group norm of channels that come last in memory, of any floating type, with SiLU after it or
// without.
//
// Idea. A sample is a matrix of places and channels, a group some neighbouring columns. The sums of
// columns (normalize_columns.cuh) are those of a sample, blockIdx.z; a warp joins those of a group.
// A thread has neighbouring columns of one group, so that it keeps one mean. SiLU's input is
// computed again in the backward pass. Cost. The forward pass reads x twice and writes once; the
// backward pass reads x and the gradient twice and writes once: 6 and 10 bytes an element of half
// types.
#pragma once

#include "gradus/cuda/kernels/reduce.cuh"
#include "gradus/cuda/kernels/rows/batch_statistics.cuh"
#include "gradus/cuda/kernels/rows/moments.cuh"
#include "gradus/cuda/kernels/rows/normalize_columns.cuh"

namespace gradus::cuda {

inline constexpr int kGroupThreads = 256;  // of a block whose warps have a group or a channel each

// The first element of this thread's sample.
template <int V>
__device__ int64_t sample_begin(const Columns<V>& columns) {
  return int64_t{blockIdx.z} * columns.rows * columns.count;
}

// V elements by accesses of 16 bytes at most, and numbers of the type S that become such.
template <class T, int V>
__device__ Vector<T, V> load_wide(const T* from) {
  constexpr int kWide = V < vector_width<T> ? V : vector_width<T>;
  Vector<T, V> out;
#pragma unroll
  for (int v = 0; v < V; v += kWide) {
    const auto some = load_vector<kWide>(from + v);
#pragma unroll
    for (int w = 0; w < kWide; ++w) out.at[v + w] = some.at[w];
  }
  return out;
}
template <class T, class S, int V>
__device__ void store_wide(T* to, const Vector<S, V>& value) {
  constexpr int kWide = V < vector_width<T> ? V : vector_width<T>;
#pragma unroll
  for (int v = 0; v < V; v += kWide) {
    Vector<T, kWide> some;
#pragma unroll
    for (int w = 0; w < kWide; ++w) some.at[w] = T(value.at[v + w]);
    store_vector(to + v, some);
  }
}

// kFast: the results or gradients are rounded to a half type.
template <bool kFast, class S>
__device__ S sigmoid_of(S y) {
  if constexpr (kFast)
    return __fdividef(1.0f, 1.0f + __expf(-y));
  else
    return scalar::Unary<UnaryOp::sigmoid>::f(y);
}

template <class S>
struct GroupLists {
  int groups;
  const S *weights, *biases;  // of columns; may be null
  const S *means, *rstds;     // of the groups of samples
};

// Makes (x - mean) * rstd * weight + bias of this thread's columns.
template <class T, int V>
struct GroupNormal {
  using S = Computed<T>;
  S mean;
  Vector<S, V> scale, bias;

  GroupNormal() = default;
  __device__ GroupNormal(const Columns<V>& columns, const GroupLists<S>& of)
      : scale(columns.of(of.weights, S(1))), bias(columns.of(of.biases, S(0))) {
    const int group = group_of(columns, of.groups);
    mean = of.means[group];
    const S rstd = of.rstds[group];
#pragma unroll
    for (int v = 0; v < V; ++v) scale.at[v] *= rstd;
  }
  // The place of this thread's group among those of all samples.
  __device__ static int group_of(const Columns<V>& columns, int groups) {
    return static_cast<int>(blockIdx.z) * groups + columns.mine() / (columns.count / groups);
  }
  __device__ S at(int v, S x) const { return (x - mean) * scale.at[v] + bias.at[v]; }
  // The gradient of a result as that of what stands before silu.
  __device__ S before(bool silu, int v, S grad, S x) const {
    if (!silu) return grad;
    const S y = at(v, x), sigmoid = sigmoid_of<is_half<T>>(y);
    return grad * (sigmoid * (S(1) + y * (S(1) - sigmoid)));
  }
};

// The moments of each sample's columns.
template <class T, int V>
struct SampleMomentTerms : MomentTerms<T, V> {
  __device__ void start(const Columns<V>& columns) {
    this->x += sample_begin(columns);
    MomentTerms<T, V>::start(columns);
  }
};
template <class T, class S>
struct SampleMoments {
  int64_t rows;
  int count;
  const T* x;
  S *means, *variances;

  __device__ void take(int column, double sum, double squares) const {
    const int64_t first = int64_t{blockIdx.z} * count;
    MomentTotals<T, S, GivenMoments<S>>{rows, x + first * rows, {means + first, variances + first}}
        .take(column, sum, squares);
  }
};

// A warp makes the mean and rstd of a group of the moments of its columns.
template <class S>
__global__ void __launch_bounds__(kGroupThreads)
    group_statistics(int groups, int per_group, int64_t rows, double eps, const S* column_means,
                     const S* column_variances, S* means, S* rstds) {
  wait_for_earlier_kernels();
  const int group = static_cast<int>((blockIdx.x * kGroupThreads + threadIdx.x) / 32);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const auto count = static_cast<double>(rows);
  Moments sum = Variance::start<S>();
  for (int i = lane; group < groups && i < per_group; i += 32) {
    const int64_t column = int64_t{group} * per_group + i;
    sum = Variance::combine(sum, {count, static_cast<double>(column_means[column]),
                                  static_cast<double>(column_variances[column]) * count});
  }
  sum = fold_lanes<Variance>(sum, 32);
  if (lane != 0 || group >= groups) return;
  means[group] = static_cast<S>(sum.mean);
  rstds[group] = static_cast<S>(1 / sqrt(sum.squares / sum.count + eps));
}

// x of T, out of O.
template <class T, class O, int V>
__global__ void __launch_bounds__(kColumnThreads, 4)
    group_normalize(const Columns<V> columns, const T* x, const GroupLists<Computed<T>> lists,
                    bool silu, O* out) {
  wait_for_earlier_kernels();
  if (!columns.has_mine()) return;
  using S = Computed<T>;
  const GroupNormal<T, V> normal(columns, lists);
  const int64_t begin = sample_begin(columns);
  x += begin, out += begin;
  const auto load = [&](int64_t at) { return load_vector<V>(x + at); };
  columns.template for_rows<4>(load, [&](int64_t at, const Vector<T, V>& here) {
    Vector<S, V> y;
#pragma unroll
    for (int v = 0; v < V; ++v) y.at[v] = normal.at(v, static_cast<S>(here.at[v]));
    if (silu)
#pragma unroll
      for (int v = 0; v < V; ++v) y.at[v] *= sigmoid_of<is_half<T>>(y.at[v]);
    store_wide(out + at, y);
  });
}

// The gradients need the sums of g * (x - mean) and of g, that of what stands before silu, of each
// sample's columns.
template <class G, class T, int V>
struct GroupGradTerms {
  using S = Computed<T>;
  static constexpr int kAtOnce = 2;
  struct Loaded {
    Vector<G, V> grad;
    Vector<T, V> x;
  };
  const G* grad;
  const T* x;
  GroupLists<S> lists;
  bool silu;
  GroupNormal<T, V> normal;

  __device__ void start(const Columns<V>& columns) {
    normal = {columns, lists};
    grad += sample_begin(columns), x += sample_begin(columns);
  }
  __device__ Loaded load(int64_t at) const {
    return {load_wide<G, V>(grad + at), load_vector<V>(x + at)};
  }
  __device__ void add(int64_t, const Loaded& here, Vector<S, V> (&sums)[2]) const {
#pragma unroll
    for (int v = 0; v < V; ++v) {
      const S each = static_cast<S>(here.x.at[v]),
              one = normal.before(silu, v, static_cast<S>(here.grad.at[v]), each);
      sums[0].at[v] += one * (each - normal.mean);
      sums[1].at[v] += one;
    }
  }
};
template <class S>
struct SampleSums {
  int count;
  S *products, *sums;

  __device__ void take(int column, double product, double sum) const {
    const int64_t at = int64_t{blockIdx.z} * count + column;
    products[at] = static_cast<S>(product), sums[at] = static_cast<S>(sum);
  }
};

// The sums of columns, and what is made of them.
template <class S>
struct GroupTotals {
  const S *products, *sums;       // of the columns of samples
  S *of_weight, *of_bias;         // of columns
  S *of_difference, *of_nothing;  // of groups: what x's gradient has less for each x - mean, and so
};

// A warp adds up for a group, and one for a channel. elements: of a group.
template <class S>
__global__ void __launch_bounds__(kGroupThreads)
    group_totals(int samples, int channels, double elements, const GroupLists<S> lists,
                 const GroupTotals<S> of) {
  wait_for_earlier_kernels();
  using Sum = scalar::Reduction<ReduceOp::sum>;
  const int warp = static_cast<int>((blockIdx.x * kGroupThreads + threadIdx.x) / 32),
            lane = static_cast<int>(threadIdx.x) % 32;
  const int all_groups = samples * lists.groups, per_group = channels / lists.groups;
  const int column = warp - all_groups;
  double product = 0, sum = 0;
  if (column < 0) {
    for (int i = lane; i < per_group; i += 32) {
      const int64_t at = int64_t{warp} * per_group + i;
      const double weight =
          lists.weights ? static_cast<double>(lists.weights[warp % lists.groups * per_group + i])
                        : 1.;
      product += weight * static_cast<double>(of.products[at]);
      sum += weight * static_cast<double>(of.sums[at]);
    }
  } else if (column < channels) {
    for (int n = lane; n < samples; n += 32) {
      const int64_t at = int64_t{n} * channels + column;
      product += static_cast<double>(of.products[at]) *
                 static_cast<double>(lists.rstds[n * lists.groups + column / per_group]);
      sum += static_cast<double>(of.sums[at]);
    }
  }
  product = fold_lanes<Sum>(product, 32), sum = fold_lanes<Sum>(sum, 32);
  if (lane != 0 || column >= channels) return;
  if (column >= 0) {
    of.of_weight[column] = static_cast<S>(product), of.of_bias[column] = static_cast<S>(sum);
    return;
  }
  const auto rstd = static_cast<double>(lists.rstds[warp]);
  of.of_difference[warp] = static_cast<S>(product * rstd * rstd * rstd / elements);
  of.of_nothing[warp] = static_cast<S>(sum * rstd / elements);
}

// The gradient of x, of T, from those of G.
template <class G, class T, int V>
__global__ void __launch_bounds__(kColumnThreads, 3)
    group_grads(const Columns<V> columns, const G* grad, const T* x,
                const GroupLists<Computed<T>> lists, bool silu, const Computed<T>* of_difference,
                const Computed<T>* of_nothing, T* out) {
  wait_for_earlier_kernels();
  if (!columns.has_mine()) return;
  using S = Computed<T>;
  const GroupNormal<T, V> normal(columns, lists);
  const int group = normal.group_of(columns, lists.groups);
  const S by_difference = of_difference[group], less = of_nothing[group];
  const int64_t begin = sample_begin(columns);
  grad += begin, x += begin, out += begin;
  const auto load = [&](int64_t at) {
    return typename GroupGradTerms<G, T, V>::Loaded{load_wide<G, V>(grad + at),
                                                    load_vector<V>(x + at)};
  };
  columns.template for_rows<2>(load, [&](int64_t at, const auto& here) {
    Vector<T, V> of_x;
#pragma unroll
    for (int v = 0; v < V; ++v) {
      const S each = static_cast<S>(here.x.at[v]),
              one = normal.before(silu, v, static_cast<S>(here.grad.at[v]), each);
      of_x.at[v] = T(one * normal.scale.at[v] - less - (each - normal.mean) * by_difference);
    }
    store_vector(out + at, of_x);
  });
}

}  // namespace gradus::cuda
