// The functions of the C library that kernels call, under names of the simulator's own, which look
// at the memory that they touch. What the compiler itself makes of an assignment keeps the names of
// the library. Comes before every other header.
#pragma once

#include <cstddef>

extern "C" {
void* memcpy(void* to, const void* from, size_t nbytes) noexcept __asm__("gradus_sim_memcpy");
void* memmove(void* to, const void* from, size_t nbytes) noexcept __asm__("gradus_sim_memmove");
void* memset(void* to, int value, size_t nbytes) noexcept __asm__("gradus_sim_memset");
}

// As the standard library calls them.
#define __builtin_memcpy ::memcpy
#define __builtin_memmove ::memmove
#define __builtin_memset ::memset
