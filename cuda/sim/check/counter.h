// Counts how the warps of a launch use memory.
//
// Lanes run one after the other, so that an access of a warp is put together afterwards: the n-th
// access of each lane at one place in the program, since the last barrier, belongs to one request.
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

// Of one launch; every worker adds to it.
class Counter {
 public:
  // The accesses of one warp between two barriers, in the order of lanes; empties them.
  void add(std::vector<CountedAccess>& accesses);
  void add_block(int64_t barriers, int64_t threads, int64_t idle);
  LaunchCounts counts() const;

 private:
  std::mutex mutex_;
  std::map<uintptr_t, Counts> by_pc_;
  int64_t barriers_ = 0, threads_ = 0, idle_ = 0;
};

}  // namespace gradus::cuda::sim
