// Functions of the C and C++ libraries for kernels: sim/library.h and cuda/sim/compile give them
// the names of these. Other code calls the libraries' own.

#undef NDEBUG  // or <cassert> does not declare what assert() calls
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "gradus/cuda/sim/check/access.h"
#include "gradus/cuda/sim/check/mistake.h"

using gradus::cuda::sim::Access;
using gradus::cuda::sim::check_access;
using gradus::cuda::sim::Kind;

namespace {

// The first place is still within the call.
void look_at_copy(void* to, const void* from, size_t nbytes, uintptr_t pc) {
  check_access(Access::read, reinterpret_cast<uintptr_t>(from), nbytes, pc - 1);
  check_access(Access::write, reinterpret_cast<uintptr_t>(to), nbytes, pc);
}

void refuse_heap(const char* name, uintptr_t pc) {
  gradus::cuda::sim::stop_for_mistake(Kind::foreign_memory, "allocates", pc, [&] {
    return "the simulator has no heap for kernels, as " + std::string(name) +
           " wants; allocate with cudaMalloc before the launch";
  });
}

}  // namespace

extern "C" {

void* gradus_sim_memcpy(void* to, const void* from, size_t nbytes) {
  look_at_copy(to, from, nbytes, GRADUS_SIM_CALLER);
  return std::memcpy(to, from, nbytes);
}
void* gradus_sim_memmove(void* to, const void* from, size_t nbytes) {
  look_at_copy(to, from, nbytes, GRADUS_SIM_CALLER);
  return std::memmove(to, from, nbytes);
}
void* gradus_sim_memset(void* to, int value, size_t nbytes) {
  check_access(Access::write, reinterpret_cast<uintptr_t>(to), nbytes, GRADUS_SIM_CALLER);
  return std::memset(to, value, nbytes);
}

void* gradus_sim_malloc(size_t nbytes) {
  refuse_heap("malloc", GRADUS_SIM_CALLER);
  return std::malloc(nbytes);
}
void* gradus_sim_new(size_t nbytes) {
  refuse_heap("new", GRADUS_SIM_CALLER);
  return ::operator new(nbytes);
}
void* gradus_sim_new_array(size_t nbytes) {
  refuse_heap("new", GRADUS_SIM_CALLER);
  return ::operator new[](nbytes);
}

[[noreturn]] void gradus_sim_assert_fail(const char* expression, const char* file, unsigned line,
                                         const char* function) {
  if (gradus::cuda::sim::here)
    gradus::cuda::sim::stop_here(Kind::assertion, "asserts", GRADUS_SIM_CALLER,
                                 [&] { return std::string(expression) + " does not hold"; });
  __assert_fail(expression, file, line, function);
}

}  // extern "C"

void __trap() {
  gradus::cuda::sim::stop_here(Kind::assertion, "calls __trap", GRADUS_SIM_CALLER,
                               [] { return std::string("the kernel gives up"); });
}
