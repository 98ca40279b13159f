// Counts how the warps of a launch use memory: requests, sectors, wavefronts, bank conflicts.
//
// The lanes of a warp run one after the other here, so its requests are put together afterwards.
// The n-th access of each lane at one place in the program, counted from the last barrier, belongs
// to the n-th request of that place.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "gradus/cuda/sim/check/access.h"
#include "gradus/cuda/sim/simulator.h"

namespace gradus::cuda::sim {

struct CountedAccess {
  uintptr_t pc, address;
  uint16_t size;
  uint8_t lane;
  Access access;
  bool shared;
};

// Numbers that a block counts by itself (LaunchCounts).
struct OfBlock {
  int64_t barriers = 0, threads = 0, idle = 0, tensor_products = 0;
};

// The counts of one launch. Every worker adds to them.
class Counter {
 public:
  // Adds the accesses of one warp between two barriers, which are in the order of lanes, and
  // empties the list. The first request of each place is kept where it is the launch's first warp.
  void add(std::vector<CountedAccess>& accesses, bool first_warp);
  void add_block(const OfBlock& block);
  LaunchCounts counts() const;

 private:
  std::mutex mutex_;
  std::map<uintptr_t, LineCounts> by_pc_;  // without frames
  OfBlock all_;
};

}  // namespace gradus::cuda::sim
