// Kernels that never end. Those that access memory end at an access (Worker::tick); the others are
// for a watchdog, a thread of its own, which can only end the process.
#pragma once

#include "gradus/cuda/sim/exec/worker.h"

namespace gradus::cuda::sim {

// While it lives the watchdog looks after the worker, which runs in this thread of the system.
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
