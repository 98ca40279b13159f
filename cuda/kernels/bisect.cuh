// Searches in lists that are in order.
#pragma once

#include <cstdint>

namespace gradus::cuda {

// A thread for each of `count` values. Every `per_list` neighbours look into one list of n, and
// their lists lie one after the other. Contract: Backend::bisect.
template <class T>
__global__ void bisect_kernel(bool right, int64_t count, int64_t per_list, int64_t n, const T* list,
                              const T* values, int64_t* out) {
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

}  // namespace gradus::cuda
