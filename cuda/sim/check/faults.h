// Reports faults of the processor in kernels: a full stack, or, where kernels are not checked, an
// address without memory. The process ends, after it has named the thread and the line.
#pragma once

#include <pthread.h>

#include <csignal>

namespace gradus::cuda::sim {

// Catches the faults of all threads while it lives. A fault outside of kernels goes to the handler
// that was there before, and so does a fault in a kernel after its report. REQUIRES: there is no
// other FaultWatch.
class FaultWatch {
 public:
  FaultWatch();
  ~FaultWatch();
  FaultWatch(const FaultWatch&) = delete;
  FaultWatch& operator=(const FaultWatch&) = delete;
};

// Ends the process like a fault of that thread. REQUIRES: the thread runs a kernel that never ends.
void end_for_endless(pthread_t thread);

// While it lives, faults of this thread are reported on this stack, since its own may be full.
class FaultStack {
 public:
  FaultStack();
  ~FaultStack();
  FaultStack(const FaultStack&) = delete;
  FaultStack& operator=(const FaultStack&) = delete;

 private:
  stack_t before_{};
};

}  // namespace gradus::cuda::sim
