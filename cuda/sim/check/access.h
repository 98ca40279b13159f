// Looks at every access of a kernel before it happens.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gradus::cuda::sim {

enum class Access : uint8_t { read, write, atomic };

void check_access(Access access, uintptr_t address, size_t size, uintptr_t pc);

// The same for the sizes that instrumented code names.
template <Access access, unsigned size>
void check_access(uintptr_t address, uintptr_t pc);

// The same for an atomic operation, which wants its address aligned.
void check_atomic(uintptr_t address, unsigned size, uintptr_t pc);

// The same for an access through a pointer to volatile.
void check_volatile(Access access, uintptr_t address, unsigned size, uintptr_t pc);

// Whether a kernel that runs here may look at the address, in whatever memory it lies.
bool is_in_use(uintptr_t address);

}  // namespace gradus::cuda::sim
