// Page-locked memory of the host: copies between it and a GPU run beside the program. Freed blocks
// are kept for later ones, since locking pages takes long.
#pragma once

#include "gradus/cuda/runtime/stream.h"
#include "gradus/tensor/storage.h"

namespace gradus::cuda {

// Memory of the CPU, page-locked. Errors: Error where there is no CUDA; OutOfMemoryError.
StoragePtr allocate_pinned(size_t nbytes);
// Whether the storage is memory of allocate_pinned.
bool is_pinned(const StoragePtr& storage);

namespace detail {
// Call it after a copy from or to the storage is queued on the stream. The memory, once freed, is
// not reused before the work that is queued by then has ended. Other memory is left alone.
void record_pinned(const StoragePtr& storage, const Stream& stream);
}  // namespace detail

}  // namespace gradus::cuda
