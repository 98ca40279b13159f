// CUDA's names for copies to shared memory that no thread waits for at once.
#pragma once

#include <cstddef>

#include <sim/async_copy.h>

// The last `zeros` of the `size` bytes (4, 8 or 16) do not come from `from`, but are zero.
__forceinline__ void __pipeline_memcpy_async(void* to, const void* from, size_t size,
                                             size_t zeros = 0) {
  gradus::cuda::sim::begin_copy(to, from, static_cast<unsigned>(size),
                                static_cast<unsigned>(size - zeros));
}
__forceinline__ void __pipeline_commit() { gradus::cuda::sim::end_copy_group(); }
__forceinline__ void __pipeline_wait_prior(size_t pending) {
  gradus::cuda::sim::wait_for_copies(static_cast<unsigned>(pending));
}
