// Counters by which the last block of a kernel knows itself (kernels/rows/last_block.cuh).
#pragma once

namespace gradus::cuda {

inline constexpr int kBlockCounters = 512;

// kBlockCounters numbers for kernels of the current stream, each of which finds them 0 and leaves
// them 0. Each stream has its own, and each stream of a captured graph: kernels that may run at the
// same time have different ones.
// Errors: OutOfMemoryError.
unsigned* block_counters();

}  // namespace gradus::cuda
