// The records in which kernels report indices out of range.
#include "gradus/cuda/runtime/fault.h"

#include <atomic>
#include <mutex>

#include "gradus/cuda/runtime/check.h"
#include "gradus/cuda/runtime/context.h"
#include "gradus/cuda/runtime/nonfinite.h"
#include "gradus/cuda/runtime/stats.h"

namespace gradus::cuda {

namespace {

// One for each device, from the first use to the end of the process; null until then.
constinit std::atomic<Fault*> records{nullptr};

Fault* create_records() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (Fault* made = records.load()) return made;
  void* memory = nullptr;
  const size_t count = static_cast<size_t>(device_count());
  // Page-locked memory has one address for the host and, being portable, for every device.
  check_cuda(cudaHostAlloc(&memory, count * sizeof(Fault), cudaHostAllocPortable),
             "cudaHostAlloc for fault records");
  Fault* made = static_cast<Fault*>(memory);
  for (size_t i = 0; i < count; ++i) made[i] = {};
  records.store(made);
  return made;
}

[[gnu::cold, gnu::noinline]] void report(Fault& record, int device) {
  {
    const DeviceGuard guard(device);
    detail::count(detail::counters.synchronizations);
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  // The kernel has ended: nobody writes now, and the whole record can be seen.
  const Fault fault = record;
  record = {};
  if (fault.rule.size < 0)  // no index: the text says what was wrong
    fail<ValueError>(fault.rule.op, " (found by a kernel on cuda:", device, ")");
  fail_index(fault.rule, fault.index, " (found by a kernel on cuda:", device, ")");
}

}  // namespace

Fault* device_fault() {
  Fault* made = records.load(std::memory_order_acquire);
  return (made ? made : create_records()) + current_device();
}

void throw_if_faulted(int device) {
  if (Fault* const made = records.load(std::memory_order_acquire)) {
    const volatile unsigned int& state = made[device].state;  // the device writes it
    if (state != 0) [[unlikely]]
      report(made[device], device);
  }
  tell_if_nonfinite(device);
}

}  // namespace gradus::cuda
