// A part of a block of memory, as a storage of its own.
#pragma once

#include "gradus/tensor/storage.h"

namespace gradus {

// Counts changes by itself and has its own arrival. Keeps the block alive.
class StorageSlice final : public StorageImpl {
 public:
  // REQUIRES: `nbytes` from `begin` on lie in the block.
  StorageSlice(StoragePtr block, int64_t begin, size_t nbytes)
      : StorageImpl(static_cast<char*>(block->data()) + begin, nbytes, block->device()),
        block_(std::move(block)) {}

  // Moves the data to memory of its own, which frees its place in the block. Tensors that use the
  // slice stay valid. The copy is queued on the device's current stream.
  // REQUIRES: nobody uses the storage during the call. Errors: OutOfMemoryError.
  void move_out();

 private:
  StoragePtr block_;
};

}  // namespace gradus
