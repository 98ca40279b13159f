// Blocks of page-locked memory, their events, and the list of those that are free.
#include "gradus/cuda/runtime/pinned.h"

#include <cuda_runtime_api.h>

#include <bit>
#include <map>
#include <mutex>
#include <vector>

#include "gradus/cuda/runtime/check.h"
#include "gradus/cuda/runtime/event.h"
#include "gradus/tensor/foreign_memory.h"

namespace gradus::cuda {

namespace {

struct PinnedBlock {
  void* memory;
  size_t size;                // a power of two
  std::vector<Event> copies;  // which use it
};

class PinnedPool {
 public:
  PinnedBlock take(size_t nbytes) {
    const size_t size = std::bit_ceil(std::max<size_t>(nbytes, kSmallest));
    {
      const std::lock_guard lock(mutex_);
      auto [block, end] = free_.equal_range(size);
      for (; block != end; ++block)
        if (is_done(block->second)) {
          PinnedBlock out = std::move(block->second);
          free_.erase(block);
          out.copies.clear();
          return out;
        }
    }
    void* memory = nullptr;
    const cudaError_t status = cudaHostAlloc(&memory, size, cudaHostAllocPortable);
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();  // so that no later call finds it
      fail<OutOfMemoryError>(
          "pin_memory: no ", size,
          " bytes of memory can be page-locked; use less of it, or leave it out");
    }
    check_cuda(status, "pin_memory: cudaHostAlloc");
    return {memory, size, {}};
  }
  void give(PinnedBlock block) {
    const std::lock_guard lock(mutex_);
    const size_t size = block.size;
    free_.emplace(size, std::move(block));
  }

 private:
  static constexpr size_t kSmallest = 512;

  static bool is_done(const PinnedBlock& block) {
    for (const Event& copy : block.copies)
      if (!copy.query()) return false;
    return true;
  }

  std::mutex mutex_;
  std::multimap<size_t, PinnedBlock> free_;  // by size
};

// Outlives static destructors.
PinnedPool& pinned_pool() {
  static auto& pool = *new PinnedPool;
  return pool;
}

class PinnedStorage final : public StorageImpl {
 public:
  PinnedStorage(PinnedBlock block, size_t nbytes)
      : StorageImpl(block.memory, nbytes, Device(kCPU)), block_(std::move(block)) {}
  ~PinnedStorage() override { pinned_pool().give(std::move(block_)); }
  bool resizable() const override { return false; }

  void record(const Stream& stream) {
    const std::lock_guard lock(mutex_);
    std::erase_if(block_.copies, [](const Event& copy) { return copy.query(); });
    block_.copies.emplace_back().record(stream);
  }

 private:
  std::mutex mutex_;
  PinnedBlock block_;
};

}  // namespace

StoragePtr allocate_pinned(size_t nbytes) {
  check<Error>(is_available(), "pin_memory: ", why_unavailable());
  return std::make_shared<PinnedStorage>(pinned_pool().take(nbytes), nbytes);
}

bool is_pinned(const StoragePtr& storage) {
  return dynamic_cast<const PinnedStorage*>(storage.get()) != nullptr;
}

void detail::record_pinned(const StoragePtr& storage, const Stream& stream) {
  if (auto* const pinned = dynamic_cast<PinnedStorage*>(storage.get())) pinned->record(stream);
}

}  // namespace gradus::cuda

gradus::StoragePtr gradus::allocate_pinned_memory(size_t nbytes) {
  return cuda::allocate_pinned(nbytes);
}
