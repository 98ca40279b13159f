// Adds one array to another, and divides.
#pragma once

#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/vector.cuh"

namespace gradus::cuda {

template <int V, class T>
__device__ void add_vector(T* sum, const T* part, T divisor) {
  Vector<T, V> value = load_vector<V>(static_cast<const T*>(sum));
  const Vector<T, V> added = load_vector<V>(part);
#pragma unroll
  for (int v = 0; v < V; ++v) value.at[v] = (value.at[v] + added.at[v]) / divisor;
  store_vector(sum, value);
}

// So small a block fits beside those of a large product (matmul/tensor_cores.cuh), and does not
// wait for one of them to end.
inline constexpr int kAddPartThreads = 128, kAddPartRegisters = 48;

// REQUIRES: both are aligned to kAccessBytes.
template <class T>
__global__ void __maxnreg__(kAddPartRegisters)
    add_part_kernel(T* sum, const T* part, int64_t numel, T divisor) {
  wait_for_earlier_kernels();
  constexpr int V = vector_width<T>;
  const int64_t thread = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int64_t threads = int64_t{gridDim.x} * blockDim.x;
  const int64_t vectors = numel / V;
#pragma unroll 4
  for (int64_t i = thread; i < vectors; i += threads)
    add_vector<V>(sum + i * V, part + i * V, divisor);
  for (int64_t i = vectors * V + thread; i < numel; i += threads)
    add_vector<1>(sum + i, part + i, divisor);
}

}  // namespace gradus::cuda
