// The records in which kernels tell of NaN and infinities.
#include "gradus/cuda/runtime/nonfinite.h"

#include <atomic>
#include <mutex>
#include <utility>

#include "gradus/cuda/runtime/check.h"
#include "gradus/cuda/runtime/context.h"
#include "gradus/cuda/runtime/graph.h"
#include "gradus/cuda/runtime/stats.h"

namespace gradus::cuda {

namespace {

constinit std::atomic<NonfiniteRecord*> nonfinite_records{nullptr};
constinit std::atomic<void (*)(int, const NonfiniteFinding&)> listener{nullptr};
constinit std::atomic<void (*)(int)> flusher{nullptr};
std::atomic<bool> used[kMaxDevices];
std::atomic<unsigned*> updates[kMaxDevices];
std::mutex telling;

NonfiniteRecord* make_nonfinite_records() {
  const std::lock_guard lock(telling);
  if (NonfiniteRecord* const made = nonfinite_records.load()) return made;
  void* memory = nullptr;
  const auto count = static_cast<size_t>(device_count());
  check_cuda(cudaHostAlloc(&memory, count * sizeof(NonfiniteRecord), cudaHostAllocPortable),
             "cudaHostAlloc for records of NaN");
  auto* const made = static_cast<NonfiniteRecord*>(memory);
  for (size_t i = 0; i < count; ++i) made[i] = {};
  nonfinite_records.store(made);
  return made;
}

Nonfinite counted(unsigned long long nans, unsigned long long infinities,
                  unsigned long long first) {
  if (nans == 0 && infinities == 0) return {};
  return {static_cast<int64_t>(nans), static_cast<int64_t>(infinities),
          static_cast<int>(first >> kPlaceBits & ((1ull << kTensorBits) - 1)),
          static_cast<int64_t>(first & ((1ull << kPlaceBits) - 1))};
}

// Waits for the device, and takes what its record says.
NonfiniteRecord take_record(int device) {
  {
    const DeviceGuard guard(device);
    detail::count(detail::counters.synchronizations);
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  const std::lock_guard lock(telling);
  return std::exchange(nonfinite_records.load()[device], {});
}

bool was_made(const NonfiniteRecord& record) {
  const unsigned kinds = (record.nans ? kNans : 0u) | (record.infinities ? kInfinities : 0u);
  return record.state != 0 && (kinds & ~record.given) != 0;
}

[[gnu::cold, gnu::noinline]] void tell(int device) {
  if (Graph::capturing(device)) return;  // which allows no wait
  NonfiniteRecord record = take_record(device);
  // A NaN that came with an operand may come from another device.
  for (int other = 0; record.state != 0 && !was_made(record) && other < device_count(); ++other) {
    if (other == device || !nonfinite_is_used(other) || Graph::capturing(other)) continue;
    flush_nonfinite(other);
    if (const NonfiniteRecord there = take_record(other); was_made(there))
      record = there, device = other;
  }
  auto* const hears = listener.load();
  if (record.state == 0 || !hears) return;
  const Nonfinite results = counted(record.nans, record.infinities, record.first);
  hears(device,
        {.number = record.number,
         .made = was_made(record),
         .results = results,
         .operands = counted(record.given_nans, record.given_infinities, record.given_first),
         .given = record.given,
         .largest = record.largest});
}

}  // namespace

NonfiniteRecord* nonfinite_record(int device) {
  used[device].store(true, std::memory_order_relaxed);
  NonfiniteRecord* const made = nonfinite_records.load(std::memory_order_acquire);
  return (made ? made : make_nonfinite_records()) + device;
}

bool nonfinite_is_used(int device) { return used[device].load(std::memory_order_relaxed); }

void flush_nonfinite_by(void (*flush)(int)) { flusher.store(flush); }
void flush_nonfinite(int device) {
  if (auto* const flush = flusher.load(std::memory_order_acquire)) flush(device);
}

unsigned* nonfinite_update(int device) { return updates[device].load(std::memory_order_acquire); }
void set_nonfinite_update(int device, unsigned* word) { updates[device].store(word); }

void tell_nonfinite(void (*tell_whom)(int device, const NonfiniteFinding&)) {
  listener.store(tell_whom);
}

void tell_if_nonfinite(int device) {
  NonfiniteRecord* const made = nonfinite_records.load(std::memory_order_acquire);
  if (!made) return;
  const volatile unsigned int& state = made[device].state;  // the device writes it
  if (state != 0) [[unlikely]]
    tell(device);
}

}  // namespace gradus::cuda
