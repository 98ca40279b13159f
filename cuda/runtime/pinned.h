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
// To be called where a copy from or to the storage was queued on the stream: once freed its memory
// is reused only after the work queued by then. Nothing happens for other memory.
void record_pinned(const StoragePtr& storage, const Stream& stream);
}  // namespace detail

}  // namespace gradus::cuda
