// The functions of the C and C++ libraries that kernels call, under names of the simulator's own
// (library.cpp). Calls that the compiler itself makes of an assignment keep the names of the
// library. Comes before every other header of a .cu file.
#pragma once

#include <cstddef>

extern "C" {
void* memcpy(void* to, const void* from, size_t nbytes) noexcept __asm__("gradus_sim_memcpy");
void* memmove(void* to, const void* from, size_t nbytes) noexcept __asm__("gradus_sim_memmove");
void* memset(void* to, int value, size_t nbytes) noexcept __asm__("gradus_sim_memset");
void* malloc(size_t nbytes) noexcept __asm__("gradus_sim_malloc");
// assert() calls this.
[[noreturn]] void __assert_fail(const char* expression, const char* file, unsigned line,
                                const char* function) noexcept __asm__("gradus_sim_assert_fail");
}

// The standard library calls these names.
#define __builtin_memcpy ::memcpy
#define __builtin_memmove ::memmove
#define __builtin_memset ::memset
