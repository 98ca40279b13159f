// Checks every access of a kernel to memory before it happens.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gradus::cuda::sim {

enum class Access : uint8_t { read, write, atomic };

// `pc`: where the access stands in the program.
void check_access(Access access, uintptr_t address, size_t size, uintptr_t pc);

// The same with the size as a constant. The address must be a multiple of the size, or of 8 where
// that is less: GCC calls these functions for such accesses, and those of ranges for all others.
template <Access access, unsigned size>
void check_access(uintptr_t address, uintptr_t pc);

// The same for an atomic operation, whose address must be aligned.
void check_atomic(uintptr_t address, unsigned size, uintptr_t pc);

// The same for an access through a pointer to volatile.
void check_volatile(Access access, uintptr_t address, unsigned size, uintptr_t pc);

// Whether the kernel that runs in this thread may access the address: in global memory, shared
// memory, its stack or a constant.
bool is_in_use(uintptr_t address);

}  // namespace gradus::cuda::sim
