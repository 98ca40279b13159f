// A fused optimizer step: many parameters in one launch.
#pragma once

#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/vector.cuh"
#include "gradus/tensor/math/optimizers.h"

namespace gradus::cuda {

inline constexpr int kUpdateThreads = 256;
inline constexpr int kUpdateChunk = 4096;  // elements of a block

// The length of an array for so many states; one of length 0 is not C++.
template <int states>
inline constexpr int kSlots = states > 0 ? states : 1;

// The data of one parameter for the kernel. A gated kernel may have to count the coefficients anew,
// which takes double.
template <UpdateOp op, int states, class T, bool gated>
struct UpdateRow {
  int64_t numel;
  T* parameter;
  const T* gradient;
  T* state[kSlots<states>];
  UpdateCoefficients<op, std::conditional_t<gated, double, T>> coefficients;
  unsigned fresh;  // as in UpdatedParameter
};

// The kernel's only argument.
template <class Row, int capacity>
struct UpdateTable {
  const double *found_inf, *skipped;  // of a gated kernel, as in UpdatedParameter
  unsigned* nonfinite;  // becomes 1 where a new number is not finite; null: nobody asks
  int count = 0;
  unsigned first_block[capacity + 1] = {0};  // of each row, and the number of blocks
  Row rows[capacity];
};

// How many rows a table of so many bytes has.
template <class Row>
inline constexpr int rows_within(size_t bytes) {
  return static_cast<int>((bytes - sizeof(UpdateTable<Row, 1>)) / (sizeof(Row) + sizeof(unsigned)));
}

// The row that a block works on.
template <class Table>
__device__ int row_of(const Table& table, unsigned block) {
  int low = 0, high = table.count;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (table.first_block[middle] <= block ? low : high) = middle;
  }
  return low;
}

// Steps V neighbouring elements from `at` on. REQUIRES: pointers aligned to V elements.
template <int V, UpdateOp op, int states, class T, bool gated>
__device__ void update_vector(const UpdateRow<op, states, T, gated>& row,
                              const UpdateCoefficients<op, T>& coefficients, int64_t at,
                              unsigned* nonfinite) {
  Vector<T, V> p = load_vector<V>(static_cast<const T*>(row.parameter + at));
  const Vector<T, V> g = load_vector<V>(row.gradient + at);
  Vector<T, V> state[kSlots<states>] = {};
#pragma unroll
  for (int k = 0; k < states; ++k)
    if (!(row.fresh >> k & 1)) state[k] = load_vector<V>(static_cast<const T*>(row.state[k] + at));
#pragma unroll
  for (int v = 0; v < V; ++v) {
    T s[kSlots<states>];
#pragma unroll
    for (int k = 0; k < states; ++k) s[k] = state[k].at[v];
    UpdateFormula<op>::template step<states>(p.at[v], g.at[v], s, coefficients);
#pragma unroll
    for (int k = 0; k < states; ++k) state[k].at[v] = s[k];
  }
  if (nonfinite) {
    T sum = 0;  // x - x is 0 where x is finite, else NaN
#pragma unroll
    for (int v = 0; v < V; ++v) {
      sum += p.at[v] - p.at[v];
#pragma unroll
      for (int k = 0; k < states; ++k) sum += state[k].at[v] - state[k].at[v];
    }
    if (sum != 0) atomicOr(nonfinite, 1u);
  }
  store_vector(row.parameter + at, p);
#pragma unroll
  for (int k = 0; k < states; ++k) store_vector(row.state[k] + at, state[k]);
}

template <UpdateOp op, int states, class T, bool gated, int capacity>
__global__ void __launch_bounds__(kUpdateThreads) update_kernel(
    const __grid_constant__ UpdateTable<UpdateRow<op, states, T, gated>, capacity> table) {
  wait_for_earlier_kernels();
  constexpr int V = vector_width<T>;
  if constexpr (gated)
    if (*table.found_inf != 0) return;
  const int which = row_of(table, blockIdx.x);
  const UpdateRow<op, states, T, gated> row = table.rows[which];
  UpdateCoefficients<op, T> coefficients;
  if constexpr (gated)
    coefficients = recounted<op, T>(row.coefficients, *table.skipped);
  else
    coefficients = row.coefficients;
  const int64_t begin = int64_t{blockIdx.x - table.first_block[which]} * kUpdateChunk;
  const int count = static_cast<int>(::min(row.numel - begin, int64_t{kUpdateChunk}));

  bool aligned = is_aligned<V>(row.parameter) && is_aligned<V>(row.gradient);
#pragma unroll
  for (int k = 0; k < states; ++k) aligned = aligned && is_aligned<V>(row.state[k]);
  const int vectors = aligned ? count / V : 0;
  for (int i = threadIdx.x; i < vectors; i += kUpdateThreads)
    update_vector<V>(row, coefficients, begin + i * V, table.nonfinite);
  for (int i = vectors * V + threadIdx.x; i < count; i += kUpdateThreads)
    update_vector<1>(row, coefficients, begin + i, table.nonfinite);
}

}  // namespace gradus::cuda
