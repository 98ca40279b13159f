// Blocks of memory that are kept when tensors free them: by the thread, or by the process.
#include "gradus/cpu/blocks.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "gradus/tensor/base/cpu_memory.h"
#include "gradus/tensor/base/error.h"
#include "gradus/tensor/base/recycled.h"

#include <unistd.h>

#ifdef __linux__
#include <sys/mman.h>
#include <sys/resource.h>
#endif

namespace gradus::cpu {

namespace {

// Blocks from kLeast bytes on start at a cache line, which vector loads like, and those above
// kLarge at a huge page.
constexpr size_t kLeast = 1024, kLarge = size_t{1} << 20;
constexpr size_t kCacheLine = 64, kHugePage = size_t{2} << 20;
constexpr size_t kMost = PTRDIFF_MAX / 2;

// Blocks come in so many bytes, so that one fits tensors of about its size: those of a thread in
// powers of two, large ones in eighths of them.
size_t size_of(size_t nbytes) {
  if (nbytes < kLeast) return nbytes ? nbytes : 1;
  if (nbytes <= kLarge) return std::bit_ceil(nbytes);
  const size_t unit = std::max(std::bit_floor(nbytes) / 8, kHugePage);
  return (nbytes + unit - 1) / unit * unit;
}

int64_t machine_memory() {
  static const int64_t bytes = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  return bytes;
}

// Bytes of all blocks from kLeast on, and how many there may be.
constinit std::atomic<int64_t> reserved{0}, limit{INT64_MAX};
constinit std::atomic<double> fraction_of_machine{1};

// The system's memory for a block; null where it has none.
void* from_system(size_t size) {
  if (size <= kLarge) return std::aligned_alloc(kCacheLine, size);
  void* const block = std::aligned_alloc(kHugePage, size);
#ifdef __linux__
  // Advice: where the system refuses it, the block is as good, only slower at first.
  if (block) madvise(block, size, MADV_HUGEPAGE);
#endif
  return block;
}

// Null where there is no room.
void* new_block(size_t size) {
  if (size < kLeast) return std::malloc(size);
  const auto nbytes = static_cast<int64_t>(size);
  void* block = nullptr;
  if (reserved.fetch_add(nbytes, std::memory_order_relaxed) <=
      limit.load(std::memory_order_relaxed) - nbytes)
    block = from_system(size);
  if (!block) reserved.fetch_sub(nbytes, std::memory_order_relaxed);
  return block;
}

void free_block(void* block, size_t size) {
  if (size >= kLeast) reserved.fetch_sub(static_cast<int64_t>(size), std::memory_order_relaxed);
  std::free(block);
}

// The blocks that this thread freed: one list for each power of two.
class BlocksOfThread {
 public:
  // Null where there is none. REQUIRES: kLeast <= size <= kLarge.
  static void* take(size_t size) {
    if (ended_) return nullptr;
    List& list = blocks().lists_[index(size)];
    if (!list.first) return nullptr;
    list.count -= 1;
    return std::exchange(list.first, list.first->next);
  }
  // Whether the block was kept. REQUIRES: as above.
  static bool put(void* block, size_t size) {
    if (ended_) return false;
    List& list = blocks().lists_[index(size)];
    if (list.count == kBlocks) return false;
    list.first = new (block) Block{list.first};
    list.count += 1;
    return true;
  }

  static void free_all() {
    if (!ended_) blocks().clear();
  }

  ~BlocksOfThread() {
    ended_ = true;
    clear();
  }

 private:
  static constexpr int kBlocks = 4;
  struct Block {
    Block* next;
  };
  struct List {
    Block* first = nullptr;
    int count = 0;
  };

  void clear() {
    size_t size = kLeast;
    for (List& list : lists_) {
      while (list.first) free_block(std::exchange(list.first, list.first->next), size);
      list.count = 0;
      size *= 2;
    }
  }
  static BlocksOfThread& blocks() {
    thread_local BlocksOfThread blocks;
    return blocks;
  }
  static size_t index(size_t size) {
    return static_cast<size_t>(std::countr_zero(size) - std::countr_zero(kLeast));
  }

  std::array<List, 11> lists_;
  static thread_local bool ended_;  // tensors may be freed after the thread's blocks
};
thread_local bool BlocksOfThread::ended_ = false;

// The large blocks that all threads freed, in a list from the newest to the oldest.
class LargeBlocks {
 public:
  // Null where there is none.
  void* take(size_t size) {
    const std::scoped_lock lock(mutex_);
    Block** at = &newest_;
    while (*at && (*at)->size != size) at = &(*at)->older;
    if (!*at) return nullptr;
    bytes_ -= size;
    return std::exchange(*at, (*at)->older);
  }
  // Keeps the block, and frees the oldest ones where that makes too many.
  void put(void* block, size_t size) { free_list(add(new (block) Block{nullptr, size})); }
  void free_all() {
    const std::scoped_lock lock(mutex_);
    bytes_ = 0;
    free_list(std::exchange(newest_, nullptr));
  }

 private:
  static constexpr size_t kBytes = size_t{1} << 30;
  struct Block {
    Block* older;
    size_t size;
  };

  // Returns the blocks that are too many then.
  Block* add(Block* block) {
    const std::scoped_lock lock(mutex_);
    block->older = std::exchange(newest_, block);
    bytes_ += block->size;
    if (bytes_ <= kBytes) return nullptr;
    bytes_ = 0;
    Block** at = &newest_;
    for (; *at && bytes_ + (*at)->size <= kBytes; at = &(*at)->older) bytes_ += (*at)->size;
    return std::exchange(*at, nullptr);
  }
  static void free_list(Block* block) {
    while (block) {
      Block* const older = block->older;
      free_block(block, block->size);
      block = older;
    }
  }

  std::mutex mutex_;
  Block* newest_ = nullptr;
  size_t bytes_ = 0;
};

// Never destroyed, since tensors may be freed after all static objects.
LargeBlocks& large_blocks() {
  static LargeBlocks& blocks = *new LargeBlocks;
  return blocks;
}

void* take_kept(size_t size) {
  if (kSanitized || size < kLeast) return nullptr;
  return size <= kLarge ? BlocksOfThread::take(size) : large_blocks().take(size);
}

// How much memory this process has and the system could give: ": this process holds 1.50 GB, ...".
// Empty where the system does not tell.
std::string memory_now() {
  constexpr double kKibibyte = 1024, kGigabyte = 1e9;
  std::string out;
  const auto add = [&](const char* file, const char* name, const char* pattern) {
    std::FILE* const lines = std::fopen(file, "r");
    if (!lines) return;
    char line[256];
    while (std::fgets(line, sizeof line, lines)) {
      const size_t length = std::strlen(name);
      if (std::strncmp(line, name, length) != 0) continue;
      char text[128];
      std::snprintf(text, sizeof text, pattern,
                    std::strtod(line + length, nullptr) * kKibibyte / kGigabyte);
      out += text;
    }
    std::fclose(lines);
  };
  add("/proc/self/status", "VmRSS:", ": this process holds %.2f GB");
  add("/proc/meminfo", "MemAvailable:", ", %.2f GB");
  add("/proc/meminfo", "MemTotal:", " of %.2f GB are free");
#ifdef __linux__
  rlimit addresses{};
  if (getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY)
    out += ", and its limit of addresses (ulimit -v) is " + std::to_string(addresses.rlim_cur) +
           " bytes";
#endif
  return out;
}

}  // namespace

void* take_block(size_t nbytes) {
  if (const auto call = on_block.load(std::memory_order_relaxed)) [[unlikely]]
    call(nbytes);
  void* block = nullptr;
  if (nbytes <= kMost) {
    const size_t size = size_of(nbytes);
    block = take_kept(size);
    if (!block) block = new_block(size);
    if (!block) {
      empty_cache();
      block = new_block(size);
    }
  }
  if (!block && nbytes <= kMost)
    check<OutOfMemoryError>(memory_reserved() <= limit - static_cast<int64_t>(size_of(nbytes)),
                            "allocate: ", nbytes, " bytes for a tensor on cpu, beside ",
                            memory_reserved(), " in use, are more than the limit of ", limit.load(),
                            " bytes; use smaller tensors, or cpu::set_per_process_memory_fraction");
  if (block) return block;
  fail<OutOfMemoryError>("allocate: the system has no ", nbytes, " bytes for a tensor on cpu",
                         memory_now(), "; free some, or use smaller tensors");
}

void give_block(void* block, size_t nbytes) {
  const size_t size = size_of(nbytes);
  if (kSanitized || size < kLeast) return free_block(block, size);
  if (size > kLarge) return large_blocks().put(block, size);
  if (!BlocksOfThread::put(block, size)) free_block(block, size);
}

int64_t memory_reserved() { return reserved.load(std::memory_order_relaxed); }

void empty_cache() {
  BlocksOfThread::free_all();
  large_blocks().free_all();
}

void set_per_process_memory_fraction(double fraction) {
  check(fraction >= 0 && fraction <= 1, "set_per_process_memory_fraction: fraction is ", fraction,
        ", expected a number from 0 to 1; give a part of the machine's memory");
  fraction_of_machine = fraction;
  limit = fraction == 1 ? INT64_MAX
                        : static_cast<int64_t>(fraction * static_cast<double>(machine_memory()));
}
double get_per_process_memory_fraction() { return fraction_of_machine; }

}  // namespace gradus::cpu
