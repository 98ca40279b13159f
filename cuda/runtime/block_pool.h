// The policy of the caching allocator, over any source of memory; one pool for each device.
//
// Blocks come in size classes and are never split. A block belongs to the stream it was allocated
// on. A freed block goes to that stream's list and is reused there at once: the order of the stream
// keeps the new work behind the old.
//
// Memory that is allocated while a graph is captured comes from lists of the graph's own and goes
// back there. A replay uses this memory again, so nobody else may have it before the graph is gone.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "gradus/cuda/runtime/allocator.h"

namespace gradus::cuda {

// Multiples of 512 bytes up to 32 KiB, then 32 steps to each doubling.
struct SizeClass {
  static constexpr size_t kUnit = 512, kLargest = size_t{1} << 48;
  static constexpr int kSteps = 32;

  // REQUIRES: 0 < nbytes <= kLargest.
  static constexpr SizeClass of(size_t nbytes) {
    const size_t units = (nbytes - 1) / kUnit;  // one less than needed
    const int shift = std::max(0, static_cast<int>(std::bit_width(units / kSteps)) - 1);
    const size_t steps = (units >> shift) + 1;
    return {shift * kSteps + static_cast<int>(steps) - 1, (steps << shift) * kUnit};
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
  // The capture that the stream is part of; 0 for none.
  virtual uint64_t capture_of(const Stream&) noexcept { return 0; }
};

struct Block {
  void* data;
  size_t nbytes;
  Stream stream;                // that it was allocated on
  Block** list;                 // the free list it returns to
  Block* next = nullptr;        // in that list
  std::vector<Stream> users{};  // other streams that it is used on
  std::vector<void*> marks{};   // to be waited for before reuse
  uint64_t graph = 0;           // whose lists it is from; 0 is none's
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
    const uint64_t graph = graph_of(stream);
    Block** list = &lists_[{graph, stream.handle()}][size.index];
    Block* block = *list;
    if (block) {
      for (; !block->marks.empty(); block->marks.pop_back())
        memory_.wait(stream, block->marks.back());
      *list = block->next;
    } else {
      block = create(size.nbytes, stream, list);
      if (!block) return nullptr;
      block->graph = graph;
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
    put_back(block);
  }

  // The block, in use now, is used on this stream too.
  void record_stream(Block* block, const Stream& stream) {
    const std::lock_guard lock(mutex_);
    if (stream == block->stream || std::ranges::find(block->users, stream) != block->users.end())
      return;
    block->marks.reserve(block->users.size() + 1);  // free() must not run out of memory
    block->users.push_back(stream);
  }

  // Allocations on the capture's streams belong to the graph's lists from now on, until
  // release_graph() has been called as often. REQUIRES: no number is 0; the device has no work.
  void begin_capture(uint64_t capture, uint64_t graph) {
    const std::lock_guard lock(mutex_);
    captures_.push_back({capture, graph});
    ++graphs_[graph];
    discard_marks_of(graph);
  }

  void end_capture(uint64_t capture) {
    const std::lock_guard lock(mutex_);
    const auto ended = std::ranges::find(captures_, capture, &std::pair<uint64_t, uint64_t>::first);
    discard_marks_of(ended->second);
    captures_.erase(ended);
    for (Block* block = std::exchange(late_, nullptr); block;)
      put_back(std::exchange(block, block->next));
  }

  // The last graph of these lists makes their blocks ordinary ones of the stream on which the graph
  // has run. `freed` is called with each that is not in use.
  template <class F>
  void release_graph(uint64_t graph, const Stream& stream, F freed) {
    const std::lock_guard lock(mutex_);
    if (--graphs_[graph] > 0) return;
    graphs_.erase(graph);
    Lists& ordinary = lists_[{0, stream.handle()}];
    for (const auto& block : owned_)
      if (block->graph == graph) {
        block->graph = 0;
        block->stream = stream;
        block->list = &ordinary[SizeClass::of(block->nbytes).index];
      }
    for (auto at = lists_.lower_bound({graph, nullptr});
         at != lists_.end() && at->first.first == graph; at = lists_.erase(at))
      for (Block* head : at->second)
        while (head) {
          Block* const block = std::exchange(head, head->next);
          freed(*block);
          put_back(block);
        }
  }

  // Gives every block that is not in use back to the source; not during a capture.
  void release_cached() {
    const std::lock_guard lock(mutex_);
    if (captures_.empty()) release_all();
  }

  // How many bytes it may take from the source; what it has taken already stays.
  void set_limit(int64_t nbytes) {
    const std::lock_guard lock(mutex_);
    limit_ = nbytes;
  }
  int64_t limit() const {
    const std::lock_guard lock(mutex_);
    return limit_;
  }

  // The sizes of the largest blocks in use, from the largest on, at most so many.
  std::vector<size_t> largest_in_use(size_t most) const {
    const std::lock_guard lock(mutex_);
    std::set<const Block*> unused;
    const auto add = [&](const Block* head) {
      for (; head; head = head->next) unused.insert(head);
    };
    add(late_);
    for (const auto& [key, lists] : lists_) std::ranges::for_each(lists, add);
    std::vector<size_t> out;
    for (const auto& block : owned_)
      if (!unused.contains(block.get())) out.push_back(block->nbytes);
    std::ranges::sort(out, std::greater());
    out.resize(std::min(out.size(), most));
    return out;
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

  uint64_t graph_of(const Stream& stream) const {
    if (captures_.empty()) return 0;
    const uint64_t capture = memory_.capture_of(stream);
    for (const auto& [known, graph] : captures_)
      if (known == capture) return graph;
    return 0;
  }

  void put_back(Block* block) noexcept {
    // A mark of a captured stream would be one of the capture.
    const auto is_captured = [&](const Stream& user) { return graph_of(user) != 0; };
    if (!block->graph && std::ranges::any_of(block->users, is_captured)) {
      block->next = std::exchange(late_, block);
      return;
    }
    for (const Stream& user : block->users) {
      void* mark = memory_.mark(user);
      if (!mark) return;  // nothing tells when it is free: better lost than shared
      block->marks.push_back(mark);
    }
    block->users.clear();
    block->next = std::exchange(*block->list, block);
  }

  // Marks from before a capture or within one say nothing beyond its ends.
  void discard_marks_of(uint64_t graph) {
    for (auto at = lists_.lower_bound({graph, nullptr});
         at != lists_.end() && at->first.first == graph; ++at)
      for (Block* head : at->second)
        for (; head; head = head->next) discard_marks(head);
  }

  void discard_marks(Block* block) {
    for (void* mark : block->marks) memory_.discard(mark);
    block->marks.clear();
  }

  Block* create(size_t nbytes, const Stream& stream, Block** list) {
    auto block = std::make_unique<Block>(Block{nullptr, nbytes, stream, list});
    if (owned_.size() == owned_.capacity()) owned_.reserve(2 * owned_.size() + 16);  // may throw
    block->data = from_source(nbytes);
    if (!block->data && captures_.empty()) {
      release_all();
      block->data = from_source(nbytes);
    }
    if (!block->data) return nullptr;
    stats_.cuda_mallocs += 1;
    stats_.reserved += nbytes;
    stats_.peak_reserved = std::max(stats_.peak_reserved, stats_.reserved);
    return owned_.emplace_back(std::move(block)).get();
  }

  void* from_source(size_t nbytes) {
    if (stats_.reserved > limit_ - static_cast<int64_t>(nbytes)) return nullptr;
    return memory_.allocate(nbytes);
  }

  void release_all() {
    for (auto& [key, lists] : lists_)
      for (Block*& head : lists)
        while (head && key.first == 0) {
          Block* const block = std::exchange(head, head->next);
          discard_marks(block);
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
  // The lists by graph (0: of none) and stream; references to values stay valid.
  std::map<std::pair<uint64_t, void*>, Lists> lists_;
  std::vector<std::pair<uint64_t, uint64_t>> captures_;  // that go on, and their graphs
  std::map<uint64_t, int> graphs_;                       // how many have these lists
  Block* late_ = nullptr;  // freed during a capture, with users that are captured
  MemoryStats stats_{};
  int64_t limit_ = INT64_MAX;
};

}  // namespace gradus::cuda
