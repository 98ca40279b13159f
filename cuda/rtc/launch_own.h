// Launches of kernels of the user's own.
#pragma once

#include <string>

#include "gradus/cuda/rtc/program.h"
#include "gradus/cuda/runtime/launch.h"

namespace gradus::cuda::rtc {

// Queues kernel `index` of the program on the current stream of the current device. It warns of a
// grid of fewer blocks than the device has multiprocessors, and of blocks that are no multiple of
// 32 threads: once in a process for each reason, with GRADUS_WARN_OCCUPANCY=1 once for each kernel,
// with 0 never.
void launch_own(const Program& program, size_t index, const std::string& name, dim3 grid,
                dim3 block, size_t shared_bytes, void** arguments);

}  // namespace gradus::cuda::rtc
