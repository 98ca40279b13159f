// What instrumented code calls: kernels are compiled with -fsanitize=thread,bounds, and these
// functions stand in for those of the sanitizers' libraries.

#include <cstddef>
#include <cstdint>

#include "gradus/cuda/sim/access.h"
#include "gradus/cuda/sim/worker.h"

using gradus::cuda::sim::Access;
using gradus::cuda::sim::check_access;
using gradus::cuda::sim::check_volatile;

#define GRADUS_SIM_HOOK(name, access, size, alignment)                          \
  void name(void* address) {                                                    \
    check_access<access, size, alignment>(reinterpret_cast<uintptr_t>(address), \
                                          GRADUS_SIM_CALLER);                   \
  }
#define GRADUS_SIM_VOLATILE(access, size)                                                          \
  void __tsan_volatile_##access##size(void* address) {                                             \
    check_volatile(Access::access, reinterpret_cast<uintptr_t>(address), size, GRADUS_SIM_CALLER); \
  }
#define GRADUS_SIM_HOOKS(size)                                          \
  GRADUS_SIM_HOOK(__tsan_read##size, Access::read, size, size)          \
  GRADUS_SIM_HOOK(__tsan_write##size, Access::write, size, size)        \
  GRADUS_SIM_HOOK(__tsan_unaligned_read##size, Access::read, size, 1)   \
  GRADUS_SIM_HOOK(__tsan_unaligned_write##size, Access::write, size, 1) \
  GRADUS_SIM_VOLATILE(read, size)                                       \
  GRADUS_SIM_VOLATILE(write, size)

extern "C" {

GRADUS_SIM_HOOKS(1)
GRADUS_SIM_HOOKS(2)
GRADUS_SIM_HOOKS(4)
GRADUS_SIM_HOOKS(8)
GRADUS_SIM_HOOKS(16)

void __tsan_read_range(void* address, size_t size) {
  check_access(Access::read, reinterpret_cast<uintptr_t>(address), static_cast<unsigned>(size), 1,
               GRADUS_SIM_CALLER);
}
void __tsan_write_range(void* address, size_t size) {
  check_access(Access::write, reinterpret_cast<uintptr_t>(address), static_cast<unsigned>(size), 1,
               GRADUS_SIM_CALLER);
}
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

// The layout is that of GCC's and clang's calls: a place, and the types of the array and the index.
struct IndexType {
  uint16_t kind;
  uint16_t info;  // for integers: 2 * log2(bits) + is_signed
  char name[1];
};
struct OutOfBounds {
  const char* file;
  uint32_t line, column;
  const IndexType *array, *index;
};
void __ubsan_handle_out_of_bounds(const OutOfBounds* where, uintptr_t index) {
  const unsigned bits = 1u << (where->index->info >> 1);
  int64_t value = static_cast<int64_t>(index);
  if (where->index->info & 1 && bits < 64)
    value = static_cast<int64_t>(index << (64 - bits)) >> (64 - bits);
  gradus::cuda::sim::report_index(where->array->name, value, GRADUS_SIM_CALLER);
}

}  // extern "C"
