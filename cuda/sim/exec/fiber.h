// A function on a stack of its own, that runs until it gives the processor to another.
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
  // As much as CUDA gives a thread. The guard below is as large, so that no frame of a function
  // reaches past it.
  static constexpr size_t kStackBytes = 512 * 1024, kGuardBytes = kStackBytes;

  Fiber() = default;  // of the caller: what switch_to comes back to
  // entry(argument) runs at the first switch, and never returns. Errors: std::bad_alloc.
  Fiber(void (*entry)(void*), void* argument, size_t number);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Leaves *this, which is running, until somebody switches back.
  void switch_to(Fiber& next) {
    if (_setjmp(here_) == 0) next.resume();
  }
  // The next switch enters the function anew. Not while it runs, but for the last thing it does.
  void restart() { entered_ = false; }
  bool owns(uintptr_t address) const { return address - stack_ < kStackBytes; }
  // Whether the address is past the end of a stack that is full.
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
