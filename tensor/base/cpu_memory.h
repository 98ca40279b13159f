// Memory of the CPU that tensors take from the system: what is kept of it, and how much there may
// be. The names are those of cuda/runtime/allocator.h.
#pragma once

#include <cstdint>

namespace gradus::cpu {

// Bytes of the blocks in use and of those that are kept for later tensors. Blocks below 1 KiB do
// not count.
int64_t memory_reserved();

// Gives the blocks that are kept by the process and by this thread back to the system.
void empty_cache();

// memory_reserved() stays below this part of the machine's memory: beyond it, what is kept goes
// back to the system, and then allocations fail with OutOfMemoryError. 1 at first. A block
// that is there already stays. Errors: ValueError for a fraction that is not in [0, 1].
void set_per_process_memory_fraction(double fraction);
double get_per_process_memory_fraction();

}  // namespace gradus::cpu
