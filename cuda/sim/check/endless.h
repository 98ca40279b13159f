// Finds kernels that never end. A kernel that accesses memory is ended at an access (Worker::tick).
// A watchdog ends all others. It runs in a thread of its own and can only end the process.
#pragma once

#include "gradus/cuda/sim/exec/worker.h"

namespace gradus::cuda::sim {

// While this object lives, the watchdog watches the worker, which runs in this thread of the
// system.
class LookedAfter {
 public:
  explicit LookedAfter(const Worker& worker);
  ~LookedAfter();
  LookedAfter(const LookedAfter&) = delete;
  LookedAfter& operator=(const LookedAfter&) = delete;

 private:
  const Worker& worker_;
};

}  // namespace gradus::cuda::sim
