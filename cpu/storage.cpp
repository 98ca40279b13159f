#include <array>
#include <bit>
#include <cstdlib>
#include <utility>

#include "gradus/cpu/backend.h"
#include "gradus/tensor/recycled.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace gradus::cpu {

namespace {

// Blocks of kAlignFrom bytes on start at a cache line, which vector loads like; those from the
// kHugeFrom on at a huge page, since the faults of ordinary pages take longer than an addition
// does.
constexpr size_t kCacheLine = 64, kAlignFrom = 1024;
constexpr size_t kHugePage = size_t{2} << 20, kHugeFrom = size_t{16} << 20;

void* allocate_aligned(size_t nbytes) {
  const size_t unit = nbytes < kHugeFrom ? kCacheLine : kHugePage;
  const size_t rounded = (nbytes + unit - 1) / unit * unit;
  void* const block = std::aligned_alloc(unit, rounded);
#ifdef __linux__
  // Advice: where the system refuses it, the block is as good, only slower at first.
  if (block && unit == kHugePage) madvise(block, rounded, MADV_HUGEPAGE);
#endif
  return block;
}

void* allocate_block(size_t nbytes) {
  void* block = nullptr;
  if (nbytes < kAlignFrom) {
    block = std::malloc(nbytes ? nbytes : 1);
  } else if (nbytes <= PTRDIFF_MAX - kHugePage) {
    block = allocate_aligned(nbytes);
  }
  check<OutOfMemoryError>(block != nullptr, "allocate: the system has no ", nbytes,
                          " bytes for a tensor on cpu; free some, or use smaller tensors");
  return block;
}

// Blocks that this thread freed, kept for its next tensors: the system's allocator takes as long as
// an addition of a thousand elements, and fills the pages of a large block with zeros, which takes
// as long as an addition of all it holds. One list for each power of two.
class BlockCache {
 public:
  static constexpr size_t kLeast = kAlignFrom, kMost = size_t{32} << 20;

  // Whether blocks of so many bytes are kept. A sanitizer is to see them freed.
  static bool keeps([[maybe_unused]] size_t nbytes) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return false;
#else
    return nbytes >= kLeast && nbytes <= kMost;
#endif
  }

  // REQUIRES: keeps(nbytes). Null where there is none.
  static void* take(size_t nbytes) {
    if (ended_) return nullptr;
    List& list = cache().lists_[index(nbytes)];
    if (!list.first) return nullptr;
    list.count -= 1;
    return std::exchange(list.first, list.first->next);
  }
  // REQUIRES: keeps(nbytes), and the block has size(nbytes) bytes. Whether it was kept.
  static bool put(void* block, size_t nbytes) {
    if (ended_) return false;
    List& list = cache().lists_[index(nbytes)];
    if (list.count == (nbytes <= kLarge ? kBlocks : 1)) return false;
    list.first = new (block) Block{list.first};
    list.count += 1;
    return true;
  }
  // Of the block that holds nbytes.
  static size_t size(size_t nbytes) { return std::bit_ceil(nbytes); }

  ~BlockCache() {
    ended_ = true;
    for (List& list : lists_)
      while (list.first) std::free(std::exchange(list.first, list.first->next));
  }

 private:
  // Of each list at most; of those of larger blocks one. A thread keeps 70 MB at most.
  static constexpr int kBlocks = 4;
  static constexpr size_t kLarge = size_t{1} << 20;
  struct Block {
    Block* next;
  };
  struct List {
    Block* first = nullptr;
    int count = 0;
  };

  static BlockCache& cache() {
    thread_local BlockCache cache;
    return cache;
  }
  static size_t index(size_t nbytes) {
    return static_cast<size_t>(std::bit_width(nbytes - 1) - std::bit_width(kLeast - 1));
  }

  std::array<List, 16> lists_;
  static thread_local bool ended_;  // tensors may be freed after the thread's cache
};
thread_local bool BlockCache::ended_ = false;

class CpuStorage final : public Storage {
 public:
  explicit CpuStorage(size_t nbytes) : Storage(block_of(nbytes), nbytes, Device(kCPU)) {}
  ~CpuStorage() override {
    if (!BlockCache::keeps(nbytes()) || !BlockCache::put(data(), nbytes())) std::free(data());
  }

 private:
  static void* block_of(size_t nbytes) {
    if (!BlockCache::keeps(nbytes)) return allocate_block(nbytes);
    void* const kept = BlockCache::take(nbytes);
    return kept ? kept : allocate_block(BlockCache::size(nbytes));
  }
};

// A few elements, which need no block of their own.
class SmallStorage final : public Storage {
 public:
  static constexpr size_t kBytes = 64;
  explicit SmallStorage(size_t nbytes) : Storage(bytes_, nbytes, Device(kCPU)) {}

 private:
  alignas(16) std::byte bytes_[kBytes];
};

}  // namespace

StoragePtr CpuBackend::allocate(size_t nbytes, Device) {
  if (nbytes <= SmallStorage::kBytes) return make_recycled<SmallStorage>(nbytes);
  return make_recycled<CpuStorage>(nbytes);
}

}  // namespace gradus::cpu
