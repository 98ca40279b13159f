// Batch norm of channels that come last in memory: the columns of a matrix, of any floating type.
//
// Idea. A thread has some neighbouring columns, 16 bytes, and goes over rows that are far apart. It
// keeps what belongs to its columns in registers. Sums are two numbers for each column; blocks
// leave theirs in lines of a table, which are added in order. Squares are those of differences from
// the first row, so that a large mean does not swallow them.
// Cost. The forward pass reads x twice and writes once; the backward pass reads x and the gradient
// twice and writes once: 6 and 10 bytes an element of half types. A clamp that follows, such as
// relu, costs no pass: the backward pass finds by x where the result was between its bounds. A sum
// with an identity is read by the normalisation: 8 and 10 bytes. Where that sum is clamped, the
// backward pass reads the result, and writes the gradient of the identity: 8 and 14 bytes.
#pragma once

#include "gradus/cuda/kernels/computed.cuh"
#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/vector.cuh"
#include "gradus/tensor/base/normalized_rows.h"

namespace gradus::cuda {

inline constexpr int kColumnThreads = 256;

// A row-major matrix as its threads see it: they differ in columns along x, and in rows along y.
template <int V>
struct Columns {
  int64_t rows;
  int count;

  __device__ int mine() const {
    return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * V;
  }
  // f(step from the first element) for this thread's part of each of its rows.
  template <class F>
  __device__ void for_rows(const F& f) const {
    if (mine() >= count) return;
    const int64_t step = int64_t{gridDim.y} * blockDim.y;
#pragma unroll 4
    for (int64_t row = int64_t{blockIdx.y} * blockDim.y + threadIdx.y; row < rows; row += step)
      f(row * count + mine());
  }
  // This thread's numbers of a list with one for each column; `without` where the list is null.
  template <class S>
  __device__ Vector<S, V> of(const S* list, S without) const {
    Vector<S, V> out;
#pragma unroll
    for (int v = 0; v < V; ++v) out.at[v] = list && mine() < count ? list[mine() + v] : without;
    return out;
  }
};

// The moments of columns need sums of differences from the first row, and of their squares.
template <class T, int V>
struct MomentTerms {
  using S = Computed<T>;
  const T* x;
  Vector<S, V> first;

  __device__ void start(const Columns<V>& columns) {
#pragma unroll
    for (int v = 0; v < V; ++v)
      first.at[v] = columns.mine() < columns.count ? static_cast<S>(x[columns.mine() + v]) : S(0);
  }
  __device__ void add(int64_t at, Vector<S, V> (&sums)[2]) const {
    const auto each = load_vector<V>(x + at);
#pragma unroll
    for (int v = 0; v < V; ++v) {
      const S apart = static_cast<S>(each.at[v]) - first.at[v];
      sums[0].at[v] += apart, sums[1].at[v] += apart * apart;
    }
  }
};

// The parameters of columns, as lists.
template <class S>
struct ColumnLists {
  const S *weights, *biases, *means, *rstds;  // the first two may be null
};

// (x - mean) * rstd * weight + bias of this thread's columns.
template <class S, int V>
struct Normal {
  Vector<S, V> mean, scale, bias;

  __device__ Normal() = default;
  __device__ Normal(const Columns<V>& columns, const ColumnLists<S>& of)
      : mean(columns.of(of.means, S(0))),
        scale(columns.of(of.rstds, S(0))),
        bias(columns.of(of.biases, S(0))) {
    const auto weight = columns.of(of.weights, S(1));
#pragma unroll
    for (int v = 0; v < V; ++v) scale.at[v] *= weight.at[v];
  }
  __device__ S at(int v, S x) const { return (x - mean.at[v]) * scale.at[v] + bias.at[v]; }
  // The gradient of what stands before a clamp, where one follows. T: the type of results.
  template <bool kClamps, class T>
  __device__ S passed(int v, T grad, S x, const Bounds<S>& bounds) const {
    return !kClamps || bounds.passes(static_cast<S>(T(at(v, x)))) ? static_cast<S>(grad) : S(0);
  }
};

// The gradients of weights and biases need sums of grad * (x - mean), and of grad. Where a
// sum is clamped, y is the result, and passed becomes the gradient of what stands before the clamp.
template <class T, int V, bool kAdds, bool kClamps>
struct GradTerms {
  using S = Computed<T>;
  const T *grad, *x, *y;
  T* passed;
  ColumnLists<S> lists;
  Bounds<S> bounds;
  Normal<S, V> normal;

  __device__ void start(const Columns<V>& columns) { normal = {columns, lists}; }
  __device__ void add(int64_t at, Vector<S, V> (&sums)[2]) const {
    auto g = load_vector<V>(grad + at);
    const auto each = load_vector<V>(x + at);
    if constexpr (kAdds) {
      const auto result = load_vector<V>(y + at);
#pragma unroll
      for (int v = 0; v < V; ++v)
        if (!bounds.passes(static_cast<S>(result.at[v]))) g.at[v] = T(0);
      store_vector(passed + at, g);
    }
#pragma unroll
    for (int v = 0; v < V; ++v) {
      const S here = static_cast<S>(each.at[v]), apart = here - normal.mean.at[v],
              one = normal.template passed<kClamps && !kAdds>(v, g.at[v], here, bounds);
      sums[0].at[v] += one * apart;
      sums[1].at[v] += one;
    }
  }
};

// Line blockIdx.y of table (2, gridDim.y, columns): the sums of the rows of this block.
template <class Terms, class S, int V>
__global__ void __launch_bounds__(kColumnThreads, 3)
    column_sums(const Columns<V> columns, Terms terms, S* table) {
  wait_for_earlier_kernels();
  Vector<S, V> sums[2] = {};
  terms.start(columns);
  columns.for_rows([&](int64_t at) { terms.add(at, sums); });
  // Neighbours in a list lie in different banks of memory, for those who write and those who read.
  __shared__ S all[2][V][kColumnThreads + 4];
  const int across = static_cast<int>(blockDim.x), width = across * V,
            thread = static_cast<int>(threadIdx.y) * across + static_cast<int>(threadIdx.x);
#pragma unroll
  for (int k = 0; k < 2; ++k)
#pragma unroll
    for (int v = 0; v < V; ++v) all[k][v][thread] = sums[k].at[v];
  __syncthreads();
  for (int i = thread; i < 2 * width; i += kColumnThreads) {
    const int k = i < width ? 0 : 1, mine = i - k * width;
    const int column = static_cast<int>(blockIdx.x) * width + mine;
    if (column >= columns.count) continue;
    const S* const from = &all[k][mine % V][mine / V];
    S sum = 0;
#pragma unroll 8
    for (int y = 0; y < static_cast<int>(blockDim.y); ++y) sum += from[y * across];
    table[(int64_t{k} * gridDim.y + blockIdx.y) * columns.count + column] = sum;
  }
}

// The sums of each column's lines of the table, for `of`. A block takes a few columns, so that its
// threads load all their lines at once.
inline constexpr int kTotalColumns = 8, kTotalLines = 64;
template <class S, class Take>
__global__ void __launch_bounds__(kTotalColumns* kTotalLines)
    column_totals(int count, int lines, const S* table, Take of) {
  wait_for_earlier_kernels();
  const int column = static_cast<int>(blockIdx.x) * kTotalColumns + static_cast<int>(threadIdx.x);
  double sums[2] = {};
  if (column < count)
#pragma unroll 8
    for (int line = static_cast<int>(threadIdx.y); line < lines; line += kTotalLines)
#pragma unroll
      for (int k = 0; k < 2; ++k)
        sums[k] += static_cast<double>(table[(int64_t{k} * lines + line) * count + column]);
  __shared__ double all[2][kTotalLines][kTotalColumns];
#pragma unroll
  for (int k = 0; k < 2; ++k) all[k][threadIdx.y][threadIdx.x] = sums[k];
  for (unsigned reach = kTotalLines / 2; reach > 0; reach /= 2) {
    __syncthreads();
    if (threadIdx.y >= reach) continue;
#pragma unroll
    for (int k = 0; k < 2; ++k)
      all[k][threadIdx.y][threadIdx.x] += all[k][threadIdx.y + reach][threadIdx.x];
  }
  if (threadIdx.y == 0 && column < count)
    of.take(column, all[0][0][threadIdx.x], all[1][0][threadIdx.x]);
}

// The moments that the sums of MomentTerms make, for another one.
template <class T, class S, class Take>
struct MomentTotals {
  int64_t rows;
  const T* x;
  Take of;

  __device__ void take(int column, double sum, double squares) const {
    const double n = static_cast<double>(rows), apart = sum / n;
    of.take(column, static_cast<S>(static_cast<double>(static_cast<S>(x[column])) + apart),
            static_cast<S>(::max(squares / n - apart * apart, 0.)));
  }
};

// The gradients that the sums of GradTerms make.
template <class S>
struct GradTotals {
  const S* rstds;
  S *of_weight, *of_bias;

  __device__ void take(int column, double products, double sum) const {
    of_weight[column] = static_cast<S>(products * static_cast<double>(rstds[column]));
    of_bias[column] = static_cast<S>(sum);
  }
};

template <class T, class S, int V, bool kAdds, bool kClamps>
__global__ void __launch_bounds__(kColumnThreads)
    normalize_columns(const Columns<V> columns, const T* x, const T* identity,
                      const ColumnLists<S> lists, const Bounds<S> bounds, T* out) {
  wait_for_earlier_kernels();
  const Normal<S, V> normal(columns, lists);
  columns.for_rows([&](int64_t at) {
    auto each = load_vector<V>(x + at);
    Vector<T, V> added = {};
    if constexpr (kAdds) added = load_vector<V>(identity + at);
#pragma unroll
    for (int v = 0; v < V; ++v) {
      S y = normal.at(v, static_cast<S>(each.at[v]));
      if (kAdds) y += static_cast<S>(added.at[v]);
      each.at[v] = T(kClamps ? bounds.clamp(y) : y);
    }
    store_vector(out + at, each);
  });
}

// The gradient of x from the sums of GradTerms. kClamps: grad is that of what a clamp made.
template <class T, class S, int V, bool kClamps>
__global__ void __launch_bounds__(kColumnThreads)
    column_grads(const Columns<V> columns, const T* grad, const T* x, const ColumnLists<S> lists,
                 const Bounds<S> bounds, const S* product_sums, const S* grad_sums, T* out) {
  wait_for_earlier_kernels();
  const Normal<S, V> normal(columns, lists);
  const auto rstd = columns.of(lists.rstds, S(0));
  auto products = columns.of(product_sums, S(0)), of_grad = columns.of(grad_sums, S(0));
  const S n = static_cast<S>(columns.rows);
#pragma unroll
  for (int v = 0; v < V; ++v) products.at[v] *= rstd.at[v] / n, of_grad.at[v] /= n;
  columns.for_rows([&](int64_t at) {
    auto g = load_vector<V>(grad + at);
    const auto each = load_vector<V>(x + at);
#pragma unroll
    for (int v = 0; v < V; ++v) {
      const S here = static_cast<S>(each.at[v]);
      g.at[v] = T((normal.template passed<kClamps>(v, g.at[v], here, bounds) - of_grad.at[v] -
                   (here - normal.mean.at[v]) * products.at[v]) *
                  normal.scale.at[v]);
    }
    store_vector(out + at, g);
  });
}

}  // namespace gradus::cuda
