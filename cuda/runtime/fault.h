// Reports from kernels without a synchronisation: a kernel that meets an index out of range writes
// what it saw into a record in host memory, skips the access, and goes on. The host looks at the
// record after each wait and at each launch, which costs one read of memory.
#pragma once

#include "gradus/tensor/base/index_rule.h"

namespace gradus::cuda {

// One per device, in page-locked memory that host and device address alike.
struct alignas(64) Fault {
  unsigned int state;  // 0: nothing to report; 1: taken by the first thread that faulted
  int64_t index;
  IndexRule rule;
};

// The record of the current device, for its kernels.
Fault* device_fault();

// Errors: IndexError where a kernel has reported; the record is clear afterwards. Waits for the
// device in that case alone.
void throw_if_faulted(int device);

#ifdef __CUDACC__
// Whether the rule allows the index. Where not, reports it: the caller must skip the access.
__device__ inline bool in_range(Fault* fault, const IndexRule& rule, int64_t index) {
  if (rule.allows(index)) return true;
  if (atomicCAS(&fault->state, 0u, 1u) == 0u) {
    fault->index = index;
    fault->rule = rule;
  }
  return false;
}
#endif

}  // namespace gradus::cuda
