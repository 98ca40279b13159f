// Batch norm of channels that come last in memory: the columns of a matrix, of any floating type.
//
// Idea. A thread has some neighbouring columns, 16 bytes, and goes over rows that are far apart. It
// keeps what belongs to its columns in registers. Loads of several rows are under way at once.
// Sums are two numbers for each column; blocks leave theirs in lines of a table, and the last block
// of some columns adds these in order. Squares are those of differences from the first row, so that
// a large mean does not swallow them.
// Cost. The forward pass reads x twice and writes once; the backward pass reads x and the gradient
// twice and writes once: 6 and 10 bytes an element of half types. A clamp that follows, such as
// relu, costs no pass: the backward pass finds by x where the result was between its bounds. A sum
// with an identity is read by the normalisation: 8 and 10 bytes. Where that sum is clamped, the
// backward pass reads the result, and writes the gradient of the identity: 8 and 14 bytes.
// The second-level cache still holds the last rows that the kernel before wrote. So sums begin with
// the last row and end with the first one, where the kernel that follows begins.
#pragma once

#include "gradus/cuda/kernels/computed.cuh"
#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/rows/clamps.cuh"
#include "gradus/cuda/kernels/rows/last_block.cuh"
#include "gradus/cuda/kernels/vector.cuh"

namespace gradus::cuda {

// One block of the sums fills a multiprocessor: few lines are left to the last one.
inline constexpr int kColumnThreads = 256, kColumnSumThreads = 768;

// A row-major matrix as its threads see it: they differ in columns along x, and in rows along y.
template <int V>
struct Columns {
  int64_t rows;
  int count;

  __device__ int mine() const {
    return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * V;
  }
  __device__ bool has_mine() const { return mine() < count; }
  // use(place, load(place)) for this thread's part of each of its rows; a place is the step from
  // the first element. kAtOnce rows are loaded before the first is used: no load overtakes a store.
  // kFromEnd: begins with the last row. REQUIRES: has_mine().
  template <int kAtOnce, bool kFromEnd = false, class Load, class Use>
  __device__ void for_rows(const Load& load, const Use& use) const {
    const int64_t first = int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
    const int64_t step = (kFromEnd ? -1 : 1) * int64_t{gridDim.y} * blockDim.y;
    const auto exists = [&](int64_t row) { return kFromEnd ? row >= 0 : row < rows; };
    const auto place = [&](int64_t row) { return row * count + mine(); };
    for (int64_t row = kFromEnd ? rows - 1 - first : first; exists(row); row += kAtOnce * step) {
      decltype(load(row)) loaded[kAtOnce];
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) {  // the last row stands for those beyond it
        const int64_t each = row + k * step;
        loaded[k] = load(place(kFromEnd ? ::max(each, int64_t{0}) : ::min(each, rows - 1)));
      }
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k)
        if (exists(row + k * step)) use(place(row + k * step), loaded[k]);
    }
  }
  // This thread's numbers of a list with one for each column; `without` where the list is null.
  // REQUIRES: has_mine(); where V > 1, the list is aligned to 16 bytes.
  template <class S>
  __device__ Vector<S, V> of(const S* list, S without) const {
    constexpr int kWide = V < vector_width<S> ? V : vector_width<S>;
    Vector<S, V> out;
#pragma unroll
    for (int v = 0; v < V; v += kWide) {
      Vector<S, kWide> some;
#pragma unroll
      for (int w = 0; w < kWide; ++w) some.at[w] = without;
      if (list) some = load_vector<kWide>(list + mine() + v);
#pragma unroll
      for (int w = 0; w < kWide; ++w) out.at[v + w] = some.at[w];
    }
    return out;
  }
};

// The moments of columns need sums of differences from the first row, and of their squares.
template <class T, int V>
struct MomentTerms {
  using S = Computed<T>;
  static constexpr int kAtOnce = 4;
  const T* x;
  Vector<S, V> first;

  __device__ void start(const Columns<V>& columns) {
    const auto row = load_vector<V>(x + columns.mine());
#pragma unroll
    for (int v = 0; v < V; ++v) first.at[v] = static_cast<S>(row.at[v]);
  }
  __device__ Vector<T, V> load(int64_t at) const { return load_vector<V>(x + at); }
  __device__ void add(int64_t, const Vector<T, V>& each, Vector<S, V> (&sums)[2]) const {
#pragma unroll
    for (int v = 0; v < V; ++v) {
      const S apart = static_cast<S>(each.at[v]) - first.at[v];
      sums[0].at[v] += apart, sums[1].at[v] += apart * apart;
    }
  }
};

// The parameters of columns, as lists. eps: NaN, or rstds are variances.
template <class S>
struct ColumnLists {
  const S *weights, *biases, *means, *rstds;  // the first two may be null
  S eps;
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
    if (of.eps == of.eps)
#pragma unroll
      for (int v = 0; v < V; ++v) scale.at[v] = 1 / sqrt(scale.at[v] + of.eps);
#pragma unroll
    for (int v = 0; v < V; ++v) scale.at[v] *= weight.at[v];
  }
  __device__ S at(int v, S x) const { return (x - mean.at[v]) * scale.at[v] + bias.at[v]; }
  // The gradient of what stands before a clamp. T: the type of results.
  template <class T, class Clamp>
  __device__ S passed(int v, T grad, S x, const Clamp& clamp) const {
    return clamp.passes(static_cast<S>(T(at(v, x)))) ? static_cast<S>(grad) : S(0);
  }
};

// The gradients of weights and biases need sums of grad * (x - mean), and of grad. Where a
// sum is clamped, y is the result, and passed becomes the gradient of what stands before the clamp.
template <class T, int V, bool kAdds, class Clamp>
struct GradTerms {
  using S = Computed<T>;
  static constexpr int kAtOnce = kAdds ? 2 : 3;  // as many as registers hold
  struct Loaded {
    Vector<T, V> grad, x, y;
  };
  const T *grad, *x, *y;
  T* passed;
  ColumnLists<S> lists;
  Clamp clamp;
  Normal<S, V> normal;

  __device__ void start(const Columns<V>& columns) { normal = {columns, lists}; }
  __device__ Loaded load(int64_t at) const {
    Loaded out;
    out.grad = load_vector<V>(grad + at), out.x = load_vector<V>(x + at);
    if constexpr (kAdds) out.y = load_vector<V>(y + at);
    return out;
  }
  __device__ void add(int64_t at, const Loaded& here, Vector<S, V> (&sums)[2]) const {
    Vector<T, V> g = here.grad;
    if constexpr (kAdds) {
#pragma unroll
      for (int v = 0; v < V; ++v)
        if (!clamp.passes(static_cast<S>(here.y.at[v]))) g.at[v] = T(0);
      store_vector(passed + at, g);
    }
#pragma unroll
    for (int v = 0; v < V; ++v) {
      const S each = static_cast<S>(here.x.at[v]), apart = each - normal.mean.at[v];
      S one = static_cast<S>(g.at[v]);
      if constexpr (!kAdds) one = normal.passed(v, g.at[v], each, clamp);
      sums[0].at[v] += one * apart;
      sums[1].at[v] += one;
    }
  }
};

// The shared memory of column_sums. Forms of equal S and V have it in common. Simulated devices
// keep shared memory on the stack of each thread.
template <class S, int V>
struct ColumnSumsMemory {
  // Neighbours in a list lie in different banks of memory, for those who write and those who read.
  S all[V][kColumnSumThreads + 4];
  S parts[2][kColumnSumThreads];
  double totals[kColumnSumThreads];
};
template <class S, int V>
__device__ ColumnSumsMemory<S, V>& column_sums_memory() {
  __shared__ ColumnSumsMemory<S, V> memory;
  return memory;
}

// Each thread has one of `numbers` numbers, and its group has a share of that number's terms.
// Threads without a number have a group of at least `groups`.
struct ColumnGroups {
  static constexpr int kMost = 32;
  int groups, number, group;

  __device__ ColumnGroups(int thread, int numbers)
      : groups(::min(kColumnSumThreads / numbers, kMost)),
        number(thread % numbers),
        group(thread / numbers) {}
  // f(term) for this thread's share of `terms`.
  template <class F>
  __device__ void for_terms(int terms, const F& f) const {
    if (group >= groups) return;
#pragma unroll 8
    for (int i = group; i < terms; i += groups) f(i);
  }
};

// The sums of each column's terms, for `of`. table: (gridDim.z, gridDim.x, gridDim.y, 2 * columns
// of a block). blockIdx.z: which of several matrices of one shape; terms and `of` know how these
// lie.
template <class Terms, class S, int V, class Take>
__global__ void __launch_bounds__(kColumnSumThreads, 1)
    column_sums(const Columns<V> columns, Terms terms, S* table, unsigned* counters, Take of) {
  wait_for_earlier_kernels();
  Vector<S, V> sums[2] = {};
  if (columns.has_mine() && columns.rows > 0) {
    terms.start(columns);
    columns.template for_rows<Terms::kAtOnce, /*kFromEnd=*/true>(
        [&](int64_t at) { return terms.load(at); },
        [&](int64_t at, const auto& loaded) { terms.add(at, loaded, sums); });
  }
  auto& [all, parts, totals] = column_sums_memory<S, V>();
  const int across = static_cast<int>(blockDim.x), width = across * V,
            thread = static_cast<int>(threadIdx.y) * across + static_cast<int>(threadIdx.x);
  const ColumnGroups of_block(thread, width);
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    __syncthreads();
#pragma unroll
    for (int v = 0; v < V; ++v) all[v][thread] = sums[k].at[v];
    __syncthreads();
    const S* const from = &all[of_block.number % V][of_block.number / V];
    S sum = 0;
    of_block.for_terms(static_cast<int>(blockDim.y), [&](int y) { sum += from[y * across]; });
    parts[k][thread] = sum;
  }
  __syncthreads();
  const unsigned place = blockIdx.z * gridDim.x + blockIdx.x;
  S* const lines = table + int64_t{place} * gridDim.y * 2 * width;
  if (thread < 2 * width) {
    const S* const from = &parts[thread / width][thread % width];
    S sum = 0;
    for (int group = 0; group < of_block.groups; ++group) sum += from[group * width];
    lines[static_cast<int>(blockIdx.y) * 2 * width + thread] = sum;
  }
  if (!is_last_block(counters + place, gridDim.y)) return;
  const ColumnGroups of_lines(thread, 2 * width);
  double total = 0;
  of_lines.for_terms(static_cast<int>(gridDim.y), [&](int line) {
    total += static_cast<double>(lines[line * 2 * width + of_lines.number]);
  });
  totals[thread] = total;
  __syncthreads();
  const int column = static_cast<int>(blockIdx.x) * width + thread;
  if (thread >= width || column >= columns.count) return;
  double both[2] = {};
  for (int group = 0; group < of_lines.groups; ++group)
#pragma unroll
    for (int k = 0; k < 2; ++k) both[k] += totals[(2 * group + k) * width + thread];
  of.take(column, both[0], both[1]);
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

template <class T, class S, int V, bool kAdds, class Clamp>
__global__ void __launch_bounds__(kColumnThreads, 4)
    normalize_columns(const Columns<V> columns, const T* x, const T* identity,
                      const ColumnLists<S> lists, const Clamp clamp, T* out) {
  wait_for_earlier_kernels();
  if (!columns.has_mine()) return;
  const Normal<S, V> normal(columns, lists);
  struct Loaded {
    Vector<T, V> x, identity;
  };
  const auto load = [&](int64_t at) {
    Loaded here;
    here.x = load_vector<V>(x + at);
    if constexpr (kAdds) here.identity = load_vector<V>(identity + at);
    return here;
  };
  columns.template for_rows<kAdds ? 2 : 4>(load, [&](int64_t at, const Loaded& here) {
    Vector<T, V> y;
#pragma unroll
    for (int v = 0; v < V; ++v) {
      S one = normal.at(v, static_cast<S>(here.x.at[v]));
      if constexpr (kAdds) one += static_cast<S>(here.identity.at[v]);
      y.at[v] = T(clamp.clamp(one));
    }
    store_vector(out + at, y);
  });
}

// The gradient of x from the sums of GradTerms. Clamp: grad is that of what it made.
template <class T, class S, int V, class Clamp>
__global__ void __launch_bounds__(kColumnThreads, 3)
    column_grads(const Columns<V> columns, const T* grad, const T* x, const ColumnLists<S> lists,
                 const Clamp clamp, const S* product_sums, const S* grad_sums, T* out) {
  wait_for_earlier_kernels();
  if (!columns.has_mine()) return;
  const Normal<S, V> normal(columns, lists);
  const auto rstd = columns.of(lists.rstds, S(0));
  auto products = columns.of(product_sums, S(0)), of_grad = columns.of(grad_sums, S(0));
  const S share = S(1) / static_cast<S>(columns.rows);
#pragma unroll
  for (int v = 0; v < V; ++v) products.at[v] *= rstd.at[v] * share, of_grad.at[v] *= share;
  struct Loaded {
    Vector<T, V> grad, x;
  };
  const auto load = [&](int64_t at) {
    Loaded here;
    here.grad = load_vector<V>(grad + at), here.x = load_vector<V>(x + at);
    return here;
  };
  columns.template for_rows<2>(load, [&](int64_t at, const Loaded& here) {
    Vector<T, V> of_x;
#pragma unroll
    for (int v = 0; v < V; ++v) {
      const S each = static_cast<S>(here.x.at[v]);
      of_x.at[v] = T((normal.passed(v, here.grad.at[v], each, clamp) - of_grad.at[v] -
                      (each - normal.mean.at[v]) * products.at[v]) *
                     normal.scale.at[v]);
    }
    store_vector(out + at, of_x);
  });
}

}  // namespace gradus::cuda
