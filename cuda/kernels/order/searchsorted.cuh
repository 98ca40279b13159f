// searchsorted: searches in lists that are in order. And counts of elements by equal intervals.
#pragma once

#include <cstdint>

#include "gradus/cuda/kernels/pdl.cuh"

namespace gradus::cuda {

// A thread for each of `count` values. Every `per_list` neighbours look into one list of n, and
// their lists lie one after the other. Contract: Backend::searchsorted.
template <class T>
__global__ void searchsorted_kernel(bool right, int64_t count, int64_t per_list, int64_t n,
                                    const T* list, const T* values, int64_t* out) {
  wait_for_earlier_kernels();
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const T value = values[i];
  list += i / per_list * n;
  const auto comes_before = [&](T element) {
    return !(right ? element > value : element >= value);
  };
  int64_t before = 0;
  for (int64_t length = n; length > 1; length -= length / 2)
    if (comes_before(list[before + length / 2 - 1])) before += length / 2;
  out[i] = before + comes_before(list[before]);
}

// --- histc
inline constexpr int kHistcThreads = 512;
inline constexpr int kHistcBatch = 4;    // elements that a thread has under way
inline constexpr int kHistcBins = 4096;  // that a block counts in shared memory
using HistcCount = unsigned long long;   // as atomicAdd wants it

// A block counts its share, and adds it to what others have; more than kHistcBins intervals are
// counted where they are. A share has less than 2^32 elements.
template <class T>
__global__ void __launch_bounds__(kHistcThreads)
    histc_kernel(T low, T high, T span, int64_t n, int bins, const T* x, HistcCount* out) {
  wait_for_earlier_kernels();
  __shared__ unsigned counts[kHistcBins];
  const bool shares = bins <= kHistcBins;
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread; shares && i < bins; i += kHistcThreads) counts[i] = 0;
  __syncthreads();
  const int64_t step = int64_t{gridDim.x} * kHistcThreads;
  for (int64_t first = int64_t{blockIdx.x} * kHistcThreads + thread; first < n;
       first += kHistcBatch * step) {
    T element[kHistcBatch];
#pragma unroll
    for (int b = 0; b < kHistcBatch; ++b)
      if (first + b * step < n) element[b] = x[first + b * step];
#pragma unroll
    for (int b = 0; b < kHistcBatch; ++b) {
      if (first + b * step >= n || !(element[b] >= low && element[b] <= high)) continue;
      const auto place = static_cast<int>((element[b] - low) * static_cast<T>(bins) / span);
      const int bin = ::min(place, bins - 1);
      if (shares)
        atomicAdd(&counts[bin], 1u);
      else
        atomicAdd(&out[bin], HistcCount{1});
    }
  }
  __syncthreads();
  for (int i = thread; shares && i < bins; i += kHistcThreads)
    if (counts[i] > 0) atomicAdd(&out[i], HistcCount{counts[i]});
}

}  // namespace gradus::cuda
