#include "gradus/cuda/sim/access.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "gradus/cuda/sim/device.h"
#include "gradus/cuda/sim/dynamic_shared.h"
#include "gradus/cuda/sim/races.h"
#include "gradus/cuda/sim/seen.h"
#include "gradus/cuda/sim/variables.h"

namespace gradus::cuda::sim {

namespace {

void report(Worker& worker, const Seen& seen, Kind kind, const std::string& message,
            std::vector<Sighting::Side> others = {}) {
  worker.launch->sightings.add(kind, seen.pc, 0, [&] {
    Sighting out{kind, message, {}};
    out.sides.push_back(side_of(worker, seen));
    for (auto& other : others) out.sides.push_back(std::move(other));
    return out;
  });
}

// --- Where an address may lie
uintptr_t place_of_variable(uintptr_t address) {
  const Unwatched guard;
  return global_place(address);
}

bool is_constant(Worker& worker, const Seen& seen) {
  if (seen.access != Access::read) return false;
  if (worker.constants.covers(seen.address, seen.size)) return true;
  const Unwatched guard;
  worker.constants = constants_around(seen.address);
  return worker.constants.covers(seen.address, seen.size);
}

// An address that is in no allocation, and no array of shared memory.
[[noreturn, gnu::cold]] void refuse(Worker& worker, const Seen& seen) {
  if (!in_arena(seen.address)) {
    const bool null = seen.address < 4096;
    report(worker, seen, null ? Kind::out_of_bounds : Kind::foreign_memory,
           null ? "the address is " + std::to_string(seen.address) +
                      ": a null pointer, or close to one"
                : "the address is no memory of a device, but of the host; pass a pointer from "
                  "cudaMalloc or a CUDA tensor");
    worker.stop_thread();
  }
  const int zone = zone_of(seen.address);
  if (const Range range = range_in_use(seen.address);
      range.covers(seen.address, seen.size) && !may_access(worker.launch->device, zone)) {
    report(worker, seen, Kind::foreign_memory,
           "the address belongs to cuda:" + std::to_string(zone) + ", the kernel runs on cuda:" +
               std::to_string(worker.launch->device) + " without peer access to it");
    worker.stop_thread();
  }
  // Where the first byte is in use, the last is not.
  const Range range = range_in_use(seen.address);
  const Neighbour found = describe_address(range.end ? range.end : seen.address);
  std::vector<Sighting::Side> others;
  if (found.freed) others.push_back({"given back", found.allocation.given_back});
  if (!found.allocation.taken.empty()) others.push_back({"allocated", found.allocation.taken});
  report(
      worker, seen, found.freed ? Kind::use_after_free : Kind::out_of_bounds,
      "the address is " +
          (range.end ? "only in part inside: it goes on " + found.text : found.text) +
          (found.freed ? "; keep it until the kernel has ended" : "; guard the access by the size"),
      std::move(others));
  worker.stop_thread();
}

[[noreturn, gnu::cold]] void refuse_shared(Worker& worker, const Seen& seen,
                                           const SharedArray* array) {
  report(worker, seen, Kind::out_of_bounds,
         array ? "the access leaves the " + std::to_string(array->size) + " bytes of " + array->name
               : "the address lies in no array of shared memory");
  worker.stop_thread();
}

[[noreturn, gnu::cold]] void refuse_alignment(Worker& worker, const Seen& seen,
                                              unsigned alignment) {
  const Unwatched guard;
  report(worker, seen, Kind::misaligned,
         "the address is no multiple of " + std::to_string(alignment) +
             "; use a narrower type, or align what it points into");
  worker.stop_thread();
}

// The allocation that has all bytes of the access.
Range range_of(Worker& worker, const Seen& seen) {
  const Unwatched guard;
  const Range range = range_in_use(seen.address);
  if (!range.covers(seen.address, seen.size) ||
      !may_access(worker.launch->device, zone_of(seen.address)))
    refuse(worker, seen);
  return range;
}

// The array of shared memory that has all bytes of the access.
Range range_of(Worker& worker, const SharedMemory& shared, const Seen& seen) {
  const Unwatched guard;
  const SharedArray* array = shared.array_at(seen.address);
  const auto dynamic = reinterpret_cast<uintptr_t>(gradus_sim_dynamic_shared);
  SharedArray given{dynamic - shared.begin(), worker.launch->shared_bytes,
                    "dynamic shared memory that the launch gave"};
  if (seen.address - dynamic < kMostDynamicShared) array = &given;
  if (!array) refuse_shared(worker, seen, nullptr);
  const uintptr_t begin = shared.begin() + array->offset;
  const Range range{begin, begin + array->size};
  if (!range.covers(seen.address, seen.size)) refuse_shared(worker, seen, array);
  return range;
}

// --- Whether it was written
bool all_written(const uint8_t* written, unsigned size) {
  switch (size) {
    case 1:
      return *written != 0;
    case 2: {
      uint16_t x;
      std::memcpy(&x, written, 2);
      return x == 0x0101;
    }
    case 4: {
      uint32_t x;
      std::memcpy(&x, written, 4);
      return x == 0x01010101;
    }
    case 8: {
      uint64_t x;
      std::memcpy(&x, written, 8);
      return x == 0x0101010101010101;
    }
    default:
      return std::count(written, written + size, 1) == static_cast<std::ptrdiff_t>(size);
  }
}

[[gnu::cold]] void report_unwritten(Worker& worker, const Seen& seen, bool shared) {
  const Unwatched guard;
  if (shared && worker.has_stopped_threads()) return;  // they might have written it
  report(worker, seen, Kind::unwritten,
         shared ? "nobody has written this shared memory since the block began"
                : "nobody has written this memory since it was allocated; fill it first");
}

[[gnu::cold, gnu::noinline]] void report_host_access(uintptr_t address, uintptr_t pc) {
  static thread_local bool reported = false;
  if (reported || is_page_locked(reinterpret_cast<void*>(address))) return;
  reported = true;
  publish({Kind::foreign_memory,
           "host code",
           "code of the host touches memory of a device; copy it with cudaMemcpy first",
           {{"touches it", frames_of({pc})}}});
}

[[gnu::always_inline]] inline void check(Access access, uintptr_t address, unsigned size,
                                         unsigned alignment, uintptr_t pc,
                                         bool is_volatile = false) {
  Worker* const worker = watching;
  if (!worker) {
    if (in_arena(address) && !here && checks()) [[unlikely]]
      report_host_access(address, pc);
    return;
  }
  Thread& thread = *worker->current;
  if (thread.fiber->owns(address) || worker->place.covers(address, size)) return;
  thread.accessed = true;
  SharedMemory* shared = nullptr;
  if (!in_arena(address)) {
    shared = worker->shared_at(address);
    if (!shared) address = place_of_variable(address);
  }
  const bool global = in_arena(address);
  const Seen seen{access, address, size, pc, is_volatile};
  if (worker->launch->counter && (global || shared)) [[unlikely]] {
    const Unwatched guard;
    worker->accesses().push_back({pc, address, static_cast<uint16_t>(size),
                                  static_cast<uint8_t>(thread.linear % kWarp), access, !global});
  }
  if (!worker->launch->checked) return;

  if (address % alignment != 0) [[unlikely]]
    refuse_alignment(*worker, seen, alignment);
  Range& range = worker->ranges[pc / 4 % worker->ranges.size()];
  if (!range.covers(address, size)) [[unlikely]] {
    if (!global && !shared && is_constant(*worker, seen)) return;
    range = {};
    range = shared ? range_of(*worker, *shared, seen) : range_of(*worker, seen);
  }
  uint8_t* const written = global ? written_at(address) : shared->written_at(address);
  if (access != Access::write && !all_written(written, size)) [[unlikely]]
    report_unwritten(*worker, seen, shared != nullptr), std::memset(written, 1, size);
  if (access == Access::write) std::memset(written, 1, size);
  Races(*worker, seen, shared).check(global ? cell_at(address) : shared->cell_at(address));
}

}  // namespace

void check_access(Access access, uintptr_t address, unsigned size, unsigned alignment,
                  uintptr_t pc) {
  check(access, address, size, alignment, pc);
}
template <Access access, unsigned size, unsigned alignment>
void check_access(uintptr_t address, uintptr_t pc) {
  check(access, address, size, alignment, pc);
}
void check_volatile(Access access, uintptr_t address, unsigned size, uintptr_t pc) {
  check(access, address, size, size, pc, true);
  if (!here) return;
  if (access == Access::read)
    here->meet(address, true, pc);
  else
    here->publish(address);
}
#define GRADUS_SIM_CHECKS(size)                                                \
  template void check_access<Access::read, size, size>(uintptr_t, uintptr_t);  \
  template void check_access<Access::read, size, 1>(uintptr_t, uintptr_t);     \
  template void check_access<Access::write, size, size>(uintptr_t, uintptr_t); \
  template void check_access<Access::write, size, 1>(uintptr_t, uintptr_t);
GRADUS_SIM_CHECKS(2)
GRADUS_SIM_CHECKS(4)
GRADUS_SIM_CHECKS(8)
GRADUS_SIM_CHECKS(16)
template void check_access<Access::read, 1, 1>(uintptr_t, uintptr_t);
template void check_access<Access::write, 1, 1>(uintptr_t, uintptr_t);
#undef GRADUS_SIM_CHECKS

void report_index(const char* array_type, int64_t index, uintptr_t pc) {
  Worker* const worker = watching;
  if (!worker) return;
  const Unwatched guard;
  worker->launch->sightings.add(Kind::out_of_bounds, pc, 0, [&] {
    Sighting out{Kind::out_of_bounds,
                 "index " + std::to_string(index) + " of an array of type " + array_type,
                 {}};
    out.sides.push_back(worker->side("indexes", *worker->current, current_trace()));
    return out;
  });
  worker->stop_thread();
}

}  // namespace gradus::cuda::sim
