// Faults of the processor in kernels: a stack that is full, an address without memory where kernels
// are not checked. The process is lost, but says by which thread and at which line.
#pragma once

#include <pthread.h>

#include <csignal>
#include <memory>

namespace gradus::cuda::sim {

// Looks for faults while it lives, of whatever thread. Those outside of kernels are left to whoever
// looked for them before, and after a report the others too. One at a time.
class FaultWatch {
 public:
  FaultWatch();
  ~FaultWatch();
  FaultWatch(const FaultWatch&) = delete;
  FaultWatch& operator=(const FaultWatch&) = delete;
};

// Ends the process as by a fault of that thread, which runs a kernel without end.
void end_for_endless(pthread_t thread);

// A stack to report faults of this thread on, while it lives: its own may be full.
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
