// How the threads of a block share outputs and the elements that are reduced into each.
#pragma once

namespace gradus::cuda {

inline constexpr int kReduceThreads = 256;

// `kept` times `reduced` threads, both powers of two. Neighbouring threads differ in what lies
// closer together in memory.
struct Division {
  int kept, reduced;
  bool reduced_is_closer;

  __device__ int kept_index() const {
    return (static_cast<int>(threadIdx.x) / (reduced_is_closer ? reduced : 1)) & (kept - 1);
  }
  __device__ int reduced_index() const {
    return (static_cast<int>(threadIdx.x) / (reduced_is_closer ? 1 : kept)) & (reduced - 1);
  }
};

}  // namespace gradus::cuda
