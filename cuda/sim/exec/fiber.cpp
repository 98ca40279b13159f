// Switches stacks. The checked longjmp of glibc would take a switch for an error.
#undef _FORTIFY_SOURCE

#include "gradus/cuda/sim/exec/fiber.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <new>

#if __USE_FORTIFY_LEVEL > 0
#error "an earlier source of this unit was compiled with _FORTIFY_SOURCE; use -U_FORTIFY_SOURCE"
#endif

namespace gradus::cuda::sim {

namespace {
constexpr size_t kPage = 4096;
// Stacks begin at different cache lines: 1024 stacks at equal distances would share a few sets of
// the cache.
constexpr size_t kLine = 64, kStagger = kPage;
constexpr size_t kMapped = Fiber::kGuardBytes + Fiber::kStackBytes + kStagger;

// makecontext passes ints only: a pointer comes in two halves.
void enter(unsigned entry_high, unsigned entry_low, unsigned argument_high, unsigned argument_low) {
  const auto join = [](unsigned high, unsigned low) { return uintptr_t{high} << 32 | low; };
  const auto entry = reinterpret_cast<void (*)(void*)>(join(entry_high, entry_low));
  entry(reinterpret_cast<void*>(join(argument_high, argument_low)));
}
unsigned high(uintptr_t x) { return static_cast<unsigned>(x >> 32); }
unsigned low(uintptr_t x) { return static_cast<unsigned>(x); }
}  // namespace

Fiber::Fiber(void (*entry)(void*), void* argument, size_t number)
    : entry_(entry), argument_(argument) {
  mapping_ = mmap(nullptr, kMapped, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping_ == MAP_FAILED) throw std::bad_alloc();
  mprotect(mapping_, kGuardBytes, PROT_NONE);
  stack_ =
      reinterpret_cast<uintptr_t>(mapping_) + kGuardBytes + number % (kStagger / kLine) * kLine;
}

Fiber::~Fiber() {
  if (mapping_) munmap(mapping_, kMapped);
}

void Fiber::resume() {
  if (!entry_ || entered_) _longjmp(here_, 1);
  entered_ = true;
  ucontext_t context;
  getcontext(&context);
  context.uc_stack = {reinterpret_cast<void*>(stack_), 0, kStackBytes};
  context.uc_link = nullptr;
  const auto entry = reinterpret_cast<uintptr_t>(entry_);
  const auto argument = reinterpret_cast<uintptr_t>(argument_);
  makecontext(&context, reinterpret_cast<void (*)()>(enter), 4, high(entry), low(entry),
              high(argument), low(argument));
  setcontext(&context);
  __builtin_unreachable();
}

}  // namespace gradus::cuda::sim
