// The caching allocator: memory that tensors give back is kept for later tensors, so that a steady
// training step never calls cudaMalloc. block_pool.h has the policy.
#pragma once

#include <cstddef>
#include <memory>

#include "gradus/cuda/runtime/stream.h"
#include "gradus/tensor/storage.h"

namespace gradus::cuda {

// Bytes and calls of one device, in this process.
struct MemoryStats {
  int64_t allocated;  // bytes of the blocks in use; a block is up to 1/32 or 511 bytes larger than was asked for
  int64_t peak_allocated;
  int64_t reserved;  // bytes taken from CUDA: in use and cached
  int64_t peak_reserved;
  int64_t blocks;  // in use
  int64_t cuda_mallocs;
  int64_t cuda_frees;
};

// -1: of the current device. Errors: ValueError where there is no such device.
MemoryStats memory_stats(int device = -1);
// The peaks become what is in use now.
void reset_peak_memory_stats(int device = -1);

// The blocks of this process take at most this part of the device's memory: beyond it, cached ones
// go back to CUDA, and then allocations fail with OutOfMemoryError. 1 at first. A block that is
// there already stays.
// Errors: ValueError for a fraction that is not in [0, 1], and where there is no such device.
void set_per_process_memory_fraction(double fraction, int device = -1);
double get_per_process_memory_fraction(int device = -1);

// Gives the cached blocks of all devices back to CUDA, which may wait for them.
void empty_cache();

// Whether the storage is memory of this allocator.
bool is_allocated(const StoragePtr& storage);
// Call this where memory is used on a stream other than the one that was current at its allocation.
// Once freed it is reused only after the work queued on `stream` by then.
// Errors: TypeError where the storage is not CUDA memory.
void record_stream(const StoragePtr& storage, const Stream& stream);

namespace detail {
// The backend calls this. REQUIRES: a stream of an existing device. Errors: OutOfMemoryError.
StoragePtr allocate(size_t nbytes, const Stream& stream);
// Memory of the current device that is no block: also beside a capture, whose graph does not own
// it. Errors: OutOfMemoryError.
std::shared_ptr<void> allocate_apart(size_t nbytes);
}  // namespace detail

}  // namespace gradus::cuda
