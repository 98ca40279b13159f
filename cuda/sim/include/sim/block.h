// The place of a thread, and the barriers of its block.
#pragma once

#include <vector_types.h>

namespace gradus::cuda::sim {
// Fixed for as long as a kernel's thread lives, hence `const`: the compiler may ask once.
[[gnu::const]] uint3 thread_index() noexcept;
[[gnu::const]] uint3 block_index() noexcept;
[[gnu::const]] dim3 block_size() noexcept;
[[gnu::const]] dim3 grid_size() noexcept;
}  // namespace gradus::cuda::sim

#define threadIdx (::gradus::cuda::sim::thread_index())
#define blockIdx (::gradus::cuda::sim::block_index())
#define blockDim (::gradus::cuda::sim::block_size())
#define gridDim (::gradus::cuda::sim::grid_size())
inline constexpr int warpSize = 32;

void __syncthreads();
int __syncthreads_count(int predicate);
int __syncthreads_and(int predicate);
int __syncthreads_or(int predicate);

void __threadfence_block();
void __threadfence();
void __threadfence_system();
long long clock64();

void __trap();
