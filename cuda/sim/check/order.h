// What fences and atomics order, beyond barriers: as when the last block of a grid adds up what the
// others have left.
//
// A thread publishes at an address when it changes it atomically, or by a volatile store, after a
// __threadfence: all that its block did before the barrier before that fence, what it did itself
// between the two, and what other threads did before fences of their own and a barrier. Whoever
// accesses the address so as well has met it, and may read all of that; and what was met at other
// addresses before goes along. (PTX ISA, "Memory Consistency Model": release and acquire patterns,
// causality order.)
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

// What the last fence of a thread orders.
struct Fence {
  uint32_t block_before = 0;    // intervals of its block before this one
  uint32_t thread_through = 0;  // its own, up to and with this one; 0 without a fence
};

// Of one launch; empty, and free of charge, until a thread publishes.
class Order {
 public:
  bool is_empty() const { return !any_.load(std::memory_order_acquire); }
  // By a thread of a block that has met `before`. `others`: up to which interval other threads have
  // fences before a barrier.
  void publish(MeetingPoint at, uint32_t block, unsigned thread, const Fence& fence,
               const std::unordered_map<unsigned, uint32_t>& others, const MeetingPoints& before);
  // Whether the access, by a thread of `block`, is known to whoever has met these.
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

// Where a block, or one thread of it, has been.
class Met {
 public:
  void add(MeetingPoint at, unsigned thread) { threads_[at].set(thread); }
  // Where one of these has been, all of them have: they have met at a barrier.
  void share(const std::bitset<1024>& threads);
  MeetingPoints of_block() const;
  MeetingPoints of_thread(unsigned thread) const;
  void clear() { threads_.clear(); }

 private:
  std::unordered_map<MeetingPoint, std::bitset<1024>> threads_;
};

}  // namespace gradus::cuda::sim
