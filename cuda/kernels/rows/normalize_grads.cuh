// All gradients of a layer norm at once, so that x and the gradient are read once.
#pragma once

#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/rows/normalize.cuh"

namespace gradus::cuda {

inline constexpr int kGradsVectors = 2;  // of a row that a thread has
inline constexpr int kMostGradsThreads = 1024;

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

// A block goes over every gridDim.x-th row. A thread has the same columns in all of them, whose
// sums it keeps, and writes them to line blockIdx.x of the tables. REQUIRES: rows have statistics
// of their own, and one group of weights of single elements; a row has at most kGradsVectors
// vectors of V for each thread.
template <class T, int V>
__global__ void __launch_bounds__(kMostGradsThreads)
    normalize_grads_kernel(NormalizedRows rows, const T* grad, const T* x, const T* means,
                           const T* rstds, const T* weight, T* weight_sums, T* bias_sums, T* out) {
  wait_for_earlier_kernels();
  const int n = static_cast<int>(rows.length), threads = static_cast<int>(blockDim.x);
  const auto for_vectors = [&](const auto& f) {
#pragma unroll
    for (int k = 0; k < kGradsVectors; ++k)
      if (const int i = (static_cast<int>(threadIdx.x) + k * threads) * V; i < n) f(k, i);
  };
  Vector<T, V> scale[kGradsVectors] = {}, sums[kGradsVectors] = {}, products[kGradsVectors] = {};
  for_vectors([&](int k, int i) {
    if (weight != nullptr) scale[k] = load_vector<V>(weight + i);
#pragma unroll
    for (int v = 0; v < V; ++v)
      if (weight == nullptr) scale[k].at[v] = 1;
  });
  for (int64_t row = blockIdx.x; row < rows.rows; row += gridDim.x) {
    const int64_t begin = row * n;
    Vector<T, V> g[kGradsVectors] = {}, normal[kGradsVectors] = {};
    for_vectors([&](int k, int i) {
      g[k] = load_vector<V>(grad + begin + i), normal[k] = load_vector<V>(x + begin + i);
    });
    const T mean = means[row], rstd = rstds[row];
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
    of_row = fold_lanes<AddBoth>(of_row, threads);
    const T of_grad = of_row.of_grad / static_cast<T>(n),
            of_products = of_row.of_products / static_cast<T>(n);
    for_vectors([&](int k, int i) {
#pragma unroll
      for (int v = 0; v < V; ++v)
        g[k].at[v] = rstd * (g[k].at[v] - of_grad - normal[k].at[v] * of_products);
      store_vector(out + begin + i, g[k]);
    });
    if (threads > 32) __syncthreads();  // the memory of the fold is used again
  }
  for_vectors([&](int k, int i) {
    store_vector(weight_sums + int64_t{blockIdx.x} * n + i, products[k]);
    store_vector(bias_sums + int64_t{blockIdx.x} * n + i, sums[k]);
  });
}

}  // namespace gradus::cuda
