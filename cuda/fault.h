// Reports from kernels without a synchronisation: a kernel that meets an index out of range writes
// what it saw into a record in host memory, skips the access, and goes on. The host looks at the
// record after each wait and at each launch, which costs one read of memory.
#pragma once

#include <cstdint>

namespace gradus::cuda {

// The operations whose kernels report; fault.cpp has their names.
enum class FaultOp : int32_t { gather, scatter_add };

// One per device, in page-locked memory that host and device address alike.
struct alignas(64) Fault {
  unsigned int state;  // 0: nothing to report; 1: taken by the first thread that faulted
  FaultOp op;
  int32_t dim;
  int64_t index;
  int64_t size;
};

// The record of the current device, for its kernels.
Fault* device_fault();

// Errors: IndexError where a kernel has reported; the record is clear afterwards. Waits for the
// device in that case alone.
void throw_if_faulted(int device);

#ifdef __CUDACC__
// Whether index lies in [0, size). Where not, reports it: the caller must skip the access.
__device__ inline bool in_range(Fault* fault, FaultOp op, int dim, int64_t index, int64_t size) {
  if (index >= 0 && index < size) return true;
  if (atomicCAS(&fault->state, 0u, 1u) == 0u) {
    fault->op = op;
    fault->dim = dim;
    fault->index = index;
    fault->size = size;
  }
  return false;
}
#endif

}  // namespace gradus::cuda
