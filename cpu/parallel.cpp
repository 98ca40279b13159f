// The threads of the CPU's loops, by OpenMP.
#include "gradus/cpu/parallel.h"

#include <omp.h>

#include <atomic>
#include <exception>

#include "gradus/tensor/base/error.h"
#include "gradus/tensor/base/threads.h"

// ThreadSanitizer does not see into libgomp, so it is told where a region starts and ends.
#ifdef __SANITIZE_THREAD__
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#define GRADUS_UNINSTRUMENTED __attribute__((no_sanitize("thread")))
#else
#define GRADUS_UNINSTRUMENTED
#endif

namespace gradus::cpu {

namespace {

GRADUS_UNINSTRUMENTED inline void acquire([[maybe_unused]] void* edge) {
#ifdef __SANITIZE_THREAD__
  __tsan_acquire(edge);
#endif
}
GRADUS_UNINSTRUMENTED inline void release([[maybe_unused]] void* edge) {
#ifdef __SANITIZE_THREAD__
  __tsan_release(edge);
#endif
}

// One loop, as its threads share it.
struct Loop {
  void (*body)(void*, int64_t);
  void* context;
  std::atomic<bool> failed{false};
  std::exception_ptr error;

  // An exception must not leave an OpenMP region, so the first one waits for its end.
  [[gnu::noinline]] void run(int64_t chunk) {
    if (failed.load(std::memory_order_relaxed)) return;
    try {
      body(context, chunk);
    } catch (...) {
      if (!failed.exchange(true)) error = std::current_exception();
    }
  }
};

// Not instrumented itself: its threads read the shared variables before they can say that they
// follow the caller.
GRADUS_UNINSTRUMENTED void run_region(Loop& loop, int64_t count) {
  release(&loop);
#pragma omp parallel
  {
    acquire(&loop);
#pragma omp for schedule(static) nowait
    for (int64_t i = 0; i < count; ++i) loop.run(i);
    release(&loop);
  }
  acquire(&loop);
}

}  // namespace

int thread_count() { return omp_in_parallel() ? 1 : omp_get_max_threads(); }

void run_chunks(int64_t count, void (*body)(void*, int64_t), void* context) {
  if (omp_in_parallel()) {
    for (int64_t i = 0; i < count; ++i) body(context, i);
    return;
  }
  Loop loop{body, context, false, nullptr};
  run_region(loop, count);
  if (loop.error) std::rethrow_exception(loop.error);
}

}  // namespace gradus::cpu

namespace gradus {

int get_num_threads() { return omp_get_max_threads(); }
void set_num_threads(int count) {
  check(count > 0, "set_num_threads: count is ", count, ", expected a positive number");
  omp_set_num_threads(count);
}

namespace detail {
int usable_threads() { return cpu::thread_count(); }
void run_parts(int64_t count, const std::function<void(int64_t)>& part) {
  cpu::parallel_for(0, count, 1, [&](int64_t first, int64_t) { part(first); });
}
}  // namespace detail

}  // namespace gradus
