// A function with its own stack, which runs until it switches to another fiber.
//
// ucontext starts a fiber; _setjmp and _longjmp switch, since swapcontext asks the operating system
// for the signal mask each time (as QEMU's coroutines do).
#pragma once

#include <csetjmp>
#include <cstddef>
#include <cstdint>

namespace gradus::cuda::sim {

class Fiber {
 public:
  // CUDA gives a thread as large a stack. The guard below it is of the same size, so that the frame
  // of one function does not reach past it.
  static constexpr size_t kStackBytes = 512 * 1024, kGuardBytes = kStackBytes;

  Fiber() = default;  // of the caller, to switch back to
  // entry(argument) runs at the first switch, and never returns. Errors: std::bad_alloc.
  Fiber(void (*entry)(void*), void* argument, size_t number);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs `next` until another fiber switches back to *this. REQUIRES: *this is running.
  void switch_to(Fiber& next) {
    if (_setjmp(here_) == 0) next.resume();
  }
  // Makes the next switch start the function again. REQUIRES: the function has not started, or
  // calls this as the last thing before it switches away.
  void restart() { entered_ = false; }
  bool owns(uintptr_t address) const { return address - stack_ < kStackBytes; }
  // Whether the address lies in the guard: the stack is full.
  bool guards(uintptr_t address) const { return address - (stack_ - kGuardBytes) < kGuardBytes; }

 private:
  [[noreturn]] void resume();

  jmp_buf here_;
  uintptr_t stack_ = 0;
  void* mapping_ = nullptr;
  void (*entry_)(void*) = nullptr;  // null for a fiber of the caller
  void* argument_ = nullptr;
  bool entered_ = false;
};

}  // namespace gradus::cuda::sim
