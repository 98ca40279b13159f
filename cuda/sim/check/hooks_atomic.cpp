// Functions that instrumented code calls in place of atomic operations (hooks.cpp). Kernels have
// those of std::atomic_ref and of the compiler; the host code in the same files has many.

#include <cstdint>

#include "gradus/cuda/sim/check/access.h"
#include "gradus/cuda/sim/exec/worker.h"

namespace {
template <class T>
void look(const volatile T* address, uintptr_t pc) {
  using namespace gradus::cuda::sim;
  check_atomic(reinterpret_cast<uintptr_t>(address), sizeof(T), pc);
}
}  // namespace

// The last argument is the memory order. The simulator ignores it: the strongest order serves all.
#define GRADUS_SIM_FETCH(bits, name)                                                 \
  T##bits __tsan_atomic##bits##_fetch_##name(volatile T##bits* at, T##bits x, int) { \
    look(at, GRADUS_SIM_CALLER);                                                     \
    return __atomic_fetch_##name(at, x, __ATOMIC_SEQ_CST);                           \
  }
#define GRADUS_SIM_COMPARE(bits, name)                                                       \
  int __tsan_atomic##bits##_compare_exchange_##name(volatile T##bits* at, T##bits* expected, \
                                                    T##bits x, int, int) {                   \
    look(at, GRADUS_SIM_CALLER);                                                             \
    return __atomic_compare_exchange_n(at, expected, x, false, __ATOMIC_SEQ_CST,             \
                                       __ATOMIC_SEQ_CST);                                    \
  }
#define GRADUS_SIM_ATOMIC_HOOKS(bits)                                                         \
  using T##bits = uint##bits##_t;                                                             \
  T##bits __tsan_atomic##bits##_load(const volatile T##bits* at, int) {                       \
    look(at, GRADUS_SIM_CALLER);                                                              \
    return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                             \
  }                                                                                           \
  void __tsan_atomic##bits##_store(volatile T##bits* at, T##bits x, int) {                    \
    look(at, GRADUS_SIM_CALLER);                                                              \
    __atomic_store_n(at, x, __ATOMIC_SEQ_CST);                                                \
  }                                                                                           \
  T##bits __tsan_atomic##bits##_exchange(volatile T##bits* at, T##bits x, int) {              \
    look(at, GRADUS_SIM_CALLER);                                                              \
    return __atomic_exchange_n(at, x, __ATOMIC_SEQ_CST);                                      \
  }                                                                                           \
  T##bits __tsan_atomic##bits##_compare_exchange_val(volatile T##bits* at, T##bits expected,  \
                                                     T##bits x, int, int) {                   \
    look(at, GRADUS_SIM_CALLER);                                                              \
    __atomic_compare_exchange_n(at, &expected, x, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    return expected;                                                                          \
  }                                                                                           \
  GRADUS_SIM_COMPARE(bits, strong)                                                            \
  GRADUS_SIM_COMPARE(bits, weak)                                                              \
  GRADUS_SIM_FETCH(bits, add)                                                                 \
  GRADUS_SIM_FETCH(bits, sub)                                                                 \
  GRADUS_SIM_FETCH(bits, and)                                                                 \
  GRADUS_SIM_FETCH(bits, or)                                                                  \
  GRADUS_SIM_FETCH(bits, xor)                                                                 \
  GRADUS_SIM_FETCH(bits, nand)

extern "C" {
GRADUS_SIM_ATOMIC_HOOKS(8)
GRADUS_SIM_ATOMIC_HOOKS(16)
GRADUS_SIM_ATOMIC_HOOKS(32)
GRADUS_SIM_ATOMIC_HOOKS(64)
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
}
