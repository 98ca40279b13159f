// Parts of allocations that a caching allocator gives out and takes back, in the order of streams.
#include <sim/marks.h>

#include <algorithm>
#include <utility>

#include "gradus/cuda/sim/check/symbols.h"
#include "gradus/cuda/sim/check/unordered.h"
#include "gradus/cuda/sim/runtime/memory.h"
#include "gradus/cuda/sim/runtime/queue.h"
#include "gradus/cuda/sim/runtime/streams.h"
#include "gradus/cuda/sim/simulator.h"

namespace gradus::cuda::sim {

namespace {
void use_now(void* data, size_t nbytes, Trace taken) {
  with_allocation(data, [&](Allocation& it) {
    clear(written_at(it.begin), it.reserved);
    it.used = std::min(nbytes, it.reserved);
    it.in_use = true;
    it.reported = false;
    it.taken = std::move(taken);
    it.given_back.clear();
  });
}
void give_back_now(void* data, Trace given_back) {
  if (running) {
    const Allocation it = allocation_around(reinterpret_cast<uintptr_t>(data));
    check_give_back(it.begin, it.used);
  }
  with_allocation(data, [&](Allocation& it) {
    it.in_use = false;
    it.given_back = std::move(given_back);
    it.given_back_by = running ? running->number : 0;
  });
}

// Queues it on the stream, or the default stream of the memory's device.
template <class F>
void queue_mark(void* data, const char* name, cudaStream_t stream, const Past& after, const F& f) {
  with_allocation(data, [](Allocation& it) { ++it.marks_waiting; });
  enqueue_on(
      zone_of(reinterpret_cast<uintptr_t>(data)), stream, {name},
      [=] {
        f();
        with_allocation(data, [](Allocation& it) { --it.marks_waiting; });
        return cudaSuccess;
      },
      after);
}
}  // namespace

void mark_used(const MarkedMemory& it, size_t nbytes) {
  void* const data = it.memory;
  if (!data || !checks()) return;
  if (it.captured && it.stream)
    record(it.stream, {"mark_used"},
           [=] { return use_now(data, nbytes, trace_of_call()), cudaSuccess; }, {data, true});
  const auto use = [=, taken = current_trace()] { use_now(data, nbytes, taken); };
  // Queued work may still use what was given back before.
  bool waits = false;
  with_allocation(data, [&](const Allocation& found) { waits = found.marks_waiting > 0; });
  if (waits && queues_work() && !it.captured)
    queue_mark(data, "mark_used", it.stream, {}, use);
  else
    use();
}
void mark_used(void* data, size_t nbytes, cudaStream_t stream) {
  mark_used({data, stream, stream != nullptr, nullptr, 0}, nbytes);
}

void mark_unused(const MarkedMemory& it) {
  void* const data = it.memory;
  if (!data || !checks()) return;
  bool recorded = false;
  if (it.captured && it.stream)
    recorded = record(it.stream, {"mark_unused"},
                      [=] { return give_back_now(data, trace_of_call()), cudaSuccess; }, {data},
                      {it.others, it.others + it.count})
                   .has_value();
  const auto give = [=, given = current_trace()] { give_back_now(data, given); };
  if (!queues_work() || recorded) return give();
  if (it.captured) return;  // the graph that it is of may still run
  const int device = zone_of(reinterpret_cast<uintptr_t>(data));
  Past after;
  for (size_t i = 0; i < it.count; ++i) join(after, end_of(device, it.others[i]));
  queue_mark(data, "mark_unused", it.stream, after, give);
}
void mark_unused(void* data, cudaStream_t stream) {
  mark_unused({data, stream, stream != nullptr, nullptr, 0});
}

}  // namespace gradus::cuda::sim
