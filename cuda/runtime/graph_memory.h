// The memory of graphs (block_pool.h), by device.
#pragma once

#include "gradus/cuda/runtime/stream.h"

namespace gradus::cuda::detail {

void begin_capture(int device, uint64_t capture, uint64_t graph);
void end_capture(int device, uint64_t capture);
// One of those that have this memory is gone; `stream` is where it ran last.
void release_graph(uint64_t graph, const Stream& stream);

}  // namespace gradus::cuda::detail
