// All gradients of a layer norm at once, so that x and the gradient are read once.
#pragma once

#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/rows/normalize.cuh"

namespace gradus::cuda {

inline constexpr int kGradsVectors = 2;         // of a row that a thread has
inline constexpr int kManyGradsVectors = 3;     // where all of its threads have some then
inline constexpr int kGradsThreads = 256;       // of a block with several rows
inline constexpr int kMostGradsThreads = 1024;  // of one with a long row
// Blocks of a multiprocessor: registers for what a thread keeps come first.
constexpr int grads_blocks(int vectors, int block, bool sums) {
  return block > kGradsThreads ? 1 : vectors > kGradsVectors || sums ? 2 : 3;
}

// Two sums, folded together.
template <class T>
struct TwoSums {
  T of_grad, of_products;
};
template <class T>
__device__ TwoSums<T> shuffle_xor(const TwoSums<T>& s, int reach) {
  return {shuffle_xor(s.of_grad, reach), shuffle_xor(s.of_products, reach)};
}
struct AddBoth {
  template <class T>
  __device__ static TwoSums<T> combine(const TwoSums<T>& a, const TwoSums<T>& b) {
    return {a.of_grad + b.of_grad, a.of_products + b.of_products};
  }
};

// x + y, also where x is a product that the compiler could leave unrounded: the sum has the bits of
// an addition by itself.
__device__ inline float rounded_sum(float x, float y) { return __fadd_rn(x, y); }
__device__ inline double rounded_sum(double x, double y) { return __dadd_rn(x, y); }

// A team has `lanes` threads, a power of two from 32 on, and one row of each bundle. A block goes
// over every gridDim.x-th bundle. A thread has the same columns in all of them, whose sums it
// keeps. A block adds up those of its teams, and writes them to line blockIdx.x of the tables. The
// gradient may be of a half type G. `other` is added to the gradient of x where it is not null.
// Floats go to `low`, too. tables: of the gradients of weights and biases, and with kSums of the
// gradient of x. kBlock: the most threads of a block.
// REQUIRES: rows have statistics of their own, and one group of weights of single elements; a row
// has at most kVectors vectors of V for each of its threads; the block has whole teams, and one
// alone where it has more threads than kGradsThreads.
template <class T, int V, int kVectors, int kBlock, class G, bool kSums>
__global__ void __launch_bounds__(kBlock, grads_blocks(kVectors, kBlock, kSums))
    normalize_grads_kernel(NormalizedRows rows, int lanes, const G* grad, const T* x,
                           const T* means, const T* rstds, const T* weight, const T* other,
                           T* tables, T* out, HalfCopy low) {
  wait_for_earlier_kernels();
  const int n = static_cast<int>(rows.length), thread = static_cast<int>(threadIdx.x),
            lane = thread & (lanes - 1), team = thread / lanes,
            teams = static_cast<int>(blockDim.x) / lanes;
  const auto for_vectors = [&](const auto& f) {
#pragma unroll
    for (int k = 0; k < kVectors; ++k)
      if (const int i = (lane + k * lanes) * V; i < n) f(k, i);
  };
  Vector<T, V> scale[kVectors] = {}, sums[kVectors] = {}, products[kVectors] = {},
               results[kSums ? kVectors : 1] = {};
  for_vectors([&](int k, int i) {
    if (weight != nullptr) scale[k] = load_vector<V>(weight + i);
#pragma unroll
    for (int v = 0; v < V; ++v)
      if (weight == nullptr) scale[k].at[v] = 1;
  });
  __shared__ TwoSums<T> of_warps[2][kBlock / 32];  // used in turn: one barrier a row is enough
  int turn = 0;
  // All teams of a block take as many steps, for they wait for each other.
  for (int64_t first = int64_t{blockIdx.x} * teams; first < rows.rows;
       first += int64_t{gridDim.x} * teams, turn ^= 1) {
    const bool valid = first + team < rows.rows;
    const int64_t row = first + team, begin = row * n;
    // Loads that wait for no sum, where there are registers for them.
    constexpr bool kAhead = sizeof(T) == 4 && kBlock <= kGradsThreads;
    Vector<T, V> g[kVectors] = {}, normal[kVectors] = {}, added[kAhead ? kVectors : 1] = {};
    if (valid)
      for_vectors([&](int k, int i) {
        g[k] = load_as<T, V>(grad + begin + i), normal[k] = load_vector<V>(x + begin + i);
        if (kAhead && other != nullptr) added[k] = load_vector<V>(other + begin + i);
      });
    const T mean = valid ? means[row] : T(0), rstd = valid ? rstds[row] : T(0);
    TwoSums<T> of_row = {0, 0};
    for_vectors([&](int k, int) {
#pragma unroll
      for (int v = 0; v < V; ++v) {
        T &each = g[k].at[v], &x_hat = normal[k].at[v];
        x_hat = (x_hat - mean) * rstd;
        sums[k].at[v] += each, products[k].at[v] += each * x_hat;
        each *= scale[k].at[v];
        of_row = AddBoth::combine(of_row, {each, each * x_hat});
      }
    });
    of_row = fold_lanes<AddBoth>(of_row, 32);
    if (lanes > 32) {
      const int warps = lanes / 32;
      if (thread % 32 == 0) of_warps[turn][thread / 32] = of_row;
      __syncthreads();
      of_row = of_warps[turn][team * warps + (thread & (warps - 1))];
      of_row = fold_lanes<AddBoth>(of_row, warps);
    }
    const T of_grad = of_row.of_grad / static_cast<T>(n),
            of_products = of_row.of_products / static_cast<T>(n);
    if (valid)
      for_vectors([&](int k, int i) {
#pragma unroll
        for (int v = 0; v < V; ++v)
          g[k].at[v] = rstd * (g[k].at[v] - of_grad - normal[k].at[v] * of_products);
        if (other != nullptr) {
          const auto last = kAhead ? added[kAhead ? k : 0] : load_vector<V>(other + begin + i);
#pragma unroll
          for (int v = 0; v < V; ++v) g[k].at[v] = rounded_sum(g[k].at[v], last.at[v]);
        }
        if constexpr (kSums)
#pragma unroll
          for (int v = 0; v < V; ++v) results[k].at[v] += g[k].at[v];
        store_vector(out + begin + i, g[k]);
        if constexpr (std::is_same_v<T, float>) low.store(begin + i, g[k]);
      });
  }
  if (teams > 1) {
    constexpr int kShared = kBlock <= kGradsThreads ? kBlock : 1;
    __shared__ Vector<T, V> of_teams[kVectors][kShared];
    const auto add_teams = [&](Vector<T, V>(&mine)[kVectors]) {
#pragma unroll
      for (int k = 0; k < kVectors; ++k) of_teams[k][thread] = mine[k];
      __syncthreads();
      for (int other = 1; team == 0 && other < teams; ++other)
#pragma unroll
        for (int k = 0; k < kVectors; ++k)
#pragma unroll
          for (int v = 0; v < V; ++v) mine[k].at[v] += of_teams[k][other * lanes + lane].at[v];
      __syncthreads();
    };
    add_teams(products), add_teams(sums);
    if constexpr (kSums) add_teams(results);
    if (team > 0) return;
  }
  for_vectors([&](int k, int i) {
    const auto store = [&](int table, const Vector<T, V>& value) {
      store_vector(tables + (int64_t{gridDim.x} * table + blockIdx.x) * n + i, value);
    };
    store(0, products[k]), store(1, sums[k]);
    if constexpr (kSums) store(2, results[k]);
  });
}

// The sums of each column's lines of the tables (gridDim.y, lines, count). A block takes a few
// columns of a table, so that its threads load all their lines at once.
inline constexpr int kTotalColumns = 8, kTotalLines = 64;
template <class T>
__global__ void __launch_bounds__(kTotalColumns* kTotalLines)
    column_totals(int count, int lines, const T* tables, T* first, T* second, T* third) {
  wait_for_earlier_kernels();
  const int column = static_cast<int>(blockIdx.x) * kTotalColumns + static_cast<int>(threadIdx.x);
  double sum = 0;
  if (column < count)
#pragma unroll 8
    for (int line = static_cast<int>(threadIdx.y); line < lines; line += kTotalLines)
      sum += static_cast<double>(tables[(int64_t{blockIdx.y} * lines + line) * count + column]);
  __shared__ double all[kTotalLines][kTotalColumns];
  all[threadIdx.y][threadIdx.x] = sum;
  for (unsigned reach = kTotalLines / 2; reach > 0; reach /= 2) {
    __syncthreads();
    if (threadIdx.y < reach) all[threadIdx.y][threadIdx.x] += all[threadIdx.y + reach][threadIdx.x];
  }
  T* const out = blockIdx.y == 0 ? first : blockIdx.y == 1 ? second : third;
  if (threadIdx.y == 0 && column < count) out[column] = static_cast<T>(all[0][threadIdx.x]);
}

}  // namespace gradus::cuda
