// The order that fences and atomic operations make, beyond barriers. An example is a grid whose
// last block adds up what the other blocks have written.
//
// A thread publishes at an address when, after a __threadfence, it changes the address atomically
// or by a volatile store. Three things are published: what its block did before the last barrier
// before that fence; what the thread itself did between that barrier and the fence; and what other
// threads of the block did before a fence of their own that a barrier followed. A thread that then
// accesses the address atomically, or as volatile, meets it. From now on it may read all of that,
// and all that the publisher had met before. (PTX ISA, "Memory Consistency Model": release and
// acquire patterns, causality order.)
#pragma once

#include <atomic>
#include <bitset>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "gradus/cuda/sim/check/shadow.h"

namespace gradus::cuda::sim {

// An address of global memory, or of the shared memory of one block.
using MeetingPoint = uint64_t;
using MeetingPoints = std::vector<MeetingPoint>;

// The part of the past that the last fence of a thread orders.
struct Fence {
  uint32_t block_before = 0;    // the intervals of its block before this one
  uint32_t thread_through = 0;  // its own intervals up to this one, included; 0 without a fence
};

// The publications of one launch. The list is empty, and costs nothing, until a thread publishes.
class Order {
 public:
  bool is_empty() const { return !any_.load(std::memory_order_acquire); }
  // A thread of `block`, which has met `before`, publishes. `others`: for each other thread, the
  // interval of its last fence that a barrier followed.
  void publish(MeetingPoint at, uint32_t block, unsigned thread, const Fence& fence,
               const std::unordered_map<unsigned, uint32_t>& others, const MeetingPoints& before);
  // Whether a thread that has met these points may rely on the access by a thread of `block`.
  bool reaches(const MeetingPoints& met, Record access, uint32_t block) const;

 private:
  struct Publication {
    uint32_t block_before = 0;
    std::unordered_map<unsigned, uint32_t> through;  // by thread
    MeetingPoints before;
  };
  std::atomic<bool> any_{false};
  mutable std::mutex mutex_;
  std::unordered_map<MeetingPoint, std::unordered_map<uint32_t, Publication>>
      by_point_;  // by block
};

// The points that a block, or single threads of it, have met.
class Met {
 public:
  void add(MeetingPoint at, unsigned thread) { threads_[at].set(thread); }
  // A barrier shares: what one thread has met, all have.
  void share(const std::bitset<1024>& threads);
  MeetingPoints of_block() const;
  MeetingPoints of_thread(unsigned thread) const;
  void clear() { threads_.clear(); }

 private:
  std::unordered_map<MeetingPoint, std::bitset<1024>> threads_;
};

}  // namespace gradus::cuda::sim
