// One step of stochastic gradient descent over many parameters in one launch.
#pragma once

#include "gradus/cuda/kernels/vector.cuh"
#include "gradus/tensor/math/sgd.h"

namespace gradus::cuda {

inline constexpr int kSgdThreads = 256;
inline constexpr int kSgdChunk = 4096;  // elements of a block
inline constexpr int kSgdTensors = 96;  // of a launch: the table has to fit 4 KiB of arguments

template <class T>
struct SgdTable {
  int count = 0;
  unsigned first_block[kSgdTensors + 1] = {0};  // of each parameter, and the number of blocks
  int64_t numel[kSgdTensors];
  T* parameter[kSgdTensors];
  const T* gradient[kSgdTensors];
  T* buffer[kSgdTensors];  // null without momentum
};

// The parameter that a block works on.
template <class T>
__device__ int parameter_of(const SgdTable<T>& table, unsigned block) {
  int low = 0, high = table.count;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (table.first_block[middle] <= block ? low : high) = middle;
  }
  return low;
}

// Steps V neighbouring elements. REQUIRES: pointers aligned to V elements.
template <int V, class T>
__device__ void sgd_vector(T* parameter, const T* gradient, T* buffer,
                           const SgdCoefficients<T>& coefficients) {
  Vector<T, V> p = load_vector<V>(static_cast<const T*>(parameter));
  const Vector<T, V> g = load_vector<V>(gradient);
  if (!buffer) {
#pragma unroll
    for (int v = 0; v < V; ++v) sgd_update<T>(p.at[v], g.at[v], nullptr, coefficients);
    return store_vector(parameter, p);
  }
  Vector<T, V> b{};
  if (!coefficients.first) b = load_vector<V>(static_cast<const T*>(buffer));
#pragma unroll
  for (int v = 0; v < V; ++v) sgd_update(p.at[v], g.at[v], &b.at[v], coefficients);
  store_vector(parameter, p);
  store_vector(buffer, b);
}

template <class T>
__global__ void __launch_bounds__(kSgdThreads)
    sgd_kernel(SgdTable<T> table, SgdCoefficients<T> coefficients) {
  constexpr int V = vector_width<T>;
  const int which = parameter_of(table, blockIdx.x);
  const int64_t begin = int64_t{blockIdx.x - table.first_block[which]} * kSgdChunk;
  const int count = static_cast<int>(::min(table.numel[which] - begin, int64_t{kSgdChunk}));
  T* const parameter = table.parameter[which] + begin;
  const T* const gradient = table.gradient[which] + begin;
  T* const buffer = table.buffer[which] ? table.buffer[which] + begin : nullptr;

  const bool aligned =
      is_aligned<V>(parameter) && is_aligned<V>(gradient) && (!buffer || is_aligned<V>(buffer));
  const int vectors = aligned ? count / V : 0;
  for (int i = threadIdx.x; i < vectors; i += kSgdThreads)
    sgd_vector<V>(parameter + i * V, gradient + i * V, buffer ? buffer + i * V : nullptr,
                  coefficients);
  for (int i = vectors * V + threadIdx.x; i < count; i += kSgdThreads)
    sgd_vector<1>(parameter + i, gradient + i, buffer ? buffer + i : nullptr, coefficients);
}

}  // namespace gradus::cuda
