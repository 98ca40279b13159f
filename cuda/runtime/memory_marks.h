// Tells a checker of memory which bytes of a cached block are in use. The tools for real devices
// see cudaMalloc alone; the simulator sees each tensor.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#ifdef GRADUS_SIMULATED
#include <sim/marks.h>

#include <vector>
#endif

#include "gradus/cuda/runtime/block_pool.h"

namespace gradus::cuda {

#ifdef GRADUS_SIMULATED
namespace detail {
template <class F>
void mark(const Block& block, const F& f) {
  std::vector<cudaStream_t> others;
  for (const Stream& each : block.users) others.push_back(static_cast<cudaStream_t>(each.handle()));
  f(sim::MarkedMemory{block.data, static_cast<cudaStream_t>(block.stream.handle()),
                      block.graph != 0, others.data(), others.size()});
}
}  // namespace detail
inline void mark_used(const Block& block, size_t nbytes) {
  detail::mark(block, [&](const sim::MarkedMemory& it) { sim::mark_used(it, nbytes); });
}
inline void mark_unused(const Block& block) {
  detail::mark(block, [](const sim::MarkedMemory& it) { sim::mark_unused(it); });
}
#else
// mark_used: the first `nbytes` of the block are in use, with unknown contents. mark_unused: the
// block is given back, once its stream and the other streams that use it come to this point.
inline void mark_used(const Block&, size_t) {}
inline void mark_unused(const Block&) {}
#endif

}  // namespace gradus::cuda
