// The policy of the caching allocator, over any source of memory; one pool for each device.
//
// Blocks come in size classes and are never split. A block belongs to the stream it was allocated
// on: freed, it goes to that stream's list and is reused there at once, for the order of the stream
// keeps the new work behind the old.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gradus/cuda/runtime/allocator.h"

namespace gradus::cuda {

// Multiples of 512 bytes up to 8 KiB, then eight steps to each doubling.
struct SizeClass {
  static constexpr size_t kUnit = 512, kLargest = size_t{1} << 48;

  // REQUIRES: 0 < nbytes <= kLargest.
  static constexpr SizeClass of(size_t nbytes) {
    const size_t units = (nbytes - 1) / kUnit;  // one less than needed
    const int shift = std::max(0, static_cast<int>(std::bit_width(units)) - 4);
    const size_t steps = (units >> shift) + 1;
    return {shift * 8 + static_cast<int>(steps) - 1, (steps << shift) * kUnit};
  }

  int index;
  size_t nbytes;  // of every block of the class
};

inline constexpr int kSizeClasses = SizeClass::of(SizeClass::kLargest).index + 1;

// Where a pool gets memory and order from: CUDA, or a fake one in tests.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  // Null where there is no room.
  virtual void* allocate(size_t nbytes) = 0;
  virtual void release(void* data) = 0;
  // A mark behind the work queued on the stream; null where none can be made.
  virtual void* mark(const Stream& stream) noexcept = 0;
  // Later work on the stream waits for the mark, which is used up.
  virtual void wait(const Stream& stream, void* mark) = 0;
  virtual void discard(void* mark) noexcept = 0;
};

struct Block {
  void* data;
  size_t nbytes;
  Stream stream;                // that it was allocated on
  Block** list;                 // the free list it returns to
  Block* next = nullptr;        // in that list
  std::vector<Stream> users{};  // other streams that it is used on
  std::vector<void*> marks{};   // to be waited for before reuse
};

class BlockPool {
 public:
  explicit BlockPool(DeviceMemory& memory) : memory_(memory) {}

  // Null where there is no room, even without the cached blocks.
  // REQUIRES: nbytes > 0; the stream is one of the pool's device.
  Block* allocate(size_t nbytes, const Stream& stream) {
    if (nbytes > SizeClass::kLargest) return nullptr;
    const SizeClass size = SizeClass::of(nbytes);
    const std::lock_guard lock(mutex_);
    Block** list = &lists_[stream.handle()][size.index];
    Block* block = *list;
    if (block) {
      for (; !block->marks.empty(); block->marks.pop_back())
        memory_.wait(stream, block->marks.back());
      *list = block->next;
    } else {
      block = create(size.nbytes, stream, list);
      if (!block) return nullptr;
    }
    stats_.blocks += 1;
    stats_.allocated += block->nbytes;
    stats_.peak_allocated = std::max(stats_.peak_allocated, stats_.allocated);
    return block;
  }

  void free(Block* block) noexcept {
    const std::lock_guard lock(mutex_);
    stats_.blocks -= 1;
    stats_.allocated -= block->nbytes;
    for (const Stream& user : block->users) {
      void* mark = memory_.mark(user);
      if (!mark) return;  // nothing tells when it is free: better lost than shared
      block->marks.push_back(mark);
    }
    block->users.clear();
    block->next = *block->list;
    *block->list = block;
  }

  // The block, in use now, is used on this stream too.
  void record_stream(Block* block, const Stream& stream) {
    const std::lock_guard lock(mutex_);
    if (stream == block->stream || std::ranges::find(block->users, stream) != block->users.end())
      return;
    block->marks.reserve(block->users.size() + 1);  // free() must not run out of memory
    block->users.push_back(stream);
  }

  // Gives every block that is not in use back to the source.
  void release_cached() {
    const std::lock_guard lock(mutex_);
    release_all();
  }

  MemoryStats stats() const {
    const std::lock_guard lock(mutex_);
    return stats_;
  }
  void reset_peaks() {
    const std::lock_guard lock(mutex_);
    stats_.peak_allocated = stats_.allocated;
    stats_.peak_reserved = stats_.reserved;
  }

 private:
  using Lists = std::array<Block*, kSizeClasses>;

  Block* create(size_t nbytes, const Stream& stream, Block** list) {
    auto block = std::make_unique<Block>(Block{nullptr, nbytes, stream, list});
    if (owned_.size() == owned_.capacity()) owned_.reserve(2 * owned_.size() + 16);  // may throw
    block->data = memory_.allocate(nbytes);
    if (!block->data) {
      release_all();
      block->data = memory_.allocate(nbytes);
    }
    if (!block->data) return nullptr;
    stats_.cuda_mallocs += 1;
    stats_.reserved += nbytes;
    stats_.peak_reserved = std::max(stats_.peak_reserved, stats_.reserved);
    return owned_.emplace_back(std::move(block)).get();
  }

  void release_all() {
    for (auto& [stream, lists] : lists_)
      for (Block*& head : lists)
        while (head) {
          Block* const block = std::exchange(head, head->next);
          for (void* mark : block->marks) memory_.discard(mark);
          stats_.cuda_frees += 1;
          stats_.reserved -= block->nbytes;
          memory_.release(block->data);
          block->data = nullptr;
        }
    std::erase_if(owned_, [](const std::unique_ptr<Block>& block) { return !block->data; });
  }

  DeviceMemory& memory_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Block>> owned_;  // all blocks, in use or cached
  std::unordered_map<void*, Lists> lists_;     // by stream; references to values stay valid
  MemoryStats stats_{};
};

}  // namespace gradus::cuda
