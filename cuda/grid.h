// How work becomes blocks and threads.
#pragma once

#include "gradus/cuda/context.h"
#include "gradus/cuda/launch.h"

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

}  // namespace gradus::cuda
