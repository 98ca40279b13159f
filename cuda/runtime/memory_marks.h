// Tells a checker of memory which bytes of a cached block are in use. The tools for real devices
// see cudaMalloc alone; the simulator sees each tensor.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace gradus::cuda {

#ifdef GRADUS_SIMULATED
using sim::mark_unused;
using sim::mark_used;
#else
// Marks the first `nbytes` of an allocation as in use, with unknown contents. Memory of a graph is
// marked with the stream that is captured for it.
inline void mark_used(void*, size_t, cudaStream_t = nullptr) {}
inline void mark_unused(void*, cudaStream_t = nullptr) {}
#endif

}  // namespace gradus::cuda
