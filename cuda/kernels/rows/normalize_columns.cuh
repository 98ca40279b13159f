// Batch norm of channels that come last in memory: the columns of a matrix, of any floating type.
//
// Idea. A thread has some neighbouring columns, 16 bytes, and goes over rows that are far apart. It
// keeps what belongs to its columns in registers. Sums are two numbers for each column; blocks
// leave theirs in lines of a table, which are added in order. Squares are those of differences from
// the first row, so that a large mean does not swallow them.
// Cost. The forward pass reads x twice and writes once; the backward pass reads x and the gradient
// twice and writes once: 6 and 10 bytes an element of half types.
#pragma once

#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/vector.cuh"
#include "gradus/tensor/base/half.h"

namespace gradus::cuda {

inline constexpr int kColumnThreads = 256;

// The type of sums.
template <class T>
using Computed = std::conditional_t<std::is_same_v<T, double>, double, float>;

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

// The gradients of weights and biases: sums of grad times the normalised x, and of grad.
template <class T, int V>
struct GradTerms {
  using S = Computed<T>;
  const T *grad, *x;
  const S *means, *rstds;
  Vector<S, V> mean, rstd;

  __device__ void start(const Columns<V>& columns) {
    mean = columns.of(means, S(0)), rstd = columns.of(rstds, S(0));
  }
  __device__ void add(int64_t at, Vector<S, V> (&sums)[2]) const {
    const auto g = load_vector<V>(grad + at), each = load_vector<V>(x + at);
#pragma unroll
    for (int v = 0; v < V; ++v) {
      const S one = static_cast<S>(g.at[v]);
      sums[0].at[v] += one * ((static_cast<S>(each.at[v]) - mean.at[v]) * rstd.at[v]);
      sums[1].at[v] += one;
    }
  }
};

// Line blockIdx.y of table (2, gridDim.y, columns): the sums of the rows of this block.
template <class Terms, class S, int V>
__global__ void __launch_bounds__(kColumnThreads)
    column_sums(const Columns<V> columns, Terms terms, S* table) {
  wait_for_earlier_kernels();
  Vector<S, V> sums[2] = {};
  terms.start(columns);
  columns.for_rows([&](int64_t at) { terms.add(at, sums); });
  __shared__ Vector<S, V> all[kColumnThreads];
  const int thread = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    __syncthreads();
    all[thread] = sums[k];
    for (unsigned reach = blockDim.y / 2; reach > 0; reach /= 2) {
      __syncthreads();
      if (threadIdx.y >= reach) continue;
      const auto& other = all[thread + static_cast<int>(reach * blockDim.x)];
#pragma unroll
      for (int v = 0; v < V; ++v) all[thread].at[v] += other.at[v];
    }
    if (threadIdx.y == 0 && columns.mine() < columns.count)
#pragma unroll
      for (int v = 0; v < V; ++v)
        table[(int64_t{k} * gridDim.y + blockIdx.y) * columns.count + columns.mine() + v] =
            all[thread].at[v];
  }
}

// means and variances from the table of MomentTerms. 32 x 8 threads take 32 columns.
template <class T, class S>
__global__ void __launch_bounds__(kColumnThreads)
    column_moments(int64_t rows, int count, int lines, const T* x, const S* table, S* means,
                   S* variances) {
  wait_for_earlier_kernels();
  const int column = static_cast<int>(blockIdx.x * 32 + threadIdx.x);
  double sums[2] = {};
  if (column < count)
#pragma unroll 4
    for (int line = static_cast<int>(threadIdx.y); line < lines; line += 8)
#pragma unroll
      for (int k = 0; k < 2; ++k)
        sums[k] += static_cast<double>(table[(int64_t{k} * lines + line) * count + column]);
  __shared__ double all[2][8][32];
#pragma unroll
  for (int k = 0; k < 2; ++k) all[k][threadIdx.y][threadIdx.x] = sums[k];
  __syncthreads();
  if (threadIdx.y != 0 || column >= count) return;
#pragma unroll
  for (int k = 0; k < 2; ++k)
    for (int i = 1; i < 8; ++i) sums[k] += all[k][i][threadIdx.x];
  const double n = static_cast<double>(rows), apart = sums[0] / n;
  means[column] = static_cast<S>(static_cast<double>(static_cast<S>(x[column])) + apart);
  variances[column] = static_cast<S>(::max(sums[1] / n - apart * apart, 0.));
}

// out = (x - mean) * rstd * weight + bias.
template <class T, class S, int V>
__global__ void __launch_bounds__(kColumnThreads)
    normalize_columns(const Columns<V> columns, const T* x, const S* weights, const S* biases,
                      const S* means, const S* rstds, T* out) {
  wait_for_earlier_kernels();
  const auto mean = columns.of(means, S(0)), bias = columns.of(biases, S(0));
  auto scale = columns.of(rstds, S(0));
  const auto weight = columns.of(weights, S(1));
#pragma unroll
  for (int v = 0; v < V; ++v) scale.at[v] *= weight.at[v];
  columns.for_rows([&](int64_t at) {
    auto each = load_vector<V>(x + at);
#pragma unroll
    for (int v = 0; v < V; ++v)
      each.at[v] = T((static_cast<S>(each.at[v]) - mean.at[v]) * scale.at[v] + bias.at[v]);
    store_vector(out + at, each);
  });
}

// The gradient of x. sums: those of GradTerms.
template <class T, class S, int V>
__global__ void __launch_bounds__(kColumnThreads)
    column_grads(const Columns<V> columns, const T* grad, const T* x, const S* weights,
                 const S* means, const S* rstds, const S* sums, T* out) {
  wait_for_earlier_kernels();
  const auto mean = columns.of(means, S(0)), rstd = columns.of(rstds, S(0));
  auto scale = columns.of(weights, S(1));
  auto products = columns.of(sums, S(0)), of_grad = columns.of(sums + columns.count, S(0));
  const S n = static_cast<S>(columns.rows);
#pragma unroll
  for (int v = 0; v < V; ++v) {
    scale.at[v] *= rstd.at[v];
    products.at[v] *= rstd.at[v] / n, of_grad.at[v] /= n;
  }
  columns.for_rows([&](int64_t at) {
    auto g = load_vector<V>(grad + at);
    const auto each = load_vector<V>(x + at);
#pragma unroll
    for (int v = 0; v < V; ++v)
      g.at[v] = T((static_cast<S>(g.at[v]) - of_grad.at[v] -
                   (static_cast<S>(each.at[v]) - mean.at[v]) * products.at[v]) *
                  scale.at[v]);
    store_vector(out + at, g);
  });
}

}  // namespace gradus::cuda
