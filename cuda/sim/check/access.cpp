// Checks each access of a kernel before it happens: bounds, alignment, initialisation, races.
#include "gradus/cuda/sim/check/access.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "gradus/cuda/sim/check/races.h"
#include "gradus/cuda/sim/check/seen.h"
#include "gradus/cuda/sim/check/unordered.h"
#include "gradus/cuda/sim/exec/async.h"
#include "gradus/cuda/sim/exec/cluster.h"
#include "gradus/cuda/sim/exec/dynamic_shared.h"
#include "gradus/cuda/sim/runtime/device.h"
#include "gradus/cuda/sim/runtime/variables.h"

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

// Where the kernel was launched, if it was queued.
std::vector<Sighting::Side> side_of_launch(Worker& worker) {
  const Running* const work = worker.launch->work;
  if (!work) return {};
  return {{"this was " + queued_on(work->number), *queued_work(work->number).trace}};
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

// Whether what calls the kernel copies an argument, by a constructor that is a function of its own
// (-fno-elide-constructors). Nothing else reads arguments where they lie.
bool is_argument(const Launch& launch, const Seen& seen) {
  for (size_t i = 0; launch.sizes[i] > 0; ++i)
    if (seen.address - reinterpret_cast<uintptr_t>(launch.args[i]) < launch.sizes[i]) return true;
  return false;
}

// Reports an address that lies in no allocation and in no array of shared memory.
[[noreturn, gnu::cold]] void refuse(Worker& worker, const Seen& seen) {
  if (!in_arena(seen.address)) {
    const bool null = seen.address < 4096;
    report(
        worker, seen, null ? Kind::out_of_bounds : Kind::foreign_memory,
        null
            ? "the address is " + std::to_string(seen.address) + ": a null pointer, or close to one"
        : constants_around(seen.address).end
            ? "the address is of constant memory, which kernels only read; the host may write it "
              "with cudaMemcpyToSymbol"
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
  // If the first byte is in use, the last one is not.
  const Range range = range_in_use(seen.address);
  const Neighbour found = describe_address(range.end ? range.end : seen.address);
  std::vector<Sighting::Side> others = side_of_launch(worker);
  const Running* const work = worker.launch->work;
  const bool unordered = found.freed && work && found.allocation.given_back_by &&
                         is_unordered(found.allocation.given_back_by, *work);
  if (found.freed) others.push_back({"given back", found.allocation.given_back});
  if (!found.allocation.taken.empty()) others.push_back({"allocated", found.allocation.taken});
  report(worker, seen,
         unordered     ? Kind::order
         : found.freed ? Kind::use_after_free
                       : Kind::out_of_bounds,
         "the address is " +
             (range.end ? "only in part inside: it goes on " + found.text : found.text) +
             (unordered ? ", and nothing orders this work before that; call record_stream before"
              : found.freed ? "; keep it until the kernel has ended"
                            : "; guard the access by the size"),
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
             (seen.access == Access::atomic
                  ? ", which an atomic operation needs"
                  : ", which an access of " + std::to_string(seen.size) +
                        " bytes needs; use a narrower type, or align what it points into"));
  worker.stop_thread();
}

// Returns the allocation that has all bytes of the access.
Range range_of(Worker& worker, const Seen& seen) {
  const Unwatched guard;
  const Range range = range_in_use(seen.address);
  if (!range.covers(seen.address, seen.size) ||
      !may_access(worker.launch->device, zone_of(seen.address)))
    refuse(worker, seen);
  return range;
}

// Returns the array of shared memory that has all bytes of the access.
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
// A read is correct if any of its bytes was written: a copy of a struct also reads the padding
// between members, which nobody writes. A read of padding alone is still reported.
template <class T>
bool any_of(const uint8_t* written) {
  T bytes;
  std::memcpy(&bytes, written, sizeof(T));
  return bytes != 0;
}
bool any_written(const uint8_t* written, size_t size) {
  switch (size) {
    case 1:
      return any_of<uint8_t>(written);
    case 2:
      return any_of<uint16_t>(written);
    case 4:
      return any_of<uint32_t>(written);
    case 8:
      return any_of<uint64_t>(written);
    default:
      return std::find(written, written + size, 1) != written + size;
  }
}

[[gnu::cold]] void report_unwritten(Worker& worker, const Seen& seen, bool shared) {
  const Unwatched guard;
  if (shared && worker.has_stopped_threads()) return;  // a stopped thread might have written it
  report(worker, seen, Kind::unwritten,
         shared
             ? "nobody has written this shared memory yet: is a barrier missing between the write "
               "and this read, or does no thread write it?"
             : "nobody has written this memory since it was allocated; fill it first",
         side_of_launch(worker));
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

[[gnu::cold]] void report_early(Worker& worker, const Seen& seen) {
  worker.current->early = false;
  const Unwatched guard;
  report(
      worker, seen, Kind::race,
      "the kernel was launched so that it may start before the one before it has ended, and this "
      "thread has not waited for that; let every thread call wait_for_earlier_kernels(), or "
      "CUDA's cudaGridDependencySynchronize(), first");
}

[[gnu::cold]] void report_between_blocks(Worker& worker, Worker& other, const Seen& seen,
                                         Record before, const char* verb) {
  const uintptr_t other_pc = pc_of(before.place());
  worker.launch->sightings.add(Kind::race, seen.pc, other_pc, [&] {
    Sighting out{
        Kind::race,
        "two threads meet in shared memory of one block of a cluster; put a barrier of the "
        "cluster between them (barrier.cluster)",
        {}};
    out.sides.push_back(side_of(worker, seen));
    out.sides.push_back(other.side(verb, other.thread(other.thread_of(before)), {other_pc}));
    return out;
  });
}

// An access to shared memory of another block of the cluster. Returns whether it is one.
[[gnu::cold]] bool check_other_block(Worker& worker, const Seen& seen) {
  const Unwatched guard;
  const Cluster::Found found = worker.cluster->find(seen.address);
  if (found.rank < 0) return false;
  if (!worker.launch->checked) return true;
  const auto rank = static_cast<unsigned>(found.rank);
  refuse_ended(rank, seen.access == Access::read ? "reads" : "writes", seen.pc);
  Worker& other = worker.cluster->block(rank);
  SharedMemory& shared = *other.shared_at(found.address);
  range_of(worker, shared, {seen.access, found.address, seen.size, seen.pc, seen.is_volatile});
  uint8_t* const written = shared.written_at(found.address, seen.size);
  if (seen.access != Access::write && !any_written(written, seen.size))
    report_unwritten(worker, seen, true);
  std::memset(written, 1, seen.size);
  const Record now = other.async().access_from_outside(worker.current->linear, seen.pc, 15);
  const auto meet = [&](const std::atomic<uint64_t>& slot, const char* verb) {
    const Record before(slot.load(std::memory_order_relaxed));
    if (before.bits() == 0 || !worker.launch->intervals->is_current(before.interval())) return;
    if (worker.cluster->came_before(before) || before.thread() == now.thread()) return;
    report_between_blocks(worker, other, seen, before, verb);
  };
  for (uintptr_t at = found.address / 4 * 4; at < found.address + seen.size; at += 4) {
    Cell& cell = *shared.cell_at(at);
    meet(cell.write, "writes");
    if (seen.access != Access::read)
      for (const auto* slot : {&cell.read, &cell.other_read}) meet(*slot, "reads");
    (seen.access == Access::read ? cell.read : cell.write)
        .store(now.bits(), std::memory_order_relaxed);
  }
  return true;
}

// An access that is too wide for one instruction counts as several.
[[gnu::cold]] void count(Worker& worker, const Seen& seen, bool shared) {
  const Unwatched guard;
  constexpr size_t kWidest = 16;
  const auto lane = static_cast<uint8_t>(worker.current->linear % kWarp);
  for (size_t at = 0; at < seen.size; at += kWidest)
    worker.accesses().push_back({seen.pc, seen.address + at,
                                 static_cast<uint16_t>(std::min(kWidest, seen.size - at)), lane,
                                 seen.access, shared});
}

[[gnu::always_inline]] inline void check(Access access, uintptr_t address, size_t size,
                                         uintptr_t pc, unsigned alignment = 1,
                                         bool is_volatile = false) {
  Worker* const worker = watching;
  if (!worker) {
    if (in_arena(address) && !here && checks()) [[unlikely]]
      report_host_access(address, pc);
    return;
  }
  worker->tick(pc);
  Thread& thread = *worker->current;
  if (thread.fiber->owns(address) || worker->place.covers(address, size)) {
    if (worker->copies.any()) [[unlikely]]
      worker->copies.meets_registers(*worker, {access, address, size, pc, is_volatile});
    return;
  }
  thread.accessed = true;
  SharedMemory* shared = nullptr;
  if (!in_arena(address)) {
    shared = worker->shared_at(address);
    if (!shared && worker->cluster &&
        check_other_block(*worker, {access, address, size, pc, is_volatile})) [[unlikely]]
      return;
    if (!shared) address = place_of_variable(address);
    if (size == 1 && shared && shared->guards_variable(address)) [[unlikely]]
      return;
  }
  const bool global = in_arena(address);
  const Seen seen{access, address, size, pc, is_volatile};
  if (worker->launch->counter && (global || shared)) [[unlikely]]
    count(*worker, seen, !global);
  if (!worker->launch->checked) return;
  if (global && thread.early) [[unlikely]]
    report_early(*worker, seen);

  Range& range = worker->ranges[pc / 4 % worker->ranges.size()];
  if (!range.covers(address, size)) [[unlikely]] {
    if (!global && !shared && is_argument(*worker->launch, seen)) {
      thread.accessed = false;  // it has yet to begin
      return;
    }
    if (!global && !shared && is_constant(*worker, seen)) return;
    range = {};
    range = shared ? range_of(*worker, *shared, seen) : range_of(*worker, seen);
  }
  if (address % alignment != 0) [[unlikely]]
    refuse_alignment(*worker, seen, alignment);
  if (worker->copies.any() && worker->copies.meets(*worker, seen, shared)) [[unlikely]]
    return;
  if (worker->launch->work && global) [[unlikely]]
    check_order(*worker, seen, address);
  uint8_t* const written = global ? written_at(address) : shared->written_at(address, size);
  if (access != Access::write && !any_written(written, size)) [[unlikely]]
    report_unwritten(*worker, seen, shared != nullptr), std::memset(written, 1, size);
  if (access == Access::write) std::memset(written, 1, size);
  Races(*worker, seen, shared).check(global ? cell_at(address) : shared->cell_at(address));
}

}  // namespace

void check_access(Access access, uintptr_t address, size_t size, uintptr_t pc) {
  if (size > 0) check(access, address, size, pc);
}
template <Access access, unsigned size>
void check_access(uintptr_t address, uintptr_t pc) {
  check(access, address, size, pc, std::min(size, 8u));
}
void check_atomic(uintptr_t address, unsigned size, uintptr_t pc) {
  check(Access::atomic, address, size, pc, size);
}
void check_volatile(Access access, uintptr_t address, unsigned size, uintptr_t pc) {
  check(access, address, size, pc, 1, true);
  if (!here) return;
  if (access == Access::read)
    here->meet(address, true, pc);
  else
    here->publish(address);
}
#define GRADUS_SIM_CHECKS(size)                                         \
  template void check_access<Access::read, size>(uintptr_t, uintptr_t); \
  template void check_access<Access::write, size>(uintptr_t, uintptr_t);
GRADUS_SIM_CHECKS(1)
GRADUS_SIM_CHECKS(2)
GRADUS_SIM_CHECKS(4)
GRADUS_SIM_CHECKS(8)
GRADUS_SIM_CHECKS(16)
#undef GRADUS_SIM_CHECKS

bool is_in_use(uintptr_t address) {
  const Unwatched guard;
  return range_in_use(address).covers(address, 1) || here->shared_at(address) ||
         is_variable(reinterpret_cast<const void*>(address), 1) ||
         here->current->fiber->owns(address);
}

}  // namespace gradus::cuda::sim
