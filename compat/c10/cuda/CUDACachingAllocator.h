// c10::cuda::CUDACachingAllocator: the caching allocator under libtorch's names.
#pragma once

#include <array>
#include <string>

#include "gradus/cuda/runtime/allocator.h"
#include "gradus/tensor/tensor.h"

namespace gradus::cuda::CUDACachingAllocator {

// Pools of libtorch; here one counts for all.
enum class StatType : uint64_t { AGGREGATE = 0, NUM_TYPES = 1 };
struct Stat {
  int64_t current = 0, peak = 0;
};
using StatArray = std::array<Stat, static_cast<size_t>(StatType::NUM_TYPES)>;
struct DeviceStats {
  StatArray allocated_bytes, reserved_bytes, allocation;  // `allocation`: of blocks, no peak
};

inline void emptyCache() { empty_cache(); }
// Errors of these: ValueError where there is no such device.
inline DeviceStats getDeviceStats(int device) {
  const MemoryStats now = memory_stats(device);
  return {{Stat{now.allocated, now.peak_allocated}},
          {Stat{now.reserved, now.peak_reserved}},
          {Stat{now.blocks, now.blocks}}};
}
inline void resetPeakStats(int device) { reset_peak_memory_stats(device); }
inline void setMemoryFraction(double fraction, int device) {
  set_per_process_memory_fraction(fraction, device);
}
inline void recordStream(const Storage& storage, Stream stream) {
  record_stream(storage.impl_ptr(), stream);
}

}  // namespace gradus::cuda::CUDACachingAllocator

#include "gradus/compat/torch/torch.h"  // the namespaces at and c10
