// How the blocks of kernels/rows/half_column_sums.cuh share a matrix.
#pragma once

#include <algorithm>

#include "gradus/cuda/kernels/rows/half_column_sums.cuh"
#include "gradus/cuda/runtime/block_counters.h"
#include "gradus/cuda/runtime/context.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/cuda/runtime/launch.h"

namespace gradus::cuda {

// f(how to launch the kernel, its SummedColumns).
template <class F>
void with_summed_columns(const Context& context, int64_t rows, int64_t columns, int64_t leading,
                         const F& f) {
  const int64_t across = ceil_div(columns, int64_t{kSumsColumns});
  // All blocks run at once, with some rows for each thread.
  constexpr int64_t kLeastRows = 4 * kSumsDown;
  const int64_t wanted = across > kBlockCounters
                             ? 1
                             : std::clamp<int64_t>(context.multiprocessors * kSumsBlocks / across,
                                                   1, ceil_div(rows, kLeastRows));
  const int64_t share = ceil_div(rows, wanted), lines = ceil_div(rows, share);
  const Scratch table(lines > 1 ? static_cast<size_t>(lines * columns) * sizeof(float) : 0);
  f(LaunchConfig{dim3(static_cast<unsigned>(across), static_cast<unsigned>(lines)), kSumsThreads, 0,
                 context.stream},
    SummedColumns{rows, leading, static_cast<int>(columns), share, table.as<float>(),
                  lines > 1 ? block_counters() : nullptr});
}

}  // namespace gradus::cuda
