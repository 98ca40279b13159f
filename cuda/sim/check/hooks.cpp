// Functions that instrumented code calls. Kernels are compiled with -fsanitize=thread, and these
// functions take the place of those of the sanitizer's library.

#include <cstddef>
#include <cstdint>

#include "gradus/cuda/sim/check/access.h"
#include "gradus/cuda/sim/exec/worker.h"

using gradus::cuda::sim::Access;
using gradus::cuda::sim::check_access;
using gradus::cuda::sim::check_volatile;

#define GRADUS_SIM_HOOK(name, access, size)                                              \
  void name(void* address) {                                                             \
    check_access<access, size>(reinterpret_cast<uintptr_t>(address), GRADUS_SIM_CALLER); \
  }
#define GRADUS_SIM_VOLATILE(access, size)                                                          \
  void __tsan_volatile_##access##size(void* address) {                                             \
    check_volatile(Access::access, reinterpret_cast<uintptr_t>(address), size, GRADUS_SIM_CALLER); \
  }
#define GRADUS_SIM_HOOKS(size)                             \
  GRADUS_SIM_HOOK(__tsan_read##size, Access::read, size)   \
  GRADUS_SIM_HOOK(__tsan_write##size, Access::write, size) \
  GRADUS_SIM_VOLATILE(read, size)                          \
  GRADUS_SIM_VOLATILE(write, size)

extern "C" {

GRADUS_SIM_HOOKS(1)
GRADUS_SIM_HOOKS(2)
GRADUS_SIM_HOOKS(4)
GRADUS_SIM_HOOKS(8)
GRADUS_SIM_HOOKS(16)

void __tsan_read_range(void* address, size_t size) {
  check_access(Access::read, reinterpret_cast<uintptr_t>(address), size, GRADUS_SIM_CALLER);
}
void __tsan_write_range(void* address, size_t size) {
  check_access(Access::write, reinterpret_cast<uintptr_t>(address), size, GRADUS_SIM_CALLER);
}
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

}  // extern "C"
