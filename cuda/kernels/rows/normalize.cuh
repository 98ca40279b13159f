// Normalisations (tensor/base/normalized_rows.h): a team of threads for each row, which keeps as
// much of it in registers as they hold, so that a row is read once.
#pragma once

#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/reduce.cuh"
#include "gradus/cuda/kernels/rows/clamps.cuh"
#include "gradus/tensor/base/normalized_rows.h"

namespace gradus::cuda {

inline constexpr int kNormThreads = 256;       // of a block with several rows
inline constexpr int kMostNormThreads = 1024;  // of one with a long row
inline constexpr int kNormVectors = 4;         // of a row that a thread keeps

// A vector of elements of the type In as numbers of the type T, and the other way round.
template <class T, int V, class In>
__device__ Vector<T, V> load_as(const In* from) {
  const auto in = load_vector<V>(from);
  if constexpr (std::is_same_v<T, In>) {
    return in;
  } else {
    Vector<T, V> out;
#pragma unroll
    for (int v = 0; v < V; ++v) out.at[v] = static_cast<T>(in.at[v]);
    return out;
  }
}
template <int V, class T, class Out>
__device__ void store_as(Out* to, const Vector<T, V>& value) {
  if constexpr (std::is_same_v<T, Out>) {
    store_vector(to, value);
  } else {
    Vector<Out, V> out;
#pragma unroll
    for (int v = 0; v < V; ++v) out.at[v] = Out(value.at[v]);
    store_vector(to, out);
  }
}

// The same numbers in a half type, for whoever reads them so next; null: nobody. One kernel serves
// both half types.
struct HalfCopy {
  void* to;
  bool is_bfloat16;

  template <int V, class T>
  __device__ void store(int64_t i, const Vector<T, V>& value) const {
    if (to == nullptr) return;
    if (is_bfloat16)
      store_as(static_cast<BFloat16*>(to) + i, value);
    else
      store_as(static_cast<Half*>(to) + i, value);
  }
};

// Where a thread works: on `lanes` neighbouring threads' row, by vectors of V elements.
template <int V>
struct NormTeam {
  NormalizedRows rows;
  int lanes;  // a power of two; those of more than a warp are a block

  __device__ int64_t row() const { return row_of_lanes(lanes); }
  __device__ int lane() const { return static_cast<int>(threadIdx.x) & (lanes - 1); }
  // f(k, i) for this thread's elements from i on: the k-th vector that it keeps, or -1.
  template <class F>
  __device__ void for_vectors(const F& f) const {
    const int n = static_cast<int>(rows.length), step = lanes * V;
    int i = lane() * V;
#pragma unroll
    for (int k = 0; k < kNormVectors; ++k, i += step)
      if (i < n) f(k, i);
    for (; i < n; i += step) f(-1, i);
  }
  // The weights of a row. Rows in groups cost two divisions of 64 bits.
  template <class In>
  __device__ const In* weights_of(const In* all, int64_t row) const {
    if (all == nullptr || rows.groups == 1) return all;
    return all + rows.group(row) * rows.weights();
  }
  // The weight of V elements from i on. A vector has one where neighbours share it.
  template <class T, class In>
  __device__ Vector<T, V> weight(const In* weights, int i, T without) const {
    Vector<T, V> out;
#pragma unroll
    for (int v = 0; v < V; ++v) out.at[v] = without;
    if (weights == nullptr) return out;
    if (rows.inner == 1) return load_as<T, V>(weights + i);
    const T one = weights[static_cast<unsigned>(i) / static_cast<unsigned>(rows.inner)];
#pragma unroll
    for (int v = 0; v < V; ++v) out.at[v] = one;
    return out;
  }
  // The sum of a number of each thread; blocks use their memory once at a time.
  template <class T>
  __device__ T sum(T value) const {
    value = fold_lanes<scalar::Reduction<ReduceOp::sum>, true>(value, lanes);
    if (lanes > 32) __syncthreads();
    return value;
  }
};

// Whether a clamp of normal * weight + bias passes the gradient on. All is passed without one.
template <bool kClamps, class T>
__device__ bool passes(const Bounds<T>& bounds, T normal, T weight, T bias) {
  return !kClamps || bounds.passes(normal * weight + bias);
}

// kMoments: only the moments of each row are wanted, the mean and the sum of the squares of what
// elements differ from it, in `means` and `rstds`. eps: where rows share statistics, NaN, or
// `rstds` are variances. kAdds: identity follows, then, with kClamps, a clamp. Elements are of the
// type In and weights of W. They are computed in T. A result of float goes to `low`, too.
template <class T, int V, bool kMoments, bool kAdds, bool kClamps, class In = T, class W = In>
__global__ void __launch_bounds__(kMostNormThreads)
    normalize_kernel(NormTeam<V> team, double eps, const In* x, const In* identity, const W* weight,
                     const W* bias, T* means, T* rstds, const Bounds<T> bounds, In* out,
                     HalfCopy low) {
  wait_for_earlier_kernels();
  let_next_kernel_start_if_small();
  const NormalizedRows& rows = team.rows;
  const bool valid = team.row() < rows.rows;
  const int64_t row = valid ? team.row() : 0;
  x += row * rows.length;
  Vector<T, V> kept[kNormVectors] = {};
  const auto at = [&](int k, int i) { return k < 0 ? load_as<T, V>(x + i) : kept[k]; };
  team.for_vectors([&](int k, int i) {
    if (k >= 0) kept[k] = load_as<T, V>(x + i);
  });
  T mean, rstd;
  if (rows.shared && !kMoments) {
    mean = means[rows.statistic(row)], rstd = rstds[rows.statistic(row)];
    if (eps == eps) rstd = 1 / sqrt(rstd + static_cast<T>(eps));
  } else {
    const T n = static_cast<T>(rows.length);
    T sum = 0;
    team.for_vectors([&](int k, int i) {
      const auto each = at(k, i);
#pragma unroll
      for (int v = 0; v < V; ++v) sum += each.at[v];
    });
    mean = team.sum(sum) / n;
    T squares = 0;
    team.for_vectors([&](int k, int i) {
      const auto each = at(k, i);
#pragma unroll
      for (int v = 0; v < V; ++v) squares += (each.at[v] - mean) * (each.at[v] - mean);
    });
    squares = team.sum(squares);
    rstd = kMoments ? squares : 1 / sqrt(squares / n + static_cast<T>(eps));
    if (valid && team.lane() == 0) means[row] = mean, rstds[row] = rstd;
  }
  if (!valid || kMoments) return;
  out += row * rows.length;
  weight = team.weights_of(weight, row), bias = team.weights_of(bias, row);
  team.for_vectors([&](int k, int i) {
    const auto each = at(k, i), w = team.weight(weight, i, T(1)), b = team.weight(bias, i, T(0));
    Vector<T, V> y, added = {};
    if constexpr (kAdds) added = load_as<T, V>(identity + row * rows.length + i);
#pragma unroll
    for (int v = 0; v < V; ++v) {
      y.at[v] = (each.at[v] - mean) * rstd * w.at[v] + b.at[v];
      if (kAdds) y.at[v] += added.at[v];
      if (kClamps) y.at[v] = TwoBounds<T>{bounds}.clamp(y.at[v]);
    }
    store_as(out + i, y);
    if constexpr (std::is_same_v<In, float> && !kAdds && !kClamps)
      low.store(row * rows.length + i, y);
  });
}

// A row by the threads of a block, of which the first `lanes` have a vector each. The function has
// few instructions, since a row waits for each of them. The rest of the threads get no numbers.
// REQUIRES: length <= lanes * V; `lanes` is a power of two from 32 on, and those of a row in
// normalize_kernel, so that both give the same bits.
template <int V, class In>
struct NormalizedVector {
  Vector<float, V> y;
  float mean, rstd;

  __device__ NormalizedVector(int length, int lanes, float eps, const In* x, const In* weight,
                              const In* bias) {
    const int i = static_cast<int>(threadIdx.x) * V;
    const bool inside = i < length;
    using Sum = scalar::Reduction<ReduceOp::sum>;
    const auto n = static_cast<float>(length);
    Vector<float, V> each = {}, w, b = {};
    if (inside) each = load_as<float, V>(x + i);
    float sum = 0, squares = 0;
#pragma unroll
    for (int v = 0; v < V; ++v) sum += each.at[v], w.at[v] = 1;
    if (inside && weight != nullptr) w = load_as<float, V>(weight + i);
    if (inside && bias != nullptr) b = load_as<float, V>(bias + i);
    mean = fold_lanes<Sum, true>(sum, lanes) / n;
    if (lanes > 32) __syncthreads();
    if (inside) {
#pragma unroll
      for (int v = 0; v < V; ++v) squares += (each.at[v] - mean) * (each.at[v] - mean);
    }
    rstd = 1 / sqrt(fold_lanes<Sum, true>(squares, lanes) / n + eps);
#pragma unroll
    for (int v = 0; v < V; ++v) y.at[v] = (each.at[v] - mean) * rstd * w.at[v] + b.at[v];
  }
};
// Asks for the weights of a thread.
template <int V, class In>
__device__ void prefetch_weights(int length, const In* weight, const In* bias) {
  const int i = static_cast<int>(threadIdx.x) * V;
  if (i < length && weight != nullptr) prefetch(weight + i);
  if (i < length && bias != nullptr) prefetch(bias + i);
}

// The same as normalize_kernel for few rows of half types, which take as long as one: a block for
// each. REQUIRES: as for NormalizedVector, with blockDim.x lanes.
template <int V, class In>
__global__ void __launch_bounds__(kNormThreads)
    normalize_few_rows(int length, float eps, const In* x, const In* weight, const In* bias,
                       float* means, float* rstds, In* out) {
  prefetch_weights<V>(length, weight, bias);
  wait_for_earlier_kernels();
  let_next_kernel_start();
  const int64_t first = int64_t{blockIdx.x} * length;
  const NormalizedVector<V, In> row(length, static_cast<int>(blockDim.x), eps, x + first, weight,
                                    bias);
  const int i = static_cast<int>(threadIdx.x) * V;
  if (i == 0) means[blockIdx.x] = row.mean, rstds[blockIdx.x] = row.rstd;
  if (i < length) store_as(out + first + i, row.y);
}

// A warp makes the moments of a group of those of its rows.
template <class T, class Take>
__global__ void __launch_bounds__(kNormThreads)
    group_moments_kernel(NormalizedRows rows, const T* row_means, const T* row_squares, Take of) {
  wait_for_earlier_kernels();
  const int64_t group = (int64_t{blockIdx.x} * kNormThreads + threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  Moments sum = Variance::start<T>();
  for (int64_t row = group + lane * rows.groups; group < rows.groups && row < rows.rows;
       row += 32 * rows.groups)
    sum = Variance::combine(sum,
                            {static_cast<double>(rows.length), static_cast<double>(row_means[row]),
                             static_cast<double>(row_squares[row])});
  sum = fold_lanes<Variance>(sum, 32);
  if (lane != 0 || group >= rows.groups) return;
  of.take(group, static_cast<T>(sum.mean), static_cast<T>(sum.squares / sum.count));
}

// The gradient of x. Where rows share statistics, `group_products` and `group_sums` are those of
// run_sums_kernel, added up. kClamps: grad is that of what a clamp made.
template <class T, int V, bool kClamps>
__global__ void __launch_bounds__(kMostNormThreads)
    normalize_grad_kernel(NormTeam<V> team, const T* grad, const T* x, const T* means,
                          const T* rstds, const T* weight, const T* bias, const T* group_products,
                          const T* group_sums, const Bounds<T> bounds, T* out) {
  wait_for_earlier_kernels();
  const NormalizedRows& rows = team.rows;
  const bool valid = team.row() < rows.rows;
  const int64_t row = valid ? team.row() : 0;
  grad += row * rows.length, x += row * rows.length, out += row * rows.length;
  const T mean = means[rows.statistic(row)], rstd = rstds[rows.statistic(row)];
  const T *const weights = team.weights_of(weight, row), *const biases = team.weights_of(bias, row);
  // grad * weight, and the normalised x.
  Vector<T, V> grads[kNormVectors] = {}, normals[kNormVectors] = {};
  const auto load = [&](int i, Vector<T, V>& g, Vector<T, V>& normal) {
    g = load_vector<V>(grad + i), normal = load_vector<V>(x + i);
    const auto w = team.weight(weights, i, T(1));
    Vector<T, V> b = {};
    if (kClamps) b = team.weight(biases, i, T(0));
#pragma unroll
    for (int v = 0; v < V; ++v) {
      normal.at[v] = (normal.at[v] - mean) * rstd;
      g.at[v] = passes<kClamps>(bounds, normal.at[v], w.at[v], b.at[v]) ? g.at[v] * w.at[v] : T(0);
    }
  };
  T sum = 0, products = 0;
  team.for_vectors([&](int k, int i) {
    Vector<T, V> g, normal;
    load(i, g, normal);
    if (k >= 0) grads[k] = g, normals[k] = normal;
#pragma unroll
    for (int v = 0; v < V; ++v) {
      sum += g.at[v];
      products += g.at[v] * normal.at[v];
    }
  });
  const T n = static_cast<T>(rows.elements());
  if (rows.shared) {
    const T scale = weight ? weight[rows.group(row)] : T(1);
    sum = group_sums[rows.group(row)] * scale / n;
    products = group_products[rows.group(row)] * scale / n;
  } else {
    sum = team.sum(sum) / n, products = team.sum(products) / n;
  }
  if (!valid) return;
  team.for_vectors([&](int k, int i) {
    Vector<T, V> g, normal;
    if (k >= 0)
      g = grads[k], normal = normals[k];
    else
      load(i, g, normal);
#pragma unroll
    for (int v = 0; v < V; ++v) g.at[v] = rstd * (g.at[v] - sum - normal.at[v] * products);
    store_vector(out + i, g);
  });
}

// The sums of each run of `inner` neighbours with one weight: weight_sums of grad times the
// normalised x, bias_sums of grad. kClamps: of what a clamp passed on. kAdds: it clamped a sum, y
// is its result, and what is passed on is written. REQUIRES: kClamps where kAdds; rows share
// statistics where kClamps.
template <class T, int V, bool kAdds, bool kClamps>
__global__ void __launch_bounds__(kNormThreads)
    run_sums_kernel(NormalizedRows rows, int lanes, const T* grad, const T* x, const T* y,
                    const T* means, const T* rstds, const T* weight, const T* bias,
                    const Bounds<T> bounds, T* passed, T* weight_sums, T* bias_sums) {
  wait_for_earlier_kernels();
  constexpr bool kByX = kClamps && !kAdds;
  const int64_t run = row_of_lanes(lanes);
  const int lane = static_cast<int>(threadIdx.x) & (lanes - 1), n = static_cast<int>(rows.inner);
  const bool valid = run < rows.rows * rows.weights();
  T sum = 0, products = 0;
  if (valid) {
    const int64_t statistic = rows.statistic(run / rows.weights());
    const T mean = means[statistic], rstd = rstds[statistic];
    const T w = kByX && weight ? weight[statistic] : T(1),
            b = kByX && bias ? bias[statistic] : T(0);
    for (int i = lane * V; i < n; i += lanes * V) {
      auto g = load_vector<V>(grad + run * n + i);
      const auto each = load_vector<V>(x + run * n + i);
      if constexpr (kAdds) {
        const auto result = load_vector<V>(y + run * n + i);
#pragma unroll
        for (int v = 0; v < V; ++v)
          if (!bounds.passes(result.at[v])) g.at[v] = 0;
        store_vector(passed + run * n + i, g);
      }
#pragma unroll
      for (int v = 0; v < V; ++v) {
        const T normal = (each.at[v] - mean) * rstd,
                one = passes<kByX>(bounds, normal, w, b) ? g.at[v] : T(0);
        sum += one;
        products += one * normal;
      }
    }
  }
  using Sum = scalar::Reduction<ReduceOp::sum>;
  sum = fold_lanes<Sum, true>(sum, lanes);
  if (lanes > 32) __syncthreads();
  products = fold_lanes<Sum, true>(products, lanes);
  if (valid && lane == 0) weight_sums[run] = products, bias_sums[run] = sum;
}

// The same for weights of single elements: a block adds up a column of vectors in some rows, and
// writes line blockIdx.y of the tables.
template <class T, int V>
__global__ void __launch_bounds__(kNormThreads)
    column_sums_kernel(NormalizedRows rows, int64_t share, const T* grad, const T* x,
                       const T* means, const T* rstds, T* weight_sums, T* bias_sums) {
  wait_for_earlier_kernels();
  constexpr int kAcross = 32, kDown = kNormThreads / kAcross;
  const int across = static_cast<int>(threadIdx.x) % kAcross,
            down = static_cast<int>(threadIdx.x) / kAcross;
  const int64_t column = (int64_t{blockIdx.x} * kAcross + across) * V;
  const bool valid = column < rows.length;
  Vector<T, V> sum = {}, products = {};
  const int64_t end = ::min((blockIdx.y + 1) * share, rows.rows);
  if (valid)
#pragma unroll 4
    for (int64_t row = blockIdx.y * share + down; row < end; row += kDown) {
      const T mean = means[row], rstd = rstds[row];
      const auto g = load_vector<V>(grad + row * rows.length + column),
                 each = load_vector<V>(x + row * rows.length + column);
#pragma unroll
      for (int v = 0; v < V; ++v) {
        sum.at[v] += g.at[v];
        products.at[v] += g.at[v] * ((each.at[v] - mean) * rstd);
      }
    }
  __shared__ Vector<T, V> sums[kNormThreads], all_products[kNormThreads];
  sums[threadIdx.x] = sum, all_products[threadIdx.x] = products;
  for (int reach = kDown / 2; reach > 0; reach /= 2) {
    __syncthreads();
    if (down >= reach) continue;
    const auto& other = sums[threadIdx.x + reach * kAcross];
    const auto& other_products = all_products[threadIdx.x + reach * kAcross];
#pragma unroll
    for (int v = 0; v < V; ++v) {
      sums[threadIdx.x].at[v] += other.at[v];
      all_products[threadIdx.x].at[v] += other_products.at[v];
    }
  }
  if (!valid || down != 0) return;
  store_vector(weight_sums + blockIdx.y * rows.length + column, all_products[threadIdx.x]);
  store_vector(bias_sums + blockIdx.y * rows.length + column, sums[threadIdx.x]);
}

}  // namespace gradus::cuda
