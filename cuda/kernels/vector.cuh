// Several elements that move between memory and registers in one access.
#pragma once

#include <algorithm>
#include <cstdint>

namespace gradus::cuda {

// The widest access of a thread.
inline constexpr int kAccessBytes = 16;

template <class T, int N>
struct alignas(sizeof(T) * N <= kAccessBytes ? sizeof(T) * N : alignof(T)) Vector {
  T at[N];
};

// How many elements of each type a thread can take so that no access is wider than 16 bytes.
template <class... T>
inline constexpr int vector_width = kAccessBytes / static_cast<int>(std::max({sizeof(T)...}));

#ifdef GRADUS_SIMULATED
using sim::require_aligned;
#else
__device__ inline void require_aligned(const void*, size_t) {}
#endif

// REQUIRES: `from` and `to` are aligned to N elements.
template <int N, class T>
__device__ Vector<T, N> load_vector(const T* from) {
  require_aligned(from, alignof(Vector<T, N>));
  return *reinterpret_cast<const Vector<T, N>*>(from);
}
template <int N, class T>
__device__ void store_vector(T* to, const Vector<T, N>& value) {
  require_aligned(to, alignof(Vector<T, N>));
  *reinterpret_cast<Vector<T, N>*>(to) = value;
}

template <int N, class T>
__host__ __device__ bool is_aligned(const T* pointer) {
  return reinterpret_cast<uintptr_t>(pointer) % (sizeof(T) * N) == 0;
}

}  // namespace gradus::cuda
