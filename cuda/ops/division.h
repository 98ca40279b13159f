// Chooses how the threads of a block share outputs and the elements reduced into each.
#pragma once

#include <bit>
#include <cstdlib>

#include "gradus/cuda/kernels/division.cuh"
#include "gradus/cuda/runtime/grid.h"

namespace gradus::cuda {

// Divides `kept` outputs from `reduced` elements each. The strides are those of x along the last
// dimension that is kept and the last one that is reduced; 0 if there is none. Neighbouring outputs
// are read together: at least `narrowest`, a power of two.
inline Division divide_block(int64_t kept, int64_t kept_stride, int64_t reduced,
                             int64_t reduced_stride, int narrowest = 32) {
  const auto threads = [](int64_t n) {
    return static_cast<int>(
        std::bit_ceil(static_cast<unsigned>(std::min(n, int64_t{kReduceThreads}))));
  };
  if (kept == 1 || std::abs(reduced_stride) < std::abs(kept_stride)) {
    const int along = threads(reduced);
    return {std::min(threads(kept), kReduceThreads / along), along, true};
  }
  // A thread for 8 reduced elements, while neighbouring outputs stay together.
  const int wanted = threads(ceil_div(reduced, int64_t{8}));
  const int across = std::min(threads(kept), std::max(narrowest, kReduceThreads / wanted));
  return {across, std::min(wanted, kReduceThreads / across), false};
}

}  // namespace gradus::cuda
