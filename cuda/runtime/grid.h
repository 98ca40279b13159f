// How work becomes blocks and threads.
#pragma once

#include <algorithm>
#include <bit>

#include "gradus/cuda/runtime/context.h"
#include "gradus/cuda/runtime/launch.h"

namespace gradus::cuda {

template <class T>
T ceil_div(T a, T b) {
  return a / b + (a % b != 0);
}

inline constexpr int kThreads = 256;  // of a block, where nothing else decides

// One thread for each of n elements.
inline LaunchConfig linear_launch(const Context& context, int64_t n,
                                  std::source_location where = std::source_location::current()) {
  return {dim3(static_cast<unsigned>(ceil_div(n, int64_t{kThreads}))), kThreads, 0, context.stream,
          where};
}

// The most shared memory that a block has on the current device.
inline int64_t most_shared_bytes() {
  return getDeviceProperties(current_device()).shared_per_block_optin;
}

// A block of so many threads, a power of 2. The width is as many of them as a row of `columns`
// elements has work for; the others take further rows.
inline dim3 block_of_rows(int64_t columns, unsigned threads = kThreads) {
  const auto wanted = static_cast<uint64_t>(std::min(columns, int64_t{threads}));
  const auto across = static_cast<unsigned>(std::bit_ceil(wanted));
  return {across, threads / across};
}

}  // namespace gradus::cuda
