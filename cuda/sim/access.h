// Looks at every access of a kernel before it happens.
#pragma once

#include <cstdint>

namespace gradus::cuda::sim {

enum class Access : uint8_t { read, write, atomic };

// `alignment` is what the access wants of its address: 1 for nothing.
void check_access(Access access, uintptr_t address, unsigned size, unsigned alignment,
                  uintptr_t pc);

// The same for the sizes and alignments that instrumented code names.
template <Access access, unsigned size, unsigned alignment>
void check_access(uintptr_t address, uintptr_t pc);

// The same for an access through a pointer to volatile.
void check_volatile(Access access, uintptr_t address, unsigned size, uintptr_t pc);

// As the source text says: index `index` of an array with fewer elements.
void report_index(const char* array_type, int64_t index, uintptr_t pc);

}  // namespace gradus::cuda::sim
