// Counters of what the CUDA backend did, over the whole process.
#pragma once

#include <atomic>
#include <cstdint>

namespace gradus::cuda {

struct Stats {
  int64_t kernel_launches;
  int64_t mallocs;           // calls of cudaMalloc
  int64_t frees;             // calls of cudaFree
  int64_t synchronizations;  // waits of the host for a device
  int64_t host_to_device;    // copies
  int64_t device_to_host;
  int64_t device_to_device;
};

namespace detail {
struct Counters {
  std::atomic<int64_t> kernel_launches, mallocs, frees, synchronizations, host_to_device,
      device_to_host, device_to_device;
};
inline constinit Counters counters{};

inline int64_t count(std::atomic<int64_t>& counter) {
  return counter.fetch_add(1, std::memory_order_relaxed);
}
}  // namespace detail

inline Stats stats() {
  const detail::Counters& c = detail::counters;
  return {c.kernel_launches, c.mallocs,        c.frees,           c.synchronizations,
          c.host_to_device,  c.device_to_host, c.device_to_device};
}

}  // namespace gradus::cuda
