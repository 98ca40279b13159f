// Conversions of many tensors in one launch. A block converts a piece of one of them.
#pragma once

#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/vector.cuh"

namespace gradus::cuda {

inline constexpr int kCopyThreads = 256;
inline constexpr int kCopyPiece = 4096;  // elements of a block

// The kernel's only argument, within 4 KB.
template <class To, class From>
struct CopyTable {
  static constexpr size_t kMost = 140;
  struct Row {
    const From* from;
    To* to;
    int64_t numel;
  };
  int count = 0;
  unsigned first_block[kMost + 1] = {0};  // of each row, and the number of blocks
  Row rows[kMost];
};

template <class To, class From>
__global__ void __launch_bounds__(kCopyThreads)
    copy_list_kernel(const __grid_constant__ CopyTable<To, From> table) {
  wait_for_earlier_kernels();
  int low = 0, high = table.count;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (table.first_block[middle] <= blockIdx.x ? low : high) = middle;
  }
  const int64_t begin = int64_t{blockIdx.x - table.first_block[low]} * kCopyPiece;
  const auto row = table.rows[low];
  const From* const from = row.from + begin;
  To* const to = row.to + begin;
  const int count = static_cast<int>(::min(row.numel - begin, int64_t{kCopyPiece}));
  constexpr int V = vector_width<From, To>;
  const int vectors = is_aligned<V>(from) && is_aligned<V>(to) ? count / V : 0;
  for (int i = static_cast<int>(threadIdx.x); i < vectors; i += kCopyThreads) {
    const auto in = load_vector<V>(from + i * V);
    Vector<To, V> out;
#pragma unroll
    for (int v = 0; v < V; ++v) out.at[v] = static_cast<To>(in.at[v]);
    store_vector(to + i * V, out);
  }
  for (int i = vectors * V + static_cast<int>(threadIdx.x); i < count; i += kCopyThreads)
    to[i] = static_cast<To>(from[i]);
}

}  // namespace gradus::cuda
