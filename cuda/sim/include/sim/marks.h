// Marks parts of allocations as in use, for a caching allocator whose memory belongs to streams.
#pragma once

#include <cuda_runtime_api.h>

namespace gradus::cuda::sim {

struct MarkedMemory {
  void* memory;
  cudaStream_t stream;         // in whose order the memory is used, given back and used again
  bool captured;               // it is a graph's: what is captured on the stream does so, too
  const cudaStream_t* others;  // that use it until it is given back
  size_t count;                // of them
};
// The functions of these names without streams say the rest.
void mark_used(const MarkedMemory& it, size_t nbytes);
void mark_unused(const MarkedMemory& it);

}  // namespace gradus::cuda::sim
